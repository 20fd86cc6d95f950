"""Checks rows of a pushed layer that name objects in another store. It checks whole columns, a million rows at a time.

It does not check in the other store that each object exists, because that takes as long as listing the store again.
This is safe. Rows can only name objects that `ingest.allow` permits, and every user may read these anyway. A row also
states the listed version (`version_of`), and reading any other version is an error. So a false row exposes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format import DELTA_SCHEMA, identity
from lakebed_format.schemas import flat

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.direct_writes.register import LATEST
from lakebed_engine.operations.namespaces import refuse_namespaces
from lakebed_engine.stores.objects.external import VERSIONED
from lakebed_engine.vocabulary.errors import InvalidAddressError, InvalidPathError, InvalidRequestError
from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE

_CHECKSUM = f"^({'|'.join(VERSIONED)})[!#-~]{{1,251}}$"
_DOTS = r"/\.{1,2}(/|$)"
_MOST_TYPE = 255


def names_elsewhere(repo: Repo, table: pa.Table) -> bool:
    """Whether a row of this batch names an object outside of the namespace."""
    addresses = table.column("physical_address")
    outside = pc.and_(
        pc.match_substring(addresses, "://"), pc.invert(pc.starts_with(addresses, pattern=f"{repo.store.uri}/"))
    )
    return bool(pc.any(outside).as_py())


class ForeignRows:
    """Checks the batches of one file. All objects of a batch must be in one folder that the server may read."""

    def __init__(self, ctx: Context, repo: Repo) -> None:
        self._ctx = ctx
        self._repo = repo
        self._allowed: set[str] = set()

    async def delta(self, table: pa.Table, last: str) -> tuple[pa.Table, str]:
        """The batch as rows of DELTA_SCHEMA, and its last path. `last` is the last path of the batch before.

        Raises InvalidRequestError, InvalidPathError, InvalidAddressError, ForeignDeniedError.
        """
        folder = await self._ctx.runtime.cpu(_folder, table)
        if folder not in self._allowed:
            self._ctx.foreign.folder(folder, self._repo.record.storage_id)
            await refuse_namespaces(self._ctx, folder)
            self._allowed.add(folder)
        return await self._ctx.runtime.cpu(_checked, table, last, self._ctx.now())


def _gone(table: pa.Table) -> Any:
    if "deleted" not in table.column_names:
        return pa.array(np.zeros(table.num_rows, dtype=bool))
    return flat(table.column("deleted")).fill_null(False)


def _folder(table: pa.Table) -> str:
    """The common folder of all addresses of a batch. Raises InvalidAddressError."""
    addresses = table.column("physical_address").filter(pa.chunked_array([pc.invert(_gone(table))])).drop_null()
    if pc.any(pc.match_substring_regex(addresses, _DOTS)).as_py():
        raise InvalidAddressError("layer file: a physical address has the segment '.' or '..': nothing was registered")
    ends = pc.min_max(addresses).as_py()
    pairs = enumerate(zip(ends["min"], ends["max"], strict=False))
    differs = next((at for at, (one, other) in pairs if one != other), len(ends["min"]))
    folder = str(ends["min"])[:differs].rpartition("/")[0] + "/"
    if not folder.removesuffix("/").partition("://")[2]:
        raise InvalidAddressError(
            f"layer file: {ends['min'][:200]!r} and {ends['max'][:200]!r} have no common folder: write one file "
            "for each source in another store; nothing was registered"
        )
    return folder


def _checked(table: pa.Table, last: str, now: int) -> tuple[pa.Table, str]:
    paths = flat(table.column("path"))
    _check_order(paths, last)
    gone = _gone(table)
    live = pc.invert(gone)
    for name in ("physical_address", "checksum", "size_bytes"):
        _refuse(table, pc.and_(live, flat(table.column(name)).is_null()), f"has no {name}")
    checksums = flat(table.column("checksum")).fill_null("")
    sizes = flat(table.column("size_bytes")).fill_null(0)
    wrong = pc.invert(pc.match_substring_regex(checksums, _CHECKSUM))
    _refuse(
        table,
        pc.and_(live, wrong),
        "is in another store: its checksum must be etag:ETAG, or stat:MTIME-SIZE without one",
    )
    nowhere = pc.invert(pc.match_substring(flat(table.column("physical_address")).fill_null(""), "://"))
    _refuse(
        table,
        pc.and_(live, nowhere),
        "is in the namespace, but other rows of this file are in another store: write two files",
    )
    times = _optional(table, "mtime", pa.int64(), now)
    bad = pc.or_(pc.less(sizes, 0), pc.or_(pc.less(times, 0), pc.greater(times, LATEST)))
    _refuse(table, pc.and_(live, bad), "has a size or mtime out of bounds")
    types = pc.if_else(live, _optional(table, "content_type", pa.string(), DEFAULT_CONTENT_TYPE), "")
    _refuse(table, pc.greater(pc.utf8_length(types), _MOST_TYPE), f"has a content type over {_MOST_TYPE} characters")
    if "metadata" in table.column_names and len(flat(table.column("metadata")).items):
        raise InvalidRequestError("layer file: rows of objects in another store cannot have metadata")
    return _delta(table, paths, live, checksums, sizes, times, types), str(paths[-1].as_py())


def _check_order(paths: Any, last: str) -> None:
    if not paths[0].as_py() or paths.null_count:
        raise InvalidPathError("layer file: a path is empty")
    disorder = pc.less_equal(paths[1:], paths[:-1])
    first = str(paths[0].as_py())
    if first <= last or pc.any(disorder).as_py():
        at = 0 if first <= last else pc.index(disorder, True).as_py() + 1
        before = paths[at - 1].as_py() if at else last
        raise InvalidRequestError(
            f"layer file: {paths[at].as_py()[:200]!r} is not after {before[:200]!r}: sort by path"
        )


def _refuse(table: pa.Table, wrong: Any, what: str) -> None:
    if pc.any(wrong).as_py():
        path = table.column("path")[pc.index(wrong, True).as_py()].as_py()
        raise InvalidRequestError(f"layer file: {path[:200]!r} {what}")


def _optional(table: pa.Table, name: str, kind: pa.DataType, default: object) -> Any:
    if name not in table.column_names:
        return pa.array([default] * table.num_rows, kind)
    column = flat(table.column(name)).fill_null(default)
    return pc.if_else(pc.equal(column, ""), default, column) if name == "content_type" else column


def _delta(table: pa.Table, paths: Any, live: Any, checksums: Any, sizes: Any, times: Any, types: Any) -> pa.Table:
    """The rows of DELTA_SCHEMA. The other columns of a tombstone are empty or zero."""
    is_live = live.to_numpy(zero_copy_only=False)
    rows = zip(is_live, sizes.to_pylist(), checksums.to_pylist(), types.to_pylist(), strict=True)
    nothing = bytes(32)
    identities = [identity(size, checksum, kind, {}) if here else nothing for here, size, checksum, kind in rows]
    empty = pa.array([], pa.string())
    none = pa.MapArray.from_arrays(pa.array(np.zeros(table.num_rows + 1, dtype=np.int32)), empty, empty)
    columns = {
        "path": paths,
        "physical_address": pc.if_else(live, flat(table.column("physical_address")).fill_null(""), ""),
        "checksum": pc.if_else(live, checksums, ""),
        "parts": pa.array(np.zeros(table.num_rows, dtype=np.int32)),
        "size_bytes": pc.if_else(live, sizes, 0),
        "mtime": pc.if_else(live, times, 0),
        "content_type": types,
        "metadata": none.cast(DELTA_SCHEMA.field("metadata").type),
        "identity": pa.array(identities, pa.binary(32)),
        "deleted": pc.invert(live),
    }
    return pa.table([columns[name] for name in DELTA_SCHEMA.names], schema=DELTA_SCHEMA)
