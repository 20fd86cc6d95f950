"""Purges a repository: deletes it with its data, so that its name and its storage namespace can be used again.

1. Check that no other repository shows an object of the namespace. Nothing is changed before.
2. Set the state of the record to `deleting`. From then on no request can open the repository. Its name and its
   namespace stay taken, so no other repository can be created there, and none can import from there.
3. Delete the files in passes, until a pass finds none. The marker is last.
4. Delete the records, in one batch that checks that the repository is still `deleting`.

When a process dies in between, the same request or the cleaner of any server continues.

Two processes may purge at the same time, and one of them may be so slow that a new repository already has the
namespace. So a pass deletes only files that are older than its start by the store's clock, and it takes that time
while the record is still `deleting`. The files of a new repository are younger.

A purge deletes only files that Lakebed has written: keys of the engine's form, folders of known workspaces, and
manifests for Hive of this repository. It counts other files and leaves them.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass

import msgspec
from lakebed_format.decoding import FormatError
from lakebed_format.keys import REPOSITORY_MARKER, SWEEP_CLOCK, SYMLINKS, is_made, is_mark, workspace_of
from lakebed_format.refs import decode_marker

from lakebed_engine.operations.context import (
    Context,
    Repo,
    active_records,
    decode_repository,
    decode_workspace,
    encode,
    open_repo,
    opened,
)
from lakebed_engine.operations.gc.mark_refs import read_roots
from lakebed_engine.operations.gc.mark_trees import read_trees
from lakebed_engine.operations.gc.scratch_db import ScratchDb
from lakebed_engine.operations.keys import REPOSITORIES, UPLOADS, WORKSPACE_ROWS, text_key, under
from lakebed_engine.operations.multipart import abort
from lakebed_engine.operations.multipart.records import Ended, decode_upload
from lakebed_engine.operations.repository.lifecycle import forget
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.workspace.lifecycle import is_marked
from lakebed_engine.stores.kv.base import Batch, Check, Put, Versioned, scan_rows
from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.vocabulary.errors import (
    BlobNotFound,
    CorruptDataError,
    EngineError,
    NamespaceSharedError,
    PredicateFailed,
    RepositoryNotFoundError,
)
from lakebed_engine.vocabulary.records import Repository
from lakebed_engine.vocabulary.reports import PurgeReport, SweepOptions

log = logging.getLogger("lakebed.engine")

_AT_ONCE = 1000
"""Files that are deleted together."""
_LONGEST = 60.0
"""Seconds after which the cleaner continues with its other work."""
_PAUSE = 1.0
"""Seconds between two passes. Clouds give the time of an object in whole seconds."""


async def purge_repository(
    ctx: Context, name: str, *, force: bool = False, seconds: float | None = None
) -> PurgeReport:
    """Delete a repository and its data. Continues a purge that was interrupted.

    `force` includes a read-only repository. The result is not `done` when `seconds` have passed: then the cleaner
    continues.

    Raises RepositoryNotFoundError, ReadOnlyRepositoryError, NamespaceSharedError (another repository shows objects of
    the namespace), CorruptDataError.
    """
    found = await ctx.kv.get(REPOSITORIES, text_key(name))
    if found is None or decode_repository(found.value).state != "deleting":
        await _begin(ctx, await open_repo(ctx, name, write=True, force=force))
    return await _finish(ctx, name, seconds)


async def resume(ctx: Context) -> int:
    """Continue the purges that were interrupted. Returns how many it finished. Logs failures."""
    done = 0
    async for row in scan_rows(ctx.kv, REPOSITORIES):
        record = decode_repository(row.value)
        if record.state == "deleting":
            try:
                done += (await _finish(ctx, record.name, _LONGEST)).done
            except RepositoryNotFoundError:
                continue  # another process has finished it
            except EngineError as error:
                log.warning("repository %s: its purge could not continue: %s", record.name, error.message)
    return done


async def _begin(ctx: Context, repo: Repo) -> None:
    await _refuse_shared(ctx, repo)
    key = repo.name.encode()

    async def attempt() -> bool | None:
        found = await ctx.kv.get(REPOSITORIES, key)
        if found is None or decode_repository(found.value).uid != repo.record.uid:
            raise RepositoryNotFoundError(f"repository {repo.name!r} not found")
        deleting = msgspec.structs.replace(decode_repository(found.value), state="deleting")
        try:
            await ctx.kv.apply(
                Batch(checks=[Check(REPOSITORIES, key, found.version)], puts=[Put(REPOSITORIES, key, encode(deleting))])
            )
        except PredicateFailed:
            return None
        return True

    await retry_on_conflict(f"repository {repo.name!r}", attempt)


async def _refuse_shared(ctx: Context, repo: Repo) -> None:
    """Raises NamespaceSharedError if another repository shows an object of the namespace."""
    if not await _owns_marker(repo):
        raise CorruptDataError(
            f"repository {repo.name!r}: {repo.store.uri} has no marker of it: nothing was deleted; delete the "
            "repository without its data"
        )
    async for record in active_records(ctx):
        if record.uid != repo.record.uid:
            shown = await _shown_below(ctx, opened(ctx, record), f"{repo.store.uri}/")
            if shown:
                raise NamespaceSharedError(
                    f"repository {repo.name!r} cannot be purged: repository {record.name!r} shows objects of its "
                    f"storage namespace, such as {shown[:300]!r}; nothing was deleted; delete it without its data, or "
                    f"delete {record.name!r} first"
                )


async def _shown_below(ctx: Context, repo: Repo, prefix: str) -> str:
    """The URI of an object below the prefix that a commit or an uncommitted row names. Empty if none does."""

    async def keep() -> None:
        """There is no lease to renew."""

    with ScratchDb(SweepOptions().scratch_bytes) as scratch:
        try:
            await read_roots(ctx, repo, scratch, data=True)
            await read_trees(ctx, repo, scratch, keep, data=True)
        except CorruptDataError as error:
            raise CorruptDataError(
                f"it is unknown whether another repository shows objects of the storage namespace: {error.message}"
            ) from error
        return scratch.named_below(prefix)


async def _finish(ctx: Context, name: str, seconds: float | None) -> PurgeReport:
    """Delete the files of a repository that is `deleting`, then its records."""
    key, begun = name.encode(), ctx.clock.monotonic()
    found = await ctx.kv.get(REPOSITORIES, key)
    record = None if found is None else decode_repository(found.value)
    if record is None or record.state != "deleting":
        raise RepositoryNotFoundError(f"repository {name!r} not found")
    repo, report = opened(ctx, record), PurgeReport(repository=name, namespace=record.storage_namespace)
    await _abort_uploads(ctx, repo)
    while True:
        before = await _time_of_pass(ctx, repo)
        if before is None:
            return msgspec.structs.replace(report, done=True)
        report, clear = await _pass(ctx, repo, before, report)
        if clear and await _remove_marker(repo, before):
            break
        if seconds is not None and ctx.clock.monotonic() - begun > seconds:
            return report
        await ctx.runtime.sleep(_PAUSE)
    now = await ctx.kv.get(REPOSITORIES, key)
    if now is not None and _is_same(now, record):
        with suppress(RepositoryNotFoundError):  # another process was faster
            await forget(ctx, repo, drained=False)
    log.info("repository %s: purged, %d files (%d bytes)", name, report.deleted, report.deleted_bytes)
    return msgspec.structs.replace(report, done=True)


def _is_same(found: Versioned, record: Repository) -> bool:
    now = decode_repository(found.value)
    return now.uid == record.uid and now.state == "deleting"


async def _time_of_pass(ctx: Context, repo: Repo) -> float | None:
    """A time in Unix seconds, by the store's clock, when the repository was still `deleting`. None: it is purged."""
    await repo.store.put(SWEEP_CLOCK, b"")
    try:
        moment = (await repo.store.head(SWEEP_CLOCK)).mtime
    finally:
        await repo.store.delete([SWEEP_CLOCK])
    found = await ctx.kv.get(REPOSITORIES, repo.name.encode())
    return moment if found is not None and _is_same(found, repo.record) else None


async def _pass(ctx: Context, repo: Repo, before: float, report: PurgeReport) -> tuple[PurgeReport, bool]:
    """Delete files older than `before`. Returns the new report, and whether no file of Lakebed is left.

    The notes of workspaces are deleted last, because they say which folders belong to workspaces.
    """
    async for partial in repo.store.list_partial():
        if partial.mtime < before:
            await repo.store.delete_partial(partial.key)
    one = _Deletion(ctx, repo, before, await _workspaces(ctx, repo))
    clear = await one.delete(marks=False) and await one.delete(marks=True)
    new = msgspec.structs.replace(
        report,
        deleted=report.deleted + one.deleted,
        deleted_bytes=report.deleted_bytes + one.size,
        foreign=one.foreign,
        foreign_example=one.example,
    )
    return new, clear


@dataclass
class _Deletion:
    """One pass over the files of a repository. Counts the deleted files, and the files that it left because they are
    not Lakebed's.
    """

    ctx: Context
    repo: Repo
    before: float
    workspaces: set[str]
    deleted: int = 0
    size: int = 0
    foreign: int = 0
    example: str = ""

    async def delete(self, *, marks: bool) -> bool:
        """Delete the notes of workspaces, or all other files except the marker. Returns whether none is left."""
        page: list[BlobStat] = []
        clear = True
        async for blob in self.repo.store.list():
            if blob.key == REPOSITORY_MARKER or is_mark(blob.key) != marks:
                continue
            if not marks and not await self._is_ours(blob.key):
                self.foreign, self.example = self.foreign + 1, self.example or blob.key
                continue
            page.append(blob)
            if len(page) == _AT_ONCE:
                clear &= await self._delete_page(page)
                page = []
        return await self._delete_page(page) and clear

    async def _delete_page(self, page: list[BlobStat]) -> bool:
        sizes = {blob.key: blob.size for blob in page}
        gone = await self.repo.store.delete_older(list(sizes), self.before)
        self.deleted += len(gone)
        self.size += sum(sizes[key] for key in gone)
        return len(gone) == len(page)

    async def _is_ours(self, key: str) -> bool:
        if is_made(key):
            return True
        if key.startswith(f"{SYMLINKS}{self.repo.name}/"):
            return key.endswith("/symlink.txt")
        found_id = workspace_of(key)
        if found_id and found_id not in self.workspaces and await is_marked(self.ctx, self.repo, found_id):
            self.workspaces.add(found_id)
        return found_id in self.workspaces


async def _workspaces(ctx: Context, repo: Repo) -> set[str]:
    rows = scan_rows(ctx.kv, repo.partition, *under(WORKSPACE_ROWS))
    return {decode_workspace(row.value).uid async for row in rows}


async def _remove_marker(repo: Repo, before: float) -> bool:
    """Remove the marker. False: it is too young for this pass."""
    if not await _owns_marker(repo):
        return True
    return bool(await repo.store.delete_older([REPOSITORY_MARKER], before)) or not await _owns_marker(repo)


async def _owns_marker(repo: Repo) -> bool:
    try:
        return decode_marker(await repo.store.get(REPOSITORY_MARKER)).get("uid") == repo.record.uid
    except (BlobNotFound, CorruptDataError, FormatError):
        return False


async def _abort_uploads(ctx: Context, repo: Repo) -> None:
    """Abort the multipart uploads of the store: their parts are in no listing."""
    async for row in scan_rows(ctx.kv, repo.partition, *under(UPLOADS)):
        with suppress(EngineError):
            await abort.clear(ctx, repo, Ended(upload=decode_upload(row.value)))
