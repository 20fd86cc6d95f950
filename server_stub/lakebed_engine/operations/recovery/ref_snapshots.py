"""Ref snapshots: the commits of all branches and tags, written to the bucket, for a rebuild of a lost KV store.

A snapshot is written when the refs differ from those of the newest one. The time in its name is from before the refs
were read. So when two servers write snapshots, the one with the newer refs sorts last. The time is also always later
than that of the newest snapshot, so a clock that goes back does no harm.
"""

from __future__ import annotations

import logging

import msgspec
from lakebed_format.keys import REFS
from lakebed_format.refs import BranchRef, RefsRecord, TagRef, encode_refs, parse_key, refs_id

from lakebed_engine.operations.branch.resolve import decode_tag
from lakebed_engine.operations.context import (
    Context,
    Repo,
    active_records,
    decode_branch,
    open_repo,
    opened,
)
from lakebed_engine.operations.keys import BRANCH_ROWS, METADATA, TAG_ROWS, under
from lakebed_engine.stores.kv.base import scan_rows
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.reports import SnapshotPass

LOOK_AGAIN = 3600.0
"""Seconds after which to list the bucket again, although this process knows of no change of the refs."""

log = logging.getLogger("lakebed.engine")


class Snapshots:
    """The snapshots of this process. It remembers the newest known snapshot of each repository."""

    def __init__(self, ctx: Context, keep: int) -> None:
        """`keep`: how many snapshots of a repository to keep."""
        self._ctx = ctx
        self._keep = max(keep, 1)
        self._known: dict[str, tuple[str, float]] = {}

    async def run(self) -> SnapshotPass:
        """Make one pass over all repositories. A failure does not stop the others."""
        written, failures = 0, []
        async for record in active_records(self._ctx):
            try:
                written += await self.take(opened(self._ctx, record))
            except EngineError as error:
                failures.append((record.name, error.message))
        return SnapshotPass(written, failures)

    async def changed(self, repo_name: str) -> None:
        """Write a snapshot after a change. Only logs an error: the change is done, and a later pass tries again."""
        try:
            await self.take(await open_repo(self._ctx, repo_name))
        except EngineError as error:
            log.warning("repository %s: no ref snapshot was written: %s", repo_name, error.message)

    async def take(self, repo: Repo) -> bool:
        """Write a snapshot if the refs differ from the newest one. Returns whether it was written."""
        uid, started = repo.record.uid, int(self._ctx.clock.now() * 1000)
        listed = None
        if uid not in self._known:
            listed = await _listed(repo)
        record = await read_refs(self._ctx, repo)
        found = refs_id(record)
        known, seen_at = self._known.get(uid, ("", 0.0))
        now = self._ctx.clock.monotonic()
        if listed is None:
            if known == found and now - seen_at < LOOK_AGAIN:
                return False
            listed = await _listed(repo)
        newest = parse_key(listed[-1]) if listed else None
        is_new = newest is None or newest[1] != found
        if is_new:
            key, data = encode_refs(record, max(started, newest[0] + 1 if newest else 0))
            await repo.store.put(key, data)
            await repo.store.delete([*listed, key][: -self._keep])
        self._known[uid] = (found, now)
        return is_new


class RefChanges:
    """Records changes of refs, and writes a snapshot after each if configured."""

    def __init__(self, snapshots: Snapshots, *, snapshot_always: bool) -> None:
        """`snapshot_always`: write a ref snapshot after each change."""
        self.snapshots = snapshots
        self._always = snapshot_always
        self._changed: dict[str, None] = {}

    async def report(self, repo_name: str) -> None:
        """Record that the refs of a repository have changed."""
        self._changed[repo_name] = None
        if self._always:
            await self.snapshots.changed(repo_name)

    def take(self) -> list[str]:
        """The repositories whose refs have changed since the last call. Their history may be longer now."""
        changed, self._changed = list(self._changed), {}
        return changed


async def _listed(repo: Repo) -> list[str]:
    """The keys of the snapshots, oldest first."""
    return [blob.key async for blob in repo.store.list(REFS) if parse_key(blob.key) is not None]


async def read_refs(ctx: Context, repo: Repo) -> RefsRecord:
    """Every branch and tag now. The pages are read at different moments."""
    branches = [decode_branch(value) for value in await _values(ctx, repo, BRANCH_ROWS)]
    tags = [decode_tag(value) for value in await _values(ctx, repo, TAG_ROWS)]
    metadata = await ctx.kv.get(repo.partition, METADATA)
    record = repo.record
    return RefsRecord(
        uid=record.uid,
        name=record.name,
        storage_namespace=record.storage_namespace,
        default_branch=record.default_branch,
        creation_date=record.creation_date,
        read_only=record.read_only,
        metadata={} if metadata is None else msgspec.json.decode(metadata.value, type=dict[str, str]),
        branches=tuple(BranchRef(one.name, one.commit_id, one.hidden) for one in branches),
        tags=tuple(TagRef(one.name, one.commit_id) for one in tags),
        protection=record.protection,
    )


async def _values(ctx: Context, repo: Repo, prefix: bytes) -> list[bytes]:
    return [row.value async for row in scan_rows(ctx.kv, repo.partition, *under(prefix))]
