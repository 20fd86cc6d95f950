"""Ref snapshots: the commits of all branches and tags, and the pull requests, for a rebuild of a lost KV store.

A snapshot is written when the refs differ from those of the newest one. The time in its name is from before the refs
were read. So when two servers write snapshots, the one with the newer refs sorts last. The time is also always later
than that of the newest snapshot, so a clock that goes back does no harm.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

import msgspec
from lakebed_format.keys import PULLS, REFS, pull_file
from lakebed_format.refs import (
    BranchRef,
    PullRef,
    RefsRecord,
    RuleNeeds,
    TagRef,
    encode_pull,
    encode_refs,
    parse_key,
    refs_id,
)

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
from lakebed_engine.operations.keys import PULLS as PULL_ROWS
from lakebed_engine.operations.pulls.records import decode_pull, read_events, read_pull
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import scan_rows
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.reports import SnapshotPass

LOOK_AGAIN = 3600.0
"""Seconds after which to list the bucket again even if this process knows of no change of the refs."""

READS = 5
"""How often to read the refs while pull requests change."""

log = logging.getLogger("lakebed.engine")


class Snapshots:
    """The snapshots of this process. It remembers the newest known snapshot of each repository."""

    def __init__(self, ctx: Context, keep: int) -> None:
        """`keep`: how many snapshots of a repository to keep."""
        self._ctx = ctx
        self._keep = max(keep, 1)
        self._known: dict[str, tuple[str, float]] = {}
        self._pull_files: dict[str, set[str]] = {}
        """Files of pull requests that are in the bucket, by uid of the repository."""

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
            record = await self._write_pulls(repo, record)
            found = refs_id(record)
            key, data = encode_refs(record, max(started, newest[0] + 1 if newest else 0))
            await repo.store.put(key, data)
            await repo.store.delete([*listed, key][: -self._keep])
        self._known[uid] = (found, now)
        return is_new

    async def _write_pulls(self, repo: Repo, record: RefsRecord) -> RefsRecord:
        """Write the files of the pull requests that are not in the bucket. The result names what was written."""
        if not record.pulls:
            return record
        there = self._pull_files.get(repo.record.uid)
        if there is None:
            there = {blob.key async for blob in repo.store.list(PULLS)}
        missing = [one for one in record.pulls if pull_file(*one) not in there]
        written = await self._ctx.runtime.gather([partial(_write_pull, self._ctx, repo, one.id) for one in missing])
        there.update(pull_file(*one) for one in written)
        self._pull_files[repo.record.uid] = there
        changed = {one.id: one for one in written}
        return replace(record, pulls=tuple(changed.get(one.id, one) for one in record.pulls))


async def _write_pull(ctx: Context, repo: Repo, pull_id: str) -> PullRef:
    """Write the file of a pull request as it is now."""

    async def attempt() -> PullRef | None:
        seen = await read_pull(ctx, repo, pull_id)
        events = await read_events(ctx, repo, pull_id)
        if (await read_pull(ctx, repo, pull_id)).version != seen.version:
            return None
        ref = PullRef(pull_id, seen.pull.revision)
        data = encode_pull(msgspec.to_builtins(seen.pull), [msgspec.to_builtins(event) for event in events])
        await repo.store.put(pull_file(*ref), data)
        return ref

    return await retry_on_conflict(f"pull request {pull_id} of {repo.name!r}", attempt)


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
    """Every branch, tag and pull request now. The pages are read at different moments.

    The pull requests are read before and after the branches, until both reads are equal. So a snapshot has the merge of
    a pull request if and only if the pull request is marked as merged in it.
    """
    pulls = await _pulls(ctx, repo)
    for _ in range(READS):
        before = pulls
        record = await _read_refs(ctx, repo, pulls)
        pulls = await _pulls(ctx, repo)
        if pulls == before:
            break
    return record


async def _pulls(ctx: Context, repo: Repo) -> tuple[PullRef, ...]:
    pulls = [decode_pull(value) for value in await _values(ctx, repo, PULL_ROWS)]
    return tuple(PullRef(one.id, one.revision) for one in pulls)


async def _read_refs(ctx: Context, repo: Repo, pulls: tuple[PullRef, ...]) -> RefsRecord:
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
        requirements=tuple(
            RuleNeeds(pattern, one.approvals, one.checks) for pattern, one in record.requirements.items()
        ),
        pulls=pulls,
    )


async def _values(ctx: Context, repo: Repo, prefix: bytes) -> list[bytes]:
    return [row.value async for row in scan_rows(ctx.kv, repo.partition, *under(prefix))]
