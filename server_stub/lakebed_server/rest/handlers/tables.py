"""Rows of tables. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply
from lakebed_server.rest import serializers, table_files
from lakebed_server.tables.messages import DiffRequest, PageRequest

_ROWS = 100


async def read_table(call: Call, p: ops.ReadTableParams) -> Reply:
    """readTable."""
    found, format = await table_files.find(call, p.repository, p.ref, p.path, p.format or None)
    request = PageRequest(
        path=p.path,
        format=format,
        files=table_files.described(found),
        offset=p.offset or 0,
        limit=_ROWS if p.limit is UNSET else p.limit,
        columns=tuple(p.columns),
        order=serializers.text(p.order),
        descending=bool(p.descending),
        statistics=bool(p.statistics),
        most_bytes=call.services.tables.settings.read,
    )
    return await table_files.answered(call, p.repository, request, found)


async def diff_table(call: Call, p: ops.DiffTableParams) -> Reply:
    """diffTable."""
    refs = await table_files.compared_refs(call, p.repository, p.left_ref, p.right_ref, two_dot=p.type == "two_dot")
    found, before, after, format = await table_files.find_changed(call, p.repository, *refs, p.path, p.format or None)
    request = DiffRequest(
        path=p.path,
        format=format,
        files=table_files.described(found),
        before=before,
        after=after,
        key=tuple(p.key),
        columns=tuple(p.columns),
        change=serializers.text(p.change),
        offset=p.offset or 0,
        limit=_ROWS if p.limit is UNSET else p.limit,
        most_bytes=call.services.tables.settings.read,
    )
    return await table_files.answered(call, p.repository, request, found)
