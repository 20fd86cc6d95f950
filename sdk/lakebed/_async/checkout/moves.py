"""Working directories: switch to another branch or commit, discard changes, and stash changes.

`switch` refuses to touch a directory with local changes. Only `force`, `discard` and `stash` remove local changes, and
`stash` keeps a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed._async.checkout.plan import Plan, file_stat_of
from lakebed._async.checkout.verbs import Updated, _fetch, _finish_update, _refuse_unfinished, _repository, _update
from lakebed._bulk import local_stash
from lakebed._bulk.batches import BATCH_FILES
from lakebed._bulk.progress import Report, Tally
from lakebed._bulk.working_directory import Checkout, LocalChange, opened
from lakebed._compat.aio import run_in_thread
from lakebed._gateway.operations import refs
from lakebed.errors import Conflict, ConflictError, InvalidRequestError, NotFoundError
from lakebed.model import Change

if TYPE_CHECKING:
    from lakebed._async.handles.lake import Lake
    from lakebed._async.handles.repository import Repository


@dataclass(frozen=True, slots=True)
class Switched:
    """The result of a switch. `detached` is the ref if it is not a branch, otherwise empty."""

    branch: str
    detached: str
    base: str
    fetched: int = 0
    removed: int = 0
    created: bool = False


async def switch(
    lake: Lake, top: Path, ref: str, *, create: bool = False, force: bool = False, progress: Report = None
) -> Switched:
    """Switch the directory to another branch, or to any other ref, which cannot be committed to.

    `create` makes the branch from the commit that the directory shows, and keeps local changes as they are. Otherwise
    local changes raise ConflictError (kind `local_changes`), and nothing is touched. `force` drops them, except added
    files that the other ref does not have.

    Raises NotFoundError.
    """
    with opened(top) as here:
        _refuse_unfinished(here)
        repo = _repository(lake, here)
        await _finish_update(repo, here, "stop", progress)
        if create:
            await repo.branch(ref).create(here.base)
            await run_in_thread(partial(here.index.note, branch=ref, detached=""))
            return Switched(ref, "", here.base, created=True)
        branch, commit_id = await _found(repo, ref)
        changes = await run_in_thread(list, here.changes())
        if changes and not force:
            raise _refusal(here, ref, changes)
        if changes:
            await _restore(repo, here, changes, progress)
        facts = {"branch": ref, "detached": ""} if branch else {"detached": ref}
        if commit_id != here.base:
            updated = await _update(repo, here, commit_id, "theirs" if force else "stop", progress, facts)
        else:
            updated = Updated(commit_id)
            await run_in_thread(partial(here.index.note, **facts))
        shown = here.index.fact("branch")
        return Switched(shown, "" if branch else ref, commit_id, updated.fetched, updated.removed)


async def _found(repo: Repository, ref: str) -> tuple[bool, str]:
    """Whether a ref is a branch, and its commit."""
    try:
        asked = replace(refs.get_branch(repo.id, ref), advised=False)  # it may be a tag or a commit
        return True, (await repo._transport.call(asked)).commit_id
    except (NotFoundError, InvalidRequestError) as error:
        if error.kind == "repository_not_found":
            raise
        return False, (await repo.commit(ref)).id


def _refusal(here: Checkout, ref: str, changes: Sequence[LocalChange]) -> ConflictError:
    count = "1 file" if len(changes) == 1 else f"{len(changes):,} files"
    return ConflictError(
        f"cannot switch {here.top} to {ref!r}: {count} in it {'has' if len(changes) == 1 else 'have'} uncommitted "
        "changes; nothing was changed",
        kind="local_changes",
    ).with_conflicts([Conflict(here.origin.prefix + one.path) for one in changes])


async def discard(
    lake: Lake, top: Path, paths: Sequence[str] = (), *, clean: bool = False, progress: Report = None
) -> list[LocalChange]:
    """Discard local changes of some files and folders (names below the top), or all. Returns the discarded changes.

    Added files are kept unless `clean` is set.
    """
    with opened(top) as here:
        _refuse_unfinished(here)
        repo = _repository(lake, here)
        await _finish_update(repo, here, "stop", progress)
        changes = [
            one
            for one in await run_in_thread(list, here.changes())
            if (clean or one.type != "added") and _below(one.path, paths)
        ]
        for change in changes:
            if change.type == "added":
                await run_in_thread(here.remove, change.path)
        await _restore(repo, here, [one for one in changes if one.type != "added"], progress)
        return changes


async def stash(lake: Lake, top: Path, message: str = "", *, progress: Report = None) -> local_stash.LocalStash:
    """Stash all local changes in the directory's own folder. The directory then equals its commit.

    Raises NothingToCommitError.
    """
    with opened(top) as here:
        _refuse_unfinished(here)
        repo = _repository(lake, here)
        await _finish_update(repo, here, "stop", progress)
        changes = await run_in_thread(list, here.changes())
        made = await run_in_thread(local_stash.put_aside, here, changes, message)
        await _restore(repo, here, [one for one in changes if one.type != "added"], progress)
        return made


async def pop(top: Path, *, force: bool = False) -> tuple[local_stash.LocalStash, list[str]]:
    """Bring back the changes of the newest stash. Returns it, and the names of its files.

    Raises NotFoundError, and ConflictError when the directory has other versions by now, unless `force` replaces them.
    """
    with opened(top) as here:
        newest = await run_in_thread(local_stash.newest, top)
        return newest, await run_in_thread(partial(local_stash.restore, here, newest, force=force))


def _below(name: str, paths: Sequence[str]) -> bool:
    return not paths or any(not one or name == one or name.startswith(f"{one}/") for one in paths)


async def _restore(repo: Repository, here: Checkout, changes: Sequence[LocalChange], progress: Report) -> None:
    """Restore changed and missing files from the base commit. Added files are left alone."""
    plan, tally = Plan(), Tally(progress)
    for change in changes:
        if change.known is None:
            continue
        size = max(change.known.stat.size, 0)
        plan.fetch.append(Change("changed", here.origin.prefix + change.path, size=size))
        plan.expected[change.path] = await run_in_thread(file_stat_of, here.top / change.path)
        tally.expect(size)
    tally.no_more()
    try:
        for start in range(0, len(plan.fetch), BATCH_FILES):
            await _fetch(repo.ref(here.base), here, plan, plan.fetch[start : start + BATCH_FILES], tally)
    finally:
        tally.end()
