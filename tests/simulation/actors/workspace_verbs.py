"""The verbs of actors on workspaces, and of other tools.

A workspace is known to all actors by its name, so that several write, commit and drop the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from lakebed_engine.vocabulary.requests import (
    AdvanceRequest,
    CommitRequest,
    ConflictPolicy,
    IngestRequest,
    UploadRequest,
    WorkspaceRequest,
)

from tests.simulation.actors.actors import (
    Actor,
    Script,
    chunks,
    delete,
    list_page,
    push,
    put,
    put_if,
    put_many,
    read,
)
from tests.simulation.actors.outside import INTO, SOURCE
from tests.simulation.checks.history import Op, content_identity
from tests.simulation.world.scheduler import TICK, park
from tests.simulation.world.world import REPO

GLOBS: Sequence[tuple[str, ...]] = (("/a",), ("c/",), ("_SUCCESS",), ("*", "!/z"), ("/m", "/a"), ("*",))
POLICIES: Sequence[ConflictPolicy] = ("rebase", "rebase", "abort", "overwrite")


async def ws_create(actor: Actor, claims: tuple[str, ...] = ()) -> str | None:
    """With an id of its own the request is safe to repeat."""
    found_id = f"{actor.rng.getrandbits(128):032x}" if actor.rng.random() < 0.3 else ""
    request = WorkspaceRequest(ref=actor.branch, creator=actor.name, claims=claims, id=found_id)
    for _ in range(3 if found_id else 1):
        op = await actor.call("ws_create", actor.engine.workspaces.create(REPO, request), id=found_id)
        if op.outcome != "unknown":
            break
    if op.answer is None:
        return None
    actor.world.workspaces.append(op.answer.name)
    return str(op.answer.name)


async def ws_write(actor: Actor) -> None:
    """Write through a workspace of any actor."""
    name = _workspace(actor)
    if name is not None:
        await _within(actor, name, [put, delete, put_many, push, put_if, read, list_page])


async def _within(actor: Actor, name: str, verbs: Sequence[Script]) -> None:
    kept, actor.branch = actor.branch, name
    await actor.rng.choice(verbs)(actor)
    actor.branch = kept


async def ws_commit(actor: Actor) -> None:
    """Commit a workspace of any actor, or a part of it."""
    name = _workspace(actor)
    if name is not None:
        globs = actor.rng.choice(GLOBS) if actor.rng.random() < 0.3 else ()
        await _advance(actor, name, globs)


async def _advance(
    actor: Actor,
    name: str,
    globs: tuple[str, ...] = (),
    replace: tuple[str, ...] = (),
    policy: ConflictPolicy = "rebase",
) -> None:
    """With a key a lost answer is settled by asking again; and one may ask again anyway."""
    policy = actor.rng.choice(POLICIES) if policy == "rebase" else policy
    message = f"{actor.name}-{actor.rng.getrandbits(40):010x}"
    key = message if actor.rng.random() < 0.5 else ""
    request = AdvanceRequest(
        committer=actor.name, message=message, policy=policy, idempotency_key=key, globs=globs,
        replace_prefix=replace, allow_empty=actor.rng.random() < 0.2,
    )  # fmt: skip
    branch, found_id = name.split("+")
    args: dict[str, Any] = {
        "workspace": name,
        "policy": policy,
        "key": key,
        "globs": globs,
        "replace": replace,
        "empty": request.allow_empty,
    }

    async def once(asked: AdvanceRequest = request) -> Op:
        job = actor.engine.workspaces.commit(REPO, found_id, asked)
        return await actor.call("ws_commit", job, branch=branch, message=asked.message, **args)

    if actor.rng.random() < 0.1:  # sent again, or asked for by another, while the first one is under way
        again = request if key else msgspec.structs.replace(request, message=f"{request.message}-again")
        await actor.world.scheduler.gather([once, lambda: once(again)], 2)
        return
    for _ in range(3 if key else 1):
        op = await once()
        if op.outcome != "unknown" and actor.rng.random() < 0.8:
            break


async def ws_whole(actor: Actor) -> None:
    """The life of a workspace."""
    name = await ws_create(actor)
    if name is not None:
        for _ in range(actor.rng.choice([1, 2])):
            await _within(actor, name, [put, put, delete, put_many, push])
        await _advance(actor, name)


async def ws_crowd(actor: Actor) -> None:
    """As `ws_whole`, with a commit at the same moment as others: those of one process go together."""
    name = await ws_create(actor)
    if name is not None:
        if actor.rng.random() < 0.9:
            await _within(actor, name, [put, put, put_many])
        await park(actor.world.scheduler.time // 1 + 1)
        await _advance(actor, name)


async def intrude(actor: Actor) -> None:
    """A commit of another process just when a crowd commits, or a little later: they lose the race, and try again."""
    await park(actor.world.scheduler.time // 1 + 1 + actor.rng.randrange(120) * TICK)
    request = CommitRequest(message=f"{actor.name}-{actor._calls}", committer=actor.name, allow_empty=True)
    made = actor.engine.commits.create(REPO, actor.branch, request)
    await actor.call("commit", made, empty=True, message=request.message)


async def ws_rivals(actor: Actor) -> None:
    """A workspace with some rows, and two or three actors that use it concurrently."""
    name = await ws_create(actor)
    if name is None:
        return
    await _within(actor, name, [put, put_many, push])
    found_id = name.split("+")[1]

    async def drop() -> None:
        await actor.call("ws_drop", actor.engine.workspaces.delete(REPO, found_id), workspace=name)

    async def popped() -> None:
        await actor.call("pop", actor.engine.workspaces.pop(REPO, found_id, branch=actor.branch), workspace=name)

    async def whole() -> None:
        await _advance(actor, name)

    async def part() -> None:
        await _advance(actor, name, actor.rng.choice(GLOBS))

    async def revert() -> None:
        globs = actor.rng.choice([("*",), ("*",), *GLOBS])
        job = actor.engine.workspaces.revert(REPO, found_id, globs)
        await actor.call("ws_revert", job, branch=name, workspace=name, globs=globs)

    async def write() -> None:
        path = actor.path()
        text = actor.text(path)
        job = actor.engine.objects.upload(REPO, name, UploadRequest(path=path), chunks(text))
        await actor.call("put", job, {path: content_identity(text)}, branch=name, path=path)

    async def scan() -> None:
        path = actor.path()
        actor.world.write_below(name, path, actor.text(path))
        await actor.call("ws_scan", actor.engine.workspaces.scan(REPO, found_id), branch=name)

    rivals = actor.rng.choices([whole, part, popped, drop, revert, write, scan], [4, 2, 3, 1, 2, 6, 3], k=2)
    await actor.world.scheduler.gather([actor.rng.choice([whole, revert, scan]), *rivals], 3)


async def ws_part(actor: Actor) -> None:
    """The life of a workspace that is committed part by part."""
    name = await ws_create(actor)
    if name is not None:
        await _within(actor, name, [put_many, push])
        await _advance(actor, name, actor.rng.choice(GLOBS))
        await _within(actor, name, [put, delete])
        await _advance(actor, name, actor.rng.choice([(), *GLOBS]))


async def ws_claim(actor: Actor) -> None:
    """Rewrite a table: claimed from the beginning, or replaced by the commit, or both."""
    name = await ws_create(actor, claims=actor.rng.choice([(), ("c/",), ("c/", "d/")]))
    if name is not None:
        await _within(actor, name, [put, put_many])
        await _advance(actor, name, replace=actor.rng.choice([(), ("c/",), ("d/", "c/")]))


async def ws_revert(actor: Actor) -> None:
    name = _workspace(actor)
    if name is not None:
        globs = actor.rng.choice([(), *GLOBS])
        job = actor.engine.workspaces.revert(REPO, name.split("+")[1], globs)
        await actor.call("ws_revert", job, branch=name, workspace=name, globs=globs)


async def ws_drop(actor: Actor) -> None:
    name = _workspace(actor)
    if name is not None:
        job = actor.engine.workspaces.delete(REPO, name.split("+")[1])
        await actor.call("ws_drop", job, branch=name.split("+")[0], workspace=name)


async def stash(actor: Actor) -> None:
    request = WorkspaceRequest(ref=actor.branch, creator=actor.name)
    op = await actor.call("stash", actor.engine.workspaces.stash(REPO, actor.branch, request))
    if op.answer is not None:
        actor.world.workspaces.append(op.answer.name)


async def pop(actor: Actor) -> None:
    name = _workspace(actor)
    if name is not None:
        job = actor.engine.workspaces.pop(REPO, name.split("+")[1], branch=actor.branch)
        await actor.call("pop", job, workspace=name)


# what other tools wrote


async def ws_scan(actor: Actor) -> None:
    """Another tool writes below a workspace's prefix, and a scan registers the object."""
    name = _workspace(actor) or await ws_create(actor)
    if name is None:
        return
    for _ in range(actor.rng.choice([0, 1, 2])):
        path = actor.path()
        actor.world.write_below(name, path, actor.text(path))

    async def scan() -> None:
        job = actor.engine.workspaces.scan(REPO, name.split("+")[1])
        await actor.call("ws_scan", job, branch=name)

    async def late() -> None:
        await park(actor.world.scheduler.time + actor.rng.choice([0.004, 0.008]))
        path = actor.path()
        actor.world.write_below(name, path, actor.text(path))
        await scan()

    await actor.world.scheduler.gather([scan, late, late] if actor.rng.random() < 0.6 else [scan], 3)


async def feed(actor: Actor) -> None:
    """Another tool writes into its own bucket."""
    for path in actor.rng.sample(["_SUCCESS", "x", "y"], 2):
        actor.world.feed(path, None if actor.rng.random() < 0.3 else f"{actor.text(path)}fed")


async def ingest(actor: Actor) -> None:
    """A whole ingest, as the command does it: page by page into a workspace that claims the prefix."""
    await feed(actor)
    name = await ws_create(actor, claims=(INTO,))
    if name is None:
        return
    after, removals = "", actor.rng.random() < 0.7
    while True:
        amount = actor.rng.choice([1, 100])
        request = IngestRequest(source=SOURCE, prefix=INTO, removals=removals, after=after, amount=amount)
        job = actor.engine.workspaces.ingest(REPO, name.split("+")[1], request)
        op = await actor.call("ingest", job, branch=name, workspace=name, after=after, removals=removals)
        if op.answer is None:
            return
        after = op.answer.next
        if not after:
            break
    await _advance(actor, name)


def _workspace(actor: Actor) -> str | None:
    """One of the newest."""
    return actor.rng.choice(actor.world.workspaces[-2:]) if actor.world.workspaces else None
