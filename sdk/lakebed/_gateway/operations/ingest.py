"""Calls about ingest: pages of a comparison with objects of another location."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean
from lakebed._values.ingest import IngestPage, Source
from lakebed._values.wire import Call, Subject


def page(repository: str, place: str, source: Source, *, after: str, listed: int, write: bool) -> Call[IngestPage]:
    """Return one page, after a path. With `write`, it changes the workspace `place`; else it compares with the ref
    `place`.

    The response lists at most `listed` changes. A repeat has no effect.
    """
    from lakebed_api.api.diffs import diff_ingest
    from lakebed_api.api.workspaces import ingest_objects
    from lakebed_api.models import IngestRequest

    body = IngestRequest(
        source=source.uri,
        keep_removed=not source.removals,
        **clean(
            prefix=source.prefix,
            include=list(source.include),
            exclude=list(source.exclude),
            settle=source.settle or "",
            after=after,
            changes_amount=listed or "",
        ),
    )
    make = ingest_objects._get_kwargs if write else diff_ingest._get_kwargs
    return call(
        "ingestObjects" if write else "diffIngest",
        make(repository, place, body=body),
        calls.parser(_page),
        Subject(repository, place),
        repeat="safe",
        slow=True,
    )


def _page(body: Mapping[str, Any]) -> IngestPage:
    from lakebed_api.models import IngestPage as WirePage

    found = WirePage.from_dict(body)
    return IngestPage(
        base_commit_id=convert.text(found.base_commit_id),
        after=convert.text(found.next_offset) if found.has_more else None,
        listed=found.listed,
        added=found.added,
        changed=found.changed,
        removed=found.removed,
        unchanged=found.unchanged,
        waiting=found.waiting,
        ignored=found.ignored,
        changes=tuple(convert.change(row) for row in found.results),
    )
