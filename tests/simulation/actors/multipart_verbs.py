"""Uploads in parts: begun, sent, copied, completed by several callers concurrently, aborted."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lakebed_engine.operations.multipart.records import decode_upload, key_of, target_of
from lakebed_engine.vocabulary.direct_writes import SentPart
from lakebed_engine.vocabulary.multipart import Target
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import UploadRequest

from tests.simulation.actors.actors import Actor, chunks
from tests.simulation.checks.history import Op
from tests.simulation.checks.multiparts import COMPLETE, LIFETIME, etag_of, identity_of
from tests.simulation.world.scheduler import TICK, park
from tests.simulation.world.world import REPO


@dataclass
class Sent:
    """What callers know of an upload: its parts by number, as they were acknowledged, the newest last."""

    target: Target
    parts: dict[int, list[str]] = field(default_factory=dict)
    reported: list[dict[int, str]] = field(default_factory=list)
    """Choices of parts with which actors complete it."""


async def whole(actor: Actor) -> None:
    """An object in parts from its beginning to its end."""
    request = UploadRequest(path=actor.path())
    op = await actor.call("mp_begin", actor.engine.multipart.create(REPO, actor.branch, request))
    if op.answer is None:
        return
    sent = Sent(target_of(op.answer))
    actor.world.uploads.append(sent)
    for _ in range(actor.rng.choice([1, 2, 2, 3])):
        await _some_part(actor, sent)
    if actor.rng.random() < 0.2:
        await park(actor.world.scheduler.time + actor.rng.choice([0.1, LIFETIME, LIFETIME + 1]))
    await _end(actor, sent)


async def join(actor: Actor) -> None:
    """Use an upload of another actor, as a client does that retries, or as two clients that share an upload."""
    if not actor.world.uploads:
        await whole(actor)
        return
    sent = actor.rng.choice(actor.world.uploads[-2:])
    if actor.rng.random() < 0.3:
        await _some_part(actor, sent)
    else:
        await _end(actor, sent)


async def _some_part(actor: Actor, sent: Sent) -> None:
    number = actor.rng.choice([1, 1, 2, 3])
    if actor.rng.random() < 0.25:
        await _copy(actor, sent, number)
        return
    text = f"{actor.name[-1]}.{actor._calls}.{number};"
    job = actor.engine.multipart.put_part(REPO, sent.target, number, len(text), chunks(text))
    await _part(actor, sent, "mp_part", job, number, text)


async def _copy(actor: Actor, sent: Sent, number: int) -> None:
    path = actor.path()
    op = await actor.call("read", actor.engine.objects.stat(REPO, actor.branch, path), path=path)
    entry: Entry | None = op.answer
    if entry is None or not entry.size:
        return
    start = actor.rng.randrange(entry.size)
    length = actor.rng.randrange(entry.size - start) + 1
    text = actor.world.contents.need(entry.physical_address)[start : start + length].decode()
    job = actor.engine.multipart.copy_part(REPO, sent.target, number, REPO, entry, (start, length))
    await _part(actor, sent, "mp_copy", job, number, text)


async def _part(actor: Actor, sent: Sent, kind: str, job: Awaitable[Any], number: int, text: str) -> None:
    op = await actor.call(kind, job, upload=sent.target.id, number=number, etag=etag_of(text))
    if op.outcome == "ok":
        sent.parts.setdefault(number, []).append(text)


async def _end(actor: Actor, sent: Sent) -> None:
    if not sent.parts or actor.rng.random() < 0.15:
        await _abort(actor, sent)
        return
    texts = _choice(actor, sent)
    expected = await _expected(actor, sent) if actor.rng.random() < 0.3 else {}
    if actor.rng.random() < 0.6:  # at the same moment, as a client does whose answer was late
        own = partial(_complete, actor, sent, texts, expected)
        rival = partial(_late_abort, actor, sent) if actor.rng.random() < 0.5 else own
        await actor.world.scheduler.gather([own, rival, own], 3)
        return
    for _ in range(3):
        op = await _complete(actor, sent, texts, expected)
        if op.outcome == "refused" or (op.outcome == "ok" and actor.rng.random() < 0.8):
            return


def _choice(actor: Actor, sent: Sent) -> dict[int, str]:
    """Parts to complete it with: mostly the choice of another actor."""
    if sent.reported and actor.rng.random() < 0.7:
        return actor.rng.choice(sent.reported)
    texts = {number: actor.rng.choice(given[-2:]) for number, given in sorted(sent.parts.items())}
    if len(texts) > 1 and actor.rng.random() < 0.2:
        texts.pop(actor.rng.choice(list(texts)))
    sent.reported.append(texts)
    return texts


async def _expected(actor: Actor, sent: Sent) -> dict[str, Any]:
    """The condition that the path holds what it holds now."""
    path = sent.target.path
    found = await actor.call("read", actor.engine.objects.stat(REPO, actor.branch, path), path=path)
    seen: Entry | None = found.answer
    return {"expected": None if seen is None else seen.identity, "etag": seen.etag if seen else None}


async def _abort(actor: Actor, sent: Sent) -> Op:
    job = actor.engine.multipart.abort(REPO, sent.target)
    return await actor.call("mp_abort", job, upload=sent.target.id)


async def _late_abort(actor: Actor, sent: Sent) -> Op:
    """Once its completion is under way, if it comes to that soon; some steps later, and it may be over."""
    scheduler, contents = actor.world.scheduler, actor.world.contents
    patience, later = actor.rng.choice([0, 60, 60]), actor.rng.randrange(12)
    for _ in range(patience):
        row = contents.rows(contents.partition).get(key_of(sent.target))
        if row is None or decode_upload(row.value).plan:
            await park(scheduler.time + later * TICK)
            break
        await park(scheduler.time + TICK)
    return await _abort(actor, sent)


async def _complete(actor: Actor, sent: Sent, texts: dict[int, str], expected: dict[str, Any]) -> Op:
    target, reported = sent.target, tuple((number, etag_of(text)) for number, text in texts.items())
    conditions: dict[str, Any] = {}
    if expected:
        conditions = {"if_none_match": expected["etag"] is None, "if_match": expected["etag"]}
    parts = [SentPart(number, etag) for number, etag in reported]
    job = actor.engine.multipart.complete(REPO, target, parts, **conditions)
    rows = {target.path: identity_of([*texts.values()])}
    args: dict[str, Any] = {"content": "".join(texts.values()), "texts": tuple(texts.values())}
    args |= {"reported": reported, "path": target.path, **expected}
    return await actor.call(COMPLETE, job, rows, upload=target.id, **args)
