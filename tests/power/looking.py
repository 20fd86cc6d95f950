"""Starts a server's parts on a disk, checks all that it shows, and continues to work there."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_engine.vocabulary.requests import CommitRequest, LogRequest, UploadRequest
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.key_file import key_ring
from lakebed_server.process import wiring
from lakebed_server.vocabulary import StartError

from tests.power.expected import Expected
from tests.power.record import Cell, Record
from tests.power.recording.lake import REPO, settings_of

BRANCHES = ("main", "dev", "release")
"""Whose objects are compared."""

_MOST = 1000

_AGAIN = 0.3
"""The share of disks that are checked once more after work on them."""


async def violations(data: Path, record: Record, expected: Expected, chance: random.Random) -> list[str]:
    """Start on the stored files, compare, check, and work. Returns the faults."""
    try:
        parts = await wiring.build(settings_of(data))
    except (StartError, EngineError) as error:
        return [f"the server does not start: {error}"]
    try:
        seen = await shown(parts, data, record)
        if parts.first_admin is not None:  # made just now
            del seen["key", parts.first_admin.access_key_id]
        found = list(expected.violations(seen))
        return found or [*await _checked(parts, seen, record, chance), *await _usable(parts, seen, expected, chance)]
    except Exception as error:
        return [f"the server fails: {type(error).__name__}: {error}"]
    finally:
        await parts.close()


async def shown(parts: wiring.Components, data: Path, record: Record) -> dict[Cell, bytes | None]:
    """Every cell that holds something."""
    engine = parts.engine
    seen: dict[Cell, bytes | None] = {
        ("repository", one.name): b"" for one in (await engine.repositories.list(amount=_MOST)).items
    }
    keys = CredentialStore(parts.kv, await key_ring(settings_of(data), parts.kv))
    async for row in keys.rows():
        key = keys.opened(row).credential
        seen["key", key.access_key_id] = key.secret_access_key.encode()
    if ("repository", REPO) not in seen:
        return seen
    for tag in (await engine.tags.list(REPO, amount=_MOST)).items:
        seen["tag", tag.name] = tag.commit_id.encode()
    for branch in (await engine.branches.list(REPO, amount=_MOST)).items:
        seen["branch", branch.name] = b""
        if branch.name in BRANCHES:
            await _show_objects(parts, branch.name, seen)
            await _show_commits(parts, branch.name, seen, record)
    return seen


async def _show_objects(parts: wiring.Components, branch: str, seen: dict[Cell, bytes | None]) -> None:
    for row in (await parts.engine.objects.list(REPO, branch, amount=_MOST)).items:
        assert row.entry is not None
        async with parts.engine.objects.open(REPO, row.entry) as chunks:
            seen["object", branch, row.path] = b"".join([bytes(chunk) async for chunk in chunks])


async def _show_commits(parts: wiring.Components, branch: str, seen: dict[Cell, bytes | None], record: Record) -> None:
    """Record the requested commits of this branch, and report unknown commits."""
    known = {cell for one in record.operations for cell in one.effects}
    for commit in (await parts.engine.commits.log(REPO, branch, LogRequest(amount=_MOST, first_parent=True))).items:
        cell = "commit", branch, commit.id
        if cell in known or commit.id not in record.trees:
            seen[cell] = b""


async def _checked(
    parts: wiring.Components, seen: dict[Cell, bytes | None], record: Record, chance: random.Random
) -> list[str]:
    """`fsck --data --deep` of every repository, and what some commits hold."""
    found = []
    for kind, name in [cell for cell in seen if cell[0] == "repository"]:
        report = await parts.engine.maintenance.fsck(name, FsckOptions(data=True, deep=True))
        found += [f"fsck of {kind} {name}: {one.kind} {one.what} {one.name}: {one.detail}" for one in report.problems]
    commits = [cell[2] for cell in seen if cell[0] == "commit"]
    for commit in {*commits[:1], *chance.sample(commits, min(2, len(commits)))}:
        page = await parts.engine.objects.list(REPO, commit, amount=_MOST)
        tree = {row.path: row.entry.checksum for row in page.items if row.entry is not None}
        if tree != record.trees[commit]:
            found.append(f"commit {commit} holds something else")
    return found


async def _usable(
    parts: wiring.Components, seen: dict[Cell, bytes | None], expected: Expected, chance: random.Random
) -> list[str]:
    """Ask again for the objects that were under way, write another one, commit: all of it reads, and fsck is clean."""
    if ("repository", REPO) not in seen:
        await parts.engine.repositories.create(REPO, f"local://{REPO}")
    objects = {"after/loss": b"written after the loss"}
    for one in expected.under_way:
        for cell, data in one.effects.items():
            if cell[:2] == ("object", "main") and data is not None:
                objects[cell[2]] = data
    for path, data in objects.items():
        await parts.engine.objects.upload(REPO, "main", UploadRequest(path=path), _chunks(data))
    await parts.engine.commits.create(REPO, "main", CommitRequest(message="after the loss", committer="kim"))
    again: dict[Cell, bytes | None] = {}
    await _show_objects(parts, "main", again)
    before = {cell: data for cell, data in seen.items() if cell[:2] == ("object", "main")}
    wanted = before | {("object", "main", path): data for path, data in objects.items()}
    if again != wanted:
        return [f"after more work there is something else at {sorted(again.items() ^ wanted.items())[0][0]}"]
    if chance.random() > _AGAIN:
        return []
    report = await parts.engine.maintenance.fsck(REPO, FsckOptions(data=True, deep=True))
    return [f"after more work, fsck: {one.kind} {one.what} {one.name}: {one.detail}" for one in report.problems]


async def _chunks(data: bytes) -> AsyncIterator[bytes]:
    yield data
