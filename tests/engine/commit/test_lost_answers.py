"""One lost response at a time, with the worst possible event before the outcome is known."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.requests import UploadRequest

from tests.engine.support import (
    REPO,
    FakeClock,
    LossyKV,
    chunked,
    commit,
    content,
    fails,
    history,
    make_engine,
    merge,
    once,
    put,
    put_commit,
)

GRACE = 100.0

Rival = Callable[[Engine], Awaitable[object]]


async def lossy(how: str, at: int, rival: Rival, **options: Any) -> tuple[Engine, LossyKV]:
    """An engine that loses the answer of its `at`-th batch; then the rival acts, before the next call."""
    count = 0

    def lose(_: Batch) -> str:
        nonlocal count
        if kv._inside:
            return ""
        count += 1
        return how if count == at else ""

    kv = LossyKV(MemoryKV(), lambda _: "")
    engine = await make_engine(kv, Stores(None), **options)
    await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    acted = False

    async def hook(*_: Any) -> None:
        nonlocal acted
        if kv.lost and not acted:
            acted = True
            await rival(engine)

    kv.before, kv.lose = hook, lose
    return engine, kv


async def overwrite_and_commit(engine: Engine) -> None:
    await commit(engine, branch="dev")
    await put(engine, "p", "rival", "dev")
    await commit(engine, branch="dev")


async def only_overwrite(engine: Engine) -> None:
    await put(engine, "p", "rival", "dev")


async def delete_and_put(engine: Engine) -> None:
    await engine.objects.delete(REPO, "dev", "p")


async def publish_and_delete_branch(engine: Engine) -> None:
    await commit(engine, branch="dev")
    await merge(engine, "dev")
    await engine.branches.delete(REPO, "dev")


async def readable(engine: Engine) -> None:
    """The data of every entry of every commit of main is there."""
    for one in await history(engine):
        await content(engine, one.id)


@pytest.mark.parametrize("rival", [overwrite_and_commit, only_overwrite, delete_and_put])
async def test_an_applied_conditional_write_is_a_success(rival: Rival) -> None:
    engine, kv = await lossy("after", 1, rival)
    entry = await put(engine, "p", "mine", "dev", if_none_match=True)
    kv.before = None
    async with engine.objects.open(REPO, entry) as chunks:
        assert [chunk async for chunk in chunks] == [b"mine"]
    for ref in ("dev", "dev~1", "dev~0"):
        await content(engine, ref)


async def test_an_unapplied_conditional_write_is_retried_or_refused() -> None:
    async def nothing(_: Engine) -> None:
        return

    engine, kv = await lossy("before", 1, nothing)
    await put(engine, "p", "mine", "dev", if_none_match=True)
    assert kv.lost == 1
    engine, kv = await lossy("before", 1, only_overwrite)
    await fails(put(engine, "p", "mine", "dev", if_none_match=True), errors.PreconditionFailedError)
    kv.before = None
    assert (await content(engine, "dev"))["p"] == "rival"


async def nothing_more(_: Engine) -> None:
    return


async def overwrite_what_landed(engine: Engine) -> None:
    """A conditional write that saw what landed: nothing may come over it that it did not see."""
    await put(engine, "p", "rival", "dev", if_match=hashlib.md5(b"mine").hexdigest())


async def create_again(engine: Engine) -> None:
    """The same of a delete."""
    await put(engine, "p", "rival", "dev", if_none_match=True)


async def written(engine: Engine, verb: str) -> None:
    match verb:
        case "put":
            await put(engine, "p", "mine", "dev")
        case "many":
            await engine.objects.upload_many(REPO, "dev", chunked([(UploadRequest(path="p"), once(b"mine"))]))
        case "delete":
            await engine.objects.delete(REPO, "dev", "p")
        case _:
            await engine.objects.delete_many(REPO, "dev", ["p"])


@pytest.mark.parametrize("verb", ["put", "many"])
async def test_an_applied_write_never_undoes_later_writes(verb: str) -> None:
    """Found by the histories: a write was read, replaced under If-Match, and reappeared."""
    engine, kv = await lossy("after", 1, overwrite_what_landed)
    await fails(written(engine, verb), errors.OutcomeUnknownError)
    kv.before = None
    assert (await content(engine, "dev"))["p"] == "rival"


@pytest.mark.parametrize("verb", ["delete", "delete many"])
async def test_an_applied_delete_never_undoes_later_writes(verb: str) -> None:
    engine, kv = await lossy("after", 1, create_again)
    await fails(written(engine, verb), errors.OutcomeUnknownError)
    kv.before = None
    assert (await content(engine, "dev"))["p"] == "rival"


@pytest.mark.parametrize("verb", ["put", "many", "delete", "delete many"])
@pytest.mark.parametrize("how", ["before", "after"])
async def test_write_with_a_lost_answer_is_done_once(verb: str, how: str) -> None:
    engine, kv = await lossy(how, 1, nothing_more)
    lose = kv.lose
    landed: list[bytes] = []

    def watched(batch: Batch) -> str:
        answer = lose(batch)
        landed.extend(one.key for one in batch.puts if answer != "before")
        return answer

    kv.lose = watched
    await written(engine, verb)
    assert landed.count(b"p") == 1
    assert (await content(engine, "dev")).get("p") == ("mine" if verb in ("put", "many") else None)


async def test_an_applied_and_committed_write_is_a_success() -> None:
    engine, kv = await lossy("after", 1, overwrite_and_commit)
    await put(engine, "p", "mine", "dev")
    kv.before = None
    assert [(await content(engine, ref))["p"] for ref in ("dev", "dev~1")] == ["rival", "mine"]


async def test_an_overwritten_or_unapplied_write_is_unknown() -> None:
    """The two cases cannot be distinguished. A second write, or a success, would be wrong in one of them."""
    engine, kv = await lossy("before", 1, only_overwrite)
    await fails(put(engine, "p", "mine", "dev"), errors.OutcomeUnknownError)
    kv.before = None
    assert (await content(engine, "dev"))["p"] == "rival"


async def test_a_write_that_took_too_long_to_settle_is_unknown() -> None:
    """The cleaner may have removed the rows of the old record, so missing rows prove nothing."""
    clock = FakeClock()

    async def pause(_: Engine) -> None:
        clock.forward(GRACE)

    engine, _ = await lossy("before", 1, pause, clock=clock, cleanup_grace=GRACE)
    await fails(put(engine, "p", "mine", "dev"), errors.OutcomeUnknownError)


@pytest.mark.parametrize("many", [False, True])
async def test_data_is_kept_when_the_row_may_be_in_history(many: bool) -> None:
    """The answer is lost, the row committed and merged, its branch deleted: the retry fails, the data must stay."""
    engine, kv = await lossy("after", 1, publish_and_delete_branch)
    if many:
        change = UploadRequest(path="p"), once(b"mine")
        await fails(engine.objects.upload_many(REPO, "dev", chunked([change])), errors.OutcomeUnknownError)
    else:
        await fails(put(engine, "p", "mine", "dev"), errors.OutcomeUnknownError)
    kv.before = None
    assert await content(engine) == {"a": "1", "p": "mine"}
    await readable(engine)


@pytest.mark.parametrize("many", [False, True])
async def test_data_is_kept_when_a_caller_leaves_while_the_row_lands(many: bool) -> None:
    async def job() -> None:
        class Slow(LossyKV):
            landed = asyncio.Event()

            async def apply(self, batch: Batch) -> int:
                version = await super().apply(batch)
                if self.lost:
                    self.landed.set()
                    await asyncio.sleep(60)
                return version

        kv = Slow(MemoryKV(), lambda _: "")
        engine = await make_engine(kv)
        kv.lost = 1
        upload = UploadRequest(path="p")
        body: AsyncIterator[bytes] = once(b"mine")
        job: Awaitable[object] = (
            engine.objects.upload_many(REPO, "main", chunked([(upload, body)]))
            if many
            else engine.objects.upload(REPO, "main", upload, body)
        )
        task = asyncio.ensure_future(job)
        await kv.landed.wait()
        task.cancel()
        await fails(task, asyncio.CancelledError)
        kv.lost = 0
        await commit(engine)
        assert await content(engine) == {"p": "mine"}

    await job()


@pytest.mark.parametrize("at", [1, 2])  # the seal, the swap
@pytest.mark.parametrize("rival", ["nothing", "reset", "commit", "write"])
async def test_an_applied_commit_is_acknowledged_once(at: int, rival: str) -> None:
    async def act(engine: Engine) -> None:
        if rival == "reset":
            await engine.branches.reset(REPO, "main")
        elif rival == "commit":
            await put_commit(engine, {"c": "rival"})
        elif rival == "write":
            await put(engine, "c", "rival")

    engine, kv = await lossy("after", at, act)
    kv.lose, lose = lambda _: "", kv.lose
    await put(engine, "b", "2")
    kv.lose = lose
    try:
        made = await commit(engine)
    except errors.NoChangesError:
        assert at == 1
        assert rival in ("reset", "commit")
        made = await engine.commits.get(REPO, "main")
    kv.before = None
    found = [one.id for one in await history(engine)]
    assert made.id in found
    assert len(found) == (3 + (rival == "commit" and at == 2) if not (rival == "reset" and at == 1) else 2)
    if at == 2:
        assert (await content(engine, made.id))["b"] == "2"


@pytest.mark.parametrize("at", [1, 2])
async def test_an_unapplied_commit_is_repeated(at: int) -> None:
    async def job(rival: str) -> None:
        async def act(engine: Engine) -> None:
            if rival:
                await put_commit(engine, {"c": "rival"})

        engine, kv = await lossy("before", at, act)
        kv.lose, lose = lambda _: "", kv.lose
        await put(engine, "b", "2")
        kv.lose = lose
        if rival:  # the record moved on: the lost swap can land no more
            try:
                await commit(engine)
            except errors.NoChangesError:
                pass  # the rival's commit took what was staged
        else:
            await commit(engine)  # the same batch again: its check lets it land only once
        kv.before = None
        assert (await content(engine, "main@"))["b"] == "2"

    await job("rival")
    await job("")


VERBS: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "create branch": lambda e: e.branches.create(REPO, "new", "main"),
    "create tag": lambda e: e.tags.create(REPO, "new", "main"),
    "delete branch": lambda e: e.branches.delete(REPO, "dev"),
    "reset": lambda e: e.branches.reset(REPO, "dev"),
    "merge": lambda e: e.commits.merge(REPO, "main", "dev", _merge()),
}


def _merge() -> Any:
    from lakebed_engine.vocabulary.requests import MergeRequest

    return MergeRequest(committer="ann", allow_empty=True)


@pytest.mark.parametrize("verb", VERBS)
async def test_an_applied_batch_is_a_success_of_every_verb(verb: str) -> None:
    async def nothing(_: Engine) -> None:
        return

    engine, kv = await lossy("after", 1, nothing)
    await VERBS[verb](engine)
    assert kv.lost == 1
    engine, kv = await lossy("before", 1, nothing)
    await VERBS[verb](engine)
    assert kv.lost == 1
    engine, kv = await lossy("before", 1, nothing)
    kv.lose = lambda _: "before"
    await fails(VERBS[verb](engine), errors.OutcomeUnknownError)


async def test_a_tag_deleted_with_a_lost_answer() -> None:
    async def nothing(_: Engine) -> None:
        return

    engine, kv = await lossy("after", 2, nothing)
    await engine.tags.create(REPO, "t", "main")
    await engine.tags.delete(REPO, "t")
    assert kv.lost == 1
    await fails(engine.tags.get(REPO, "t"), errors.TagNotFoundError)
