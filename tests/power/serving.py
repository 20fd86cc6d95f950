"""A real `lakebed serve` on a disk, read by the SDK over its socket: the same comparison, as readers see it."""

from __future__ import annotations

import random
from pathlib import Path

import lakebed

from tests.power.expected import Expected
from tests.power.looking import BRANCHES
from tests.power.record import Cell, Record
from tests.power.recording.lake import REPO, environment_of
from tests.support.processes.server import running_server
from tests.support.waiting import PATIENCE

_KINDS = ("repository", "branch", "tag", "object")


def serve_and_look(data: Path, record: Record, expected: Expected, chance: random.Random) -> list[str]:
    """Start a server, compare what it shows, and write and commit: what was wrong."""
    try:
        with running_server(data, environment=environment_of(data)) as server:
            lake = lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE)
            with lake:
                return list(expected.violations(_shown(lake), _KINDS)) or _usable(lake)
    except AssertionError as error:  # it does not come up
        return [str(error)]


def _shown(lake: lakebed.Lake) -> dict[Cell, bytes | None]:
    seen: dict[Cell, bytes | None] = {("repository", one.id): b"" for one in lake.repositories()}
    if ("repository", REPO) not in seen:
        return seen
    repo = lake.repository(REPO)
    seen |= {("tag", tag.id): tag.commit_id.encode() for tag in repo.tags()}
    for branch in repo.branches():
        seen["branch", branch.id] = b""
        if branch.id in BRANCHES:
            shown = repo.branch(branch.id)
            seen |= {("object", branch.id, item.path): shown.get(item.path) for item in shown.list()}
    return seen


def _usable(lake: lakebed.Lake) -> list[str]:
    repo = lake.repository(REPO)
    if REPO not in {one.id for one in lake.repositories()}:
        repo.create(f"local://{REPO}")
    main = repo.branch("main")
    main.put("after/loss", b"written after the loss")
    main.commit("after the loss")
    found = repo.ref("main").get("after/loss")
    return [] if found == b"written after the loss" else [f"a new object reads as {found!r}"]
