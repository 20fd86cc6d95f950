"""Points paths to the data of other paths, so that the store keeps one copy of content that was written several times.

Only addresses change. They are not part of the content, so identities and diffs stay the same. The commit of such a
workspace must pass `relocate`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.view import View, steady
from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.objects.stage import MAX_BATCH, Row, stage
from lakebed_engine.operations.workspace.lifecycle import find_open, record_of
from lakebed_engine.vocabulary.direct_writes import ShareReport
from lakebed_engine.vocabulary.errors import InvalidRequestError
from lakebed_engine.vocabulary.records import Entry


async def share(
    ctx: Context, repo_name: str, found_id: str, pairs: Sequence[tuple[str, str]], *, force: bool = False
) -> ShareReport:
    """Stage, for each `(path, same_as)`, the entry of `path` with the address of `same_as`, in one batch.

    It skips a pair whose checksums or sizes differ. Raises InvalidRequestError, InvalidPathError, WorkspaceClosedError.
    """
    if len(pairs) > MAX_BATCH or len({path for path, _ in pairs}) != len(pairs):
        raise InvalidRequestError(f"at most {MAX_BATCH} pairs, each path once: nothing was done")
    for path, same_as in pairs:
        validation.check_path(path)
        validation.check_path(same_as)
    repo = await open_repo(ctx, repo_name, write=True, force=force)
    record = record_of(await find_open(ctx, repo, found_id))
    entries = await _entries(ctx, repo, record.name, sorted({path for pair in pairs for path in pair}))
    rows: list[Row] = []
    left = []
    for path, same_as in pairs:
        entry, other = entries[path], entries[same_as]
        if entry is None or other is None or _content(entry) != _content(other):
            left.append(path)
        elif entry.physical_address != other.physical_address:
            rows.append((path, msgspec.structs.replace(entry, physical_address=other.physical_address)))
    if rows:
        await stage(ctx, repo, record.name, rows)
    return ShareReport(len(pairs) - len(left), left)


async def _entries(ctx: Context, repo: Repo, name: str, paths: Sequence[str]) -> dict[str, Entry | None]:
    async def read(view: View) -> dict[str, Entry | None]:
        return {path: await view.find(path) for path in paths}

    return await steady(ctx, repo, name, read)


def _content(entry: Entry) -> tuple[str, int, int]:
    return entry.checksum, entry.parts, entry.size
