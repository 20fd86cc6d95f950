"""Plans the update of a working directory and finds conflicts, without changing anything."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lakebed._bulk.batches import BATCH_FILES
from lakebed._bulk.hash_cache import Known
from lakebed._bulk.local_tree import OURS, FileStat, is_local
from lakebed._bulk.working_directory import Checkout, LocalChange
from lakebed._compat.aio import gather, run_in_thread
from lakebed.errors import Conflict
from lakebed.model import Change, ObjectInfo

if TYPE_CHECKING:
    from lakebed._async.handles.ref import Ref
    from lakebed._async.handles.repository import Repository

Side = Literal["stop", "mine", "theirs"]
"""The ways to resolve files that both sides changed."""

AT_ONCE = 8
"""Maximum number of concurrent requests."""


@dataclass(slots=True)
class Plan:
    """A planned update. `expected` contains the stat that each file must still have when it is replaced or removed."""

    fetch: list[Change] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    adopt: list[Known] = field(default_factory=list)
    forget: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    expected: dict[str, FileStat | None] = field(default_factory=dict)


def fits(name: str) -> bool:
    """Whether a path can be a file of a working directory."""
    return is_local(name) and name.split("/", 1)[0] != OURS


async def planned(repo: Repository, here: Checkout, ref: Ref, conflicts: Side) -> Plan:
    """Plan everything that changed between the base and the commit `ref`."""
    plan, prefix = Plan(), here.origin.prefix
    batch: list[Change] = []
    found: Any = repo.ref(here.base).diff(ref, two_dot=True, prefix=prefix)
    async for change in found:
        if not fits(change.path.removeprefix(prefix)):
            plan.skipped.append(change.path)
            continue
        batch.append(change)
        if len(batch) == BATCH_FILES:
            await gather([partial(_plan_one, here, ref, one, conflicts, plan) for one in batch], AT_ONCE)
            batch = []
    await gather([partial(_plan_one, here, ref, one, conflicts, plan) for one in batch], AT_ONCE)
    plan.conflicts.sort(key=lambda conflict: conflict.path)
    plan.kept.sort()
    return plan


async def _plan_one(here: Checkout, ref: Ref, change: Change, conflicts: Side, plan: Plan) -> None:
    name = change.path.removeprefix(here.origin.prefix)
    mine = await run_in_thread(here.look, name)
    known = await run_in_thread(here.index.get, name)
    theirs, removed = None, change.type == "removed"
    if not removed and (mine is not None or (known is not None and here.target)):
        theirs = await ref.stat(change.path)
    if mine is None and known is not None and theirs is not None and known.checksum == theirs.checksum:
        return  # an interrupted update, or our own commit, has already done it
    if mine is not None and (mine.md5 or None) == (theirs.checksum if theirs else None):
        _adopt(plan, name, mine, theirs)  # both sides made the same change
        return
    if mine is not None and conflicts != "theirs":
        _clash(plan, change.path, name, mine, theirs, conflicts)
        return
    plan.expected[name] = await run_in_thread(file_stat_of, here.top / name)
    if removed:
        plan.remove.append(name)
    else:
        plan.fetch.append(change)


def _adopt(plan: Plan, name: str, mine: LocalChange, theirs: ObjectInfo | None) -> None:
    if theirs is None or mine.local is None:
        plan.forget.append(name)
    else:
        plan.adopt.append(Known(name, mine.local.stat, mine.md5, theirs.checksum, seen_ns=mine.local.stat.mtime_ns))


def _clash(plan: Plan, path: str, name: str, mine: LocalChange, theirs: ObjectInfo | None, conflicts: Side) -> None:
    base = mine.known.checksum if mine.known else None
    if conflicts == "stop":
        plan.conflicts.append(Conflict(path, base, mine.md5 or None, theirs.checksum if theirs else None))
        return
    plan.kept.append(path)
    if theirs is None:
        plan.forget.append(name)  # what is there counts as added
    else:  # what is there counts as a change of theirs: nothing on disk looks like this row
        plan.adopt.append(Known(name, FileStat(-1, 0, 0), theirs.checksum, theirs.checksum))


def file_stat_of(file: Path) -> FileStat | None:
    """Size, time and inode of a file; None when there is no file."""
    try:
        return FileStat.of(os.stat(file))
    except (FileNotFoundError, NotADirectoryError):
        return None
