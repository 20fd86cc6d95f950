# Generated from sdk/lakebed/_async/checkout/verbs.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Working directories: clone a branch into a directory, commit local changes, and pull remote changes.

Local changes are never overwritten silently. An update finds conflicts before it changes the first file, and checks
each file again just before it replaces it. The next command first finishes an interrupted update, which is safe because
commits never change.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from lakebed._bulk.batches import BATCH_FILES, SMALL, Item, partial_failure
from lakebed._bulk.hash_cache import Known, distinct_mtime
from lakebed._bulk.progress import Report, Tally
from lakebed._bulk.working_directory import Checkout, LocalChange, Origin, opened, prepare
from lakebed._compat.sync import gather, run_in_thread
from lakebed._http.object_frames import ObjectRead
from lakebed._sync.bulk import fetch as bulk_fetch
from lakebed._sync.bulk import upload as bulk_upload
from lakebed._sync.checkout.plan import AT_ONCE, Plan, Side, file_stat_of, fits, planned
from lakebed._sync.objects.read_many import Wanted, read_batches
from lakebed.errors import (
    ConfigurationError,
    Conflict,
    ConflictError,
    InvalidRequestError,
    LakebedError,
    NothingToCommitError,
    UnsupportedOperationError,
)
from lakebed.model import Change, Commit

if TYPE_CHECKING:
    from lakebed._sync.handles.lake import Lake
    from lakebed._sync.handles.ref import Ref
    from lakebed._sync.handles.repository import Repository

_GROUP = 50
"""Small files that one thread writes at a time."""

_NONE: Mapping[str, str] = {}

DataPath = Literal["direct", "presigned", "proxied"] | None


@dataclass(slots=True)
class Updated:
    """The result of an update. `kept` are paths whose local version was kept, as requested.

    `skipped` are objects whose path cannot be a local file.
    """

    base: str
    fetched: int = 0
    removed: int = 0
    kept: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LocalStatus:
    """The state of a working directory. `head` is the branch's commit, None when it was not asked for.

    `detached` is the tag or commit that the directory shows in place of its branch.
    """

    origin: Origin
    base: str
    head: str | None
    changes: list[LocalChange]
    detached: str = ""


def clone(lake: Lake, repository: str, branch: str, prefix: str, top: Path, progress: Report = None) -> Updated:
    """Check out the head of a branch into a new or empty directory. After an interruption, call it again to continue.

    Raises InvalidRequestError (kind `not_empty` or `already_cloned`) and PartialFailureError.
    """
    origin = Origin(lake.settings.endpoint, repository, branch, prefix)
    repo = lake.repository(repository)
    head = (repo.branch(branch).info()).commit_id
    run_in_thread(prepare, top, origin)
    with opened(top) as here:
        commit = here.target or head
        run_in_thread(partial(here.index.note, target=commit))
        result = Updated(commit)
        tally = Tally(progress)
        work = bulk_fetch.Fetch(repo.ref(commit), prefix, top, here.index, tally, AT_ONCE)
        try:
            work.run(_representable(repo.ref(commit), prefix, result))
        finally:
            tally.end()
        if work.failures:
            raise partial_failure(f"of {origin} could not be checked out", work.failures, tally.now().files_total)
        run_in_thread(partial(here.index.note, base=commit, target=""))
        result.fetched = work.files
        return result


def _representable(ref: Ref, prefix: str, result: Updated) -> Iterator[Any]:
    for row in ref.list(prefix):
        if fits(row.path.removeprefix(prefix)):
            yield row
        else:
            result.skipped.append(row.path)


def status(lake: Lake, top: Path, *, ask: bool = True) -> LocalStatus:
    """Return what has changed in the directory since it was checked out, and whether the branch has moved."""
    with opened(top) as here:
        _refuse_unfinished(here)
        detached = here.index.fact("detached")
        head = None
        if ask and not detached:
            head = (_repository(lake, here).branch(here.origin.branch).info()).commit_id
        changes = run_in_thread(list, here.changes())
        return LocalStatus(here.origin, here.base, head, changes, detached)


def pull(lake: Lake, top: Path, *, conflicts: Side = "stop", progress: Report = None) -> Updated:
    """Update the directory to the branch's head, except files with local changes.

    Where both sides changed, `conflicts` decides: `stop` raises ConflictError and touches nothing, `mine` keeps the
    local version (which then counts as a change of the new one), `theirs` overwrites it.
    """
    with opened(top) as here:
        repo = _repository(lake, here)
        _finish_update(repo, here, conflicts, progress)
        _refuse_detached(here)
        head = (repo.branch(here.origin.branch).info()).commit_id
        if head == here.base:
            return Updated(head)
        return _update(repo, here, head, conflicts, progress)


def commit(
    lake: Lake,
    top: Path,
    message: str,
    *,
    metadata: dict[str, str] | None = None,
    progress: Report = None,
    data_path: DataPath = None,
) -> tuple[Commit, list[LocalChange]]:
    """Commit the changes of the directory, through a workspace on the commit that was checked out.

    If the branch has moved, the directory also gets the other changes. Raises NothingToCommitError,
    ConcurrentCommitError (both sides changed the same paths: pull first), DirtyBranchError, PartialFailureError.
    """
    with opened(top) as here:
        _refuse_unfinished(here)
        repo = _repository(lake, here)
        _finish_update(repo, here, "stop", progress)
        _refuse_detached(here)
        changes = run_in_thread(list, here.changes())
        if not changes:
            raise NothingToCommitError(f"nothing has changed in {top} since it was checked out")
        started = time.time_ns()
        made = _commit_changes(repo, here, changes, message, metadata, progress, data_path)
        run_in_thread(_settle, here, changes, made.id, started)
        if made.parents[:1] == (here.base,):
            run_in_thread(partial(here.index.note, base=made.id, target=""))
        else:
            _finish_update(repo, here, "stop", progress)
        return made, changes


def _commit_changes(
    repo: Repository,
    here: Checkout,
    changes: list[LocalChange],
    message: str,
    metadata: dict[str, str] | None,
    progress: Report,
    data_path: DataPath,
) -> Commit:
    prefix = here.origin.prefix
    items = [Item(prefix + one.path, one.size, local=one.local) for one in changes if one.local is not None]
    gone = [prefix + one.path for one in changes if one.local is None]
    made = repo.branch(here.origin.branch).workspace(message, ref=here.base, data_path=data_path)
    workspace = made.create()
    try:
        bulk_upload.put_items(workspace, items, delete=gone, progress=progress)
        return workspace.commit(message, metadata=metadata)
    except LakebedError as error:
        # everything is still in the directory; after an unknown outcome, the workspace may be committed: keep it
        if error.kind != "outcome_unknown":
            with suppress(LakebedError):
                workspace.drop()
        raise


def _settle(here: Checkout, changes: list[LocalChange], commit_id: str, started: int) -> None:
    """Update the index after a commit: committed files count as checked out."""
    here.index.note(target=commit_id)
    here.index.remember(
        Known(one.path, one.local.stat, one.md5, one.md5, seen_ns=started) for one in changes if one.local is not None
    )
    here.index.forget(one.path for one in changes if one.local is None)


def _repository(lake: Lake, here: Checkout) -> Repository:
    if lake.settings.endpoint != here.origin.endpoint:
        raise ConfigurationError(
            f"{here.top} was cloned from {here.origin.endpoint}, but the endpoint in use is {lake.settings.endpoint}"
        )
    return lake.repository(here.origin.repository)


def _refuse_unfinished(here: Checkout) -> None:
    if not here.base:
        raise InvalidRequestError(
            f"the clone into {here.top} was not finished: run `lakebed local clone {here.origin} {here.top}` again",
            kind="clone_unfinished",
        )


def _refuse_detached(here: Checkout) -> None:
    if detached := here.index.fact("detached"):
        raise InvalidRequestError(
            f"{here.top} shows {detached!r}, which is not a branch: `lakebed switch BRANCH` switches to a branch, "
            "and `lakebed switch -c NEW` creates one here and keeps your changes",
            kind="detached",
        )


def _finish_update(repo: Repository, here: Checkout, conflicts: Side, progress: Report) -> None:
    """Finish an interrupted update."""
    _refuse_unfinished(here)
    if here.target:
        _update(repo, here, here.target, conflicts, progress)


def _update(
    repo: Repository,
    here: Checkout,
    commit_id: str,
    conflicts: Side,
    progress: Report,
    facts: Mapping[str, str] = _NONE,
) -> Updated:
    """Update the files to a commit. `facts` are stored together with the target, so that an update that is finished
    later has them too.
    """
    ref = repo.ref(commit_id)
    plan = planned(repo, here, ref, conflicts)
    if plan.conflicts:
        raise ConflictError(
            f"{here.top} and {here.origin} both changed {len(plan.conflicts)} of the same files; nothing was changed",
            kind="local_conflict",
        ).with_conflicts(plan.conflicts)
    run_in_thread(partial(here.index.note, target=commit_id, **facts))
    tally = Tally(progress)
    for change in plan.fetch:
        tally.expect(change.size or 0)
    tally.no_more()
    try:
        run_in_thread(_remove, here, plan)
        for start in range(0, len(plan.fetch), BATCH_FILES):
            _fetch(ref, here, plan, plan.fetch[start : start + BATCH_FILES], tally)
    finally:
        tally.end()
    run_in_thread(partial(here.index.note, base=commit_id, target=""))
    return Updated(commit_id, len(plan.fetch), len(plan.remove), plan.kept, plan.skipped)


def _refuse_touched(here: Checkout, plan: Plan, name: str) -> None:
    if file_stat_of(here.top / name) != plan.expected[name]:
        raise ConflictError(
            f"{here.top / name} changed during the update and was not replaced; pull again",
            kind="local_conflict",
        ).with_conflicts([Conflict(here.origin.prefix + name)])


def _remove(here: Checkout, plan: Plan) -> None:
    """Remove files first: a new directory may need the name of a removed file."""
    here.index.remember(plan.adopt)
    here.index.forget(plan.forget)
    for name in plan.remove:
        _refuse_touched(here, plan, name)
        here.remove(name)
        here.index.forget([name])


def _fetch(ref: Ref, here: Checkout, plan: Plan, changes: Sequence[Change], tally: Tally) -> None:
    done: list[Known] = []

    def one(change: Change) -> None:
        name = change.path.removeprefix(here.origin.prefix)
        part = here.parts / uuid4().hex
        started = time.time_ns()
        info = ref.download(change.path, part, progress=tally.moved)
        done.append(run_in_thread(_place, here, plan, name, part, info.checksum, started))
        tally.done(1)

    try:
        left = _fetch_small(ref, here, plan, changes, tally, done)
        gather([partial(one, change) for change in left], AT_ONCE)
    finally:
        run_in_thread(here.index.remember, done)


def _fetch_small(
    ref: Ref, here: Checkout, plan: Plan, changes: Sequence[Change], tally: Tally, done: list[Known]
) -> list[Change]:
    """Download small objects in one request. Returns the changes that need a separate request."""
    left = {change.path: change for change in changes}
    wanted = [change.path for change in changes if change.size is not None and change.size <= SMALL]

    def place(group: list[ObjectRead]) -> None:
        for read in group:
            assert read.info is not None
            part, started = here.parts / uuid4().hex, time.time_ns()
            part.write_bytes(read.data)
            name = read.path.removeprefix(here.origin.prefix)
            done.append(_place(here, plan, name, part, read.info.checksum, started))
            tally.moved(len(read.data))
            tally.done(1)
            del left[read.path]

    arrived: list[ObjectRead] = []
    with suppress(UnsupportedOperationError):  # an older server
        for read in read_batches(ref._target, Wanted(wanted)):
            if read.alone or read.error is not None:
                continue
            arrived.append(read)
            if len(arrived) == _GROUP:
                run_in_thread(place, arrived)
                arrived = []
    run_in_thread(place, arrived)
    return list(left.values())


def _place(here: Checkout, plan: Plan, name: str, part: Path, checksum: str, started: int) -> Known:
    mtime_ns = distinct_mtime(started)
    os.utime(part, ns=(mtime_ns, mtime_ns))
    known = bulk_fetch.describe(name, part, checksum, started)
    local = here.top / name
    local.parent.mkdir(parents=True, exist_ok=True)
    _refuse_touched(here, plan, name)
    os.replace(part, local)
    return known
