"""Publish commits changes without staging them. Each acknowledged publish is one commit with its rows."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.keys import STAGING_PARTITIONS, branch_key
from lakebed_engine.operations.objects.stage import new_entry
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit, Entry, Rule
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_engine.vocabulary.requests import Deletion, LogRequest, Published, PublishRequest, UploadRequest

from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    LossyKV,
    chunked,
    commit,
    content,
    fails,
    history,
    losing,
    make_engine,
    new_engine,
    once,
    put,
    put_commit,
)
from tests.engine.support import run as run_job
from tests.engine.workspacing import workspace

WEEK = 7 * 24 * 3600


async def publish(engine: Engine, rows: dict[str, str | None], branch: str = "main", **options: Any) -> Published:
    """Publish texts, or deletions (None)."""
    changes = [
        Deletion(path) if text is None else (UploadRequest(path=path), once(text.encode()))
        for path, text in rows.items()
    ]
    request = PublishRequest(**{"committer": "ann", "message": "p", **options})
    return await engine.commits.publish_uploads(REPO, branch, chunked(changes), request)


async def data_keys(stores: Stores, namespace: str = "mem://lake") -> set[str]:
    return {row.key async for row in stores.open(namespace).list("data/")}


async def changes_of(engine: Engine, made: Commit) -> dict[str, str | None]:
    """What a commit changed, as texts."""
    before, after = await content(engine, made.parents[0]), await content(engine, made.id)
    return {path: after.get(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def test_objects_and_deletions_are_one_commit_and_nothing_is_staged() -> None:
    async def job() -> None:
        engine = await make_engine()
        head = await put_commit(engine, {"old": "1", "kept": "2"})
        await put(engine, "others", "staged")
        done = await publish(
            engine, {"a": "one", "old": None, "b": "two"}, message="m", metadata={"k": "v"}, date=1_600_000_000
        )
        made = done.commit
        assert [path for path, _ in done.objects] == ["a", "b"]
        assert (made.parents, made.message, made.metadata) == ((head.id,), "m", {"k": "v"})
        assert (made.committer, made.creation_date) == ("ann", 1_600_000_000)
        assert await content(engine, "main@") == {"a": "one", "b": "two", "kept": "2"}
        assert await changes_of(engine, made) == {"a": "one", "b": "two", "old": None}
        page = await engine.branches.diff(REPO, "main")
        assert [row.path for row in page.items] == ["others"]
        assert await changes_of(engine, await commit(engine)) == {"others": "staged"}

    run_job(job())


@pytest.mark.medium
@pytest.mark.parametrize("same", [False, True])
def test_racing_publishers_each_get_a_commit_of_their_own(same: bool) -> None:
    async def job() -> None:
        kv, stores = MemoryKV(), Stores(None)
        engines = [await make_engine(kv, stores), new_engine(kv, stores), new_engine(kv, stores)]
        rows = {
            number: {"same" if same else f"p/{number}": f"text {number}", f"own/{number}": "x"} for number in range(24)
        }

        async def one(number: int) -> tuple[int, Published]:
            return number, await publish(engines[number % 3], dict(rows[number]), message=f"m{number}")

        done = await asyncio.gather(*map(one, rows))
        line = await history(engines[0])
        assert len(line) == len({made.commit.id for _, made in done}) + 1
        assert {made.commit.id for _, made in done} <= {found.id for found in line}
        for number, made in done:
            assert made.commit.message == f"m{number}"
            assert await changes_of(engines[0], made.commit) == rows[number]
        if same:
            assert (await content(engines[0]))["same"] == rows[int(line[0].message[1:])]["same"]

    run_job(job())


def test_commits_of_any_size_that_land_together_keep_their_own_changes() -> None:
    """Small sets of changes are converted to rows together, large ones separately."""
    sizes = [1, 3, 64, 1, 65, 2, 2500, 7]

    async def job() -> None:
        engine = await make_engine()
        base = await put_commit(engine, {f"gone/{number}/{i}": "old" for number in range(len(sizes)) for i in range(2)})
        wanted: dict[str, dict[str, Entry | None]] = {}

        async def one(number: int) -> Commit:
            rows = {
                f"p/{number}/{i:04}": new_entry(
                    f"data/{number}/{i}", "0" * 32, i, 5, "t", {"n": f"{number}"} if i % 2 else {}
                )
                for i in range(sizes[number])
            }
            changes: list[tuple[str, Entry | None]] = [*reversed(rows.items())]
            changes += [(f"gone/{number}/0", None)] if number % 2 else []
            made = await engine.commits.publish(REPO, "main", changes, PublishRequest(committer="ann", message="p"))
            wanted[made.id] = dict(changes)
            return made

        made = await asyncio.gather(*map(one, range(len(sizes))))
        line = await history(engine)
        assert [found.id for found in line[:-2]] == [new.id for new in reversed(made)]
        assert line[-2] == base
        for new in made:
            shown: dict[str, Entry | None] = {}
            while len(shown) < len(wanted[new.id]):
                page = await engine.commits.diff(
                    REPO, new.parents[0], new.id, amount=1000, after=max(shown, default="")
                )
                shown |= {row.path: row.right for row in page.items}
                assert page.items
            assert not page.has_more
            assert shown == wanted[new.id]
            log = await engine.commits.log(REPO, "main", LogRequest(objects=[max(shown)]))
            assert [found.id for found in log.items] == [new.id]
        report = await engine.maintenance.fsck(
            REPO, FsckOptions()
        )  # whose rows have other ids than their files is corrupt
        assert (report.ok, report.problems) == (True, [])

    run_job(job())


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("count", [1, 130])
def test_publish_over_a_staged_row_is_refused(sealed: bool, count: int) -> None:
    """Whether the row is still in the token or already in a layer."""

    async def job() -> None:
        stores = Stores(None)
        engine = await make_engine(stores=stores)
        await put_commit(engine, {"p": "old"})
        await put(engine, "p", "staged")
        await put(engine, "q", "staged too")
        if sealed:
            await engine.branches.push(REPO, "main", [("z", None)])
        before = await data_keys(stores)
        rows = {"p": "mine", **{f"n/{number:03}": "x" for number in range(count)}}
        error = await fails(publish(engine, dict(rows)), errors.DirtyOverlapError)
        assert isinstance(error, errors.DirtyOverlapError)
        assert [one.path for one in error.conflicts] == ["p"]
        assert "'p'" in str(error)
        assert "q" not in str(error)
        assert await data_keys(stores) == before, "the data of a refusal is removed"
        assert await content(engine, "main@") == {"p": "old"}
        assert await content(engine) == {"p": "staged", "q": "staged too"}
        await commit(engine)
        await publish(engine, dict(rows))
        assert (await content(engine, "main@"))["p"] == "mine"

    run_job(job())


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("count", [0, 1100])
def test_a_refusal_names_what_was_staged_at_one_moment(sealed: bool, count: int) -> None:
    """Another writer takes back its change of one path and stages another one, at each of the reads in turn."""

    async def told_when_changed_at(number: int) -> tuple[list[str], bool]:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        rival = new_engine(kv.inner, engine.context.stores)
        await put(engine, "a", "staged")
        if sealed:
            await engine.branches.push(REPO, "main", [("z", None)])
        left = number

        async def before(name: str, what: Any) -> None:
            nonlocal left
            if name in {"get", "get_many"} and what[0].startswith(STAGING_PARTITIONS):
                left -= 1
                if left == 0:
                    await rival.branches.reset_object(REPO, "main", "a")
                    await put(rival, "b", "staged")

        kv.before = before
        rows: dict[str, str | None] = {"a": "mine", "b": "mine", **{f"n/{one:04}": "x" for one in range(count)}}
        error = await fails(publish(engine, rows), errors.DirtyOverlapError)
        return [one.path for one in error.conflicts], left <= 0  # type: ignore[attr-defined]

    async def job() -> None:
        shown: list[str] = []
        changed, number = True, 0
        while changed:
            number += 1
            shown, changed = await told_when_changed_at(number)
            assert shown in (["a"], ["a", "b"] if sealed else ["b"])  # a sealed row is hidden by a newer one
        assert number > 2
        assert shown == ["a"], "nothing was changed in between"

    run_job(job())


@pytest.mark.parametrize(("count", "marked"), [(1, False), (1, True), (130, False)])
def test_a_row_staged_during_the_commit_blocks_it(count: int, marked: bool) -> None:
    """`marked`: the token has had rows before."""

    async def job() -> None:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        rival = new_engine(kv.inner, engine.context.stores)
        if marked:
            await put(engine, "q", "other")
        staged = False

        async def before(name: str, what: Any) -> None:
            nonlocal staged
            if name == "apply" and not staged and any(one.key == branch_key("main") for one in what.puts):
                staged = True
                await put(rival, "p", "staged")

        kv.before = before
        rows = {"p": "mine", **{f"n/{number:03}": "x" for number in range(count)}}
        error = await fails(publish(engine, dict(rows)), errors.DirtyOverlapError)
        kv.before = None
        assert staged
        assert [one.path for one in error.conflicts] == ["p"]  # type: ignore[attr-defined]
        assert await content(engine, "main@") == {}
        assert await content(engine) == {"p": "staged", **({"q": "other"} if marked else {})}

    run_job(job())


def test_publishing_the_same_content_is_no_change() -> None:
    async def job() -> None:
        stores = Stores(None)
        engine = await make_engine(stores=stores)
        await put_commit(engine, {"a": "1"})
        before = await data_keys(stores)
        for rows in ({"a": "1"}, {"none": None}, {}):
            await fails(publish(engine, dict(rows)), errors.NoChangesError)
        assert await data_keys(stores) == before
        made = (await publish(engine, {"a": "1"}, allow_empty=True)).commit
        assert await changes_of(engine, made) == {}
        assert len(await history(engine)) == 3

    run_job(job())


def test_the_answer_names_the_data_that_the_commit_names() -> None:
    """An unchanged object keeps its address, and the unneeded new data is removed."""

    async def job() -> None:
        stores = Stores(None)
        engine = await make_engine(stores=stores)
        await put_commit(engine, {"a": "1"})
        kept = await engine.objects.stat(REPO, "main", "a")
        before = await data_keys(stores)
        done = await publish(engine, {"a": "1", "b": "2"})
        shown = dict(done.objects)
        assert shown["a"].entry.physical_address == kept.physical_address
        assert await data_keys(stores) == before | {shown["b"].entry.physical_address}
        again = await publish(engine, {"a": "1"}, allow_empty=True)
        assert dict(again.objects)["a"].entry.physical_address == kept.physical_address
        assert await data_keys(stores) == before | {shown["b"].entry.physical_address}
        assert await content(engine) == {"a": "1", "b": "2"}

    run_job(job())


def test_a_key_commits_once() -> None:
    """Also by another server on the same store, and when the branch has moved since."""

    async def job() -> None:
        kv, stores = MemoryKV(), Stores(None)
        engine, other = await make_engine(kv, stores), new_engine(kv, stores)
        rows = {"a": "1", "gone": None, "b": "2"}
        first = await publish(engine, dict(rows), idempotency_key="k")
        await put_commit(engine, {"a": "later"})
        await put(engine, "b", "staged")
        before = await data_keys(stores)
        for one in (engine, other):
            again = await publish(one, dict(rows), idempotency_key="k")
            assert again.commit == first.commit
            assert again.objects == first.objects
        assert await data_keys(stores) == before, "what was uploaded again is removed, and nothing else"
        assert await content(engine, first.commit.id) == {"a": "1", "b": "2"}
        assert len(await history(engine)) == 3
        for changed in (
            {"rows": {"a": "other", "gone": None, "b": "2"}},
            {"rows": {"a": "1", "b": "2"}},
            {"message": "another"},
            {"metadata": {"k": "v"}},
        ):
            options: dict[str, Any] = {"rows": rows, "message": "p", **changed}
            error = await fails(
                publish(other, dict(options.pop("rows")), idempotency_key="k", **options), errors.KeyReusedError
            )
            assert "'k'" in str(error)
        assert await data_keys(stores) == before
        assert len(await history(engine)) == 3
        await engine.branches.create(REPO, "dev", "main@")
        there = await publish(engine, dict(rows), "dev", idempotency_key="k")
        assert there.commit.id != first.commit.id, "a key is one of its branch"

    run_job(job())


def test_concurrent_publishes_with_one_key_commit_once() -> None:
    async def job() -> None:
        kv, stores = MemoryKV(), Stores(None)
        engines = [await make_engine(kv, stores), new_engine(kv, stores)]
        jobs = [publish(engines[number % 2], {"a": "1"}, idempotency_key="k") for number in range(8)]
        done = await asyncio.gather(*jobs)
        assert len({one.commit.id for one in done}) == 1
        assert len(await history(engines[0])) == 2
        assert await data_keys(stores) == {done[0].objects[0][1].entry.physical_address}
        assert {one.objects[0][1].entry.physical_address for one in done} == await data_keys(stores)
        assert await content(engines[1]) == {"a": "1"}

    run_job(job())


def test_the_janitor_forgets_a_key_after_a_week() -> None:
    async def job() -> None:
        clock, kv = FakeClock(), MemoryKV()
        engine = await make_engine(kv, clock=clock)
        first = await publish(engine, {"a": "1"}, idempotency_key="k")
        keys = await rows_of(engine, b"task-key/")
        assert len(keys) == 1
        clock.forward(WEEK - 1)
        await engine.maintenance.clean()
        assert await rows_of(engine, b"task-key/") == keys
        assert (await publish(engine, {"a": "1"}, idempotency_key="k")).commit == first.commit
        clock.forward(2)
        await engine.maintenance.clean()
        assert await rows_of(engine, b"task-key/") == []
        assert await rows_of(engine, b"task/") == []
        assert (await publish(engine, {"a": "2"}, idempotency_key="k")).commit.id != first.commit.id

    run_job(job())


@pytest.mark.parametrize("empty", [False, True])
def test_a_key_that_0_1_0_wrote_is_known(empty: bool) -> None:
    async def job() -> None:
        clock, kv = FakeClock(), MemoryKV()
        engine = await make_engine(kv, clock=clock)
        first = await publish(engine, {"a": "1"}, message="p")
        record = await engine.branches.get(REPO, "main")
        request = PublishRequest(committer="ann", message="p", idempotency_key="k", allow_empty=empty)
        digest = hashlib.sha256(msgspec.json.encode(request, order="deterministic"))
        (entry,) = [found.entry for _, found in first.objects]
        digest.update(msgspec.json.encode(("a", entry.identity.hex())))
        (partition,) = [one for one in await kv.partitions() if one.startswith("repo/")]
        name = f"{record.uid}/{hashlib.sha256(b'k').hexdigest()}"
        done = {"commit_id": first.commit.id, "asked": digest.hexdigest()}
        due = f"due/{int(clock.now()) + WEEK:012d}/{name.replace('/', '.')}"
        rows = {f"idempotency/{name}": msgspec.json.encode(done), due: b""}
        await kv.apply(Batch(puts=[Put(partition, key.encode(), value) for key, value in rows.items()]))

        again = await engine.commits.publish(REPO, "main", [("a", entry)], request)
        assert again == first.commit
        other = msgspec.structs.replace(request, message="another", allow_empty=True)
        await fails(engine.commits.publish(REPO, "main", [("a", entry)], other), errors.KeyReusedError)
        assert len(await history(engine)) == 2
        clock.forward(WEEK + 1)
        await engine.maintenance.clean()
        assert await rows_of(engine, b"idempotency/") == await rows_of(engine, b"due/") == []

    run_job(job())


async def rows_of(engine: Engine, prefix: bytes) -> list[bytes]:
    (name,) = [one for one in await engine.context.kv.partitions() if one.startswith("repo/")]
    return [row.key for row in await engine.context.kv.scan(name, prefix, prefix[:-1] + b"0")]


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("rival", [False, True])
def test_publish_settles_a_lost_answer(how: str, rival: bool) -> None:
    """Other commits follow before the SDK can check the outcome."""

    async def job() -> None:
        kv = LossyKV(MemoryKV(), lambda _: "")
        engine = await make_engine(kv)
        other = new_engine(kv.inner, engine.context.stores)
        await put_commit(engine, {"a": "0"})

        def lose(batch: Batch) -> str:
            return how if not kv.lost and any(one.key == branch_key("main") for one in batch.puts) else ""

        async def hook(*_: Any) -> None:
            if kv.lost and rival and len(await history(other)) < 4:
                await publish(other, {f"rival/{len(await history(other))}": "x"})

        kv.lose, kv.before = lose, hook
        made = (await publish(engine, {"a": "mine"})).commit
        kv.before = None
        assert kv.lost == 1
        line = await history(engine)
        assert [one.id for one in line].count(made.id) == 1
        assert [one.message for one in line].count("p") == len(line) - 2
        assert await changes_of(engine, made) == {"a": "mine"}

    run_job(job())


@pytest.mark.medium
@pytest.mark.parametrize("seed", range(12))
def test_outcomes_are_true_with_many_lost_answers(seed: int) -> None:
    """Acknowledged: in history once, with its rows. Refused: in none. Unknown: asked again by the key, once at most."""

    async def job() -> None:
        source = random.Random(seed)
        kv, stores = LossyKV(MemoryKV(), lambda _: ""), Stores(None)
        engine = await make_engine(kv, stores)
        engines = [engine, new_engine(kv, stores)]
        await put_commit(engine, {"a": "0"})
        kv.lose = losing(source, 0.3)
        outcomes: dict[str, Commit | Exception] = {}

        async def one(number: int) -> None:
            name = f"m{number}"
            for _ in range(5):
                try:
                    done = await publish(
                        engines[number % 2], {f"p/{number}": name, "all": name}, message=name, idempotency_key=name
                    )
                except errors.OutcomeUnknownError as error:
                    outcomes[name] = error
                except errors.EngineError as error:
                    outcomes[name] = error
                    return
                else:
                    outcomes[name] = done.commit
                    return

        await asyncio.gather(*map(one, range(10)))
        kv.lose = lambda _: ""
        line = await history(engine)
        for name, outcome in outcomes.items():
            there = [found for found in line if found.message == name]
            if isinstance(outcome, Commit):
                assert [found.id for found in there] == [outcome.id]
                number = name[1:]
                assert await changes_of(engine, outcome) == {f"p/{number}": name, "all": name}
            else:
                assert len(there) <= (1 if isinstance(outcome, errors.OutcomeUnknownError) else 0)
        assert sum(isinstance(one, Commit) for one in outcomes.values()) >= 5
        for found in line:
            await content(engine, found.id)  # no data of an unknown outcome was removed

    run_job(job())


def test_data_is_kept_when_the_outcome_is_unknown() -> None:
    async def job() -> None:
        kv, stores = LossyKV(MemoryKV(), lambda _: ""), Stores(None)
        engine = await make_engine(kv, stores)
        fallen = False

        def lose(batch: Batch) -> str:
            nonlocal fallen
            if fallen:
                return "before"
            fallen = any(one.key == branch_key("main") for one in batch.puts)
            return "after" if fallen else ""

        async def silent(name: str, _: Any) -> None:
            if fallen and name != "apply":
                raise errors.StoreUnavailableError("the store is silent")

        kv.lose, kv.before = lose, silent
        await fails(publish(engine, {"a": "1"}, idempotency_key="k"), errors.OutcomeUnknownError)
        kv.lose, kv.before, fallen = (lambda _: ""), None, False
        assert await content(engine) == {"a": "1"}
        done = await publish(engine, {"a": "1"}, idempotency_key="k")
        assert (await history(engine))[0].id == done.commit.id
        assert len(await history(engine)) == 2

    run_job(job())


def test_publish_to_a_recreated_branch_is_refused() -> None:
    async def job() -> None:
        kv, stores = HookedKV(MemoryKV()), Stores(None)
        engine = await make_engine(kv, stores)
        other = new_engine(kv.inner, stores)
        await engine.branches.create(REPO, "dev", "main")
        replaced = False

        async def before(name: str, what: Any) -> None:
            nonlocal replaced
            if name == "apply" and not replaced and any(one.key == branch_key("dev") for one in what.puts):
                replaced = True
                await other.branches.delete(REPO, "dev")
                await other.branches.create(REPO, "dev", "main")

        kv.before = before
        await fails(publish(engine, {"a": "1"}, "dev"), errors.BranchNotFoundError)
        kv.before = None
        assert replaced
        assert await content(engine, "dev") == {}
        assert await data_keys(stores) == set()

    run_job(job())


def test_more_than_a_hundred_paths_and_up_to_ten_thousand() -> None:
    async def job() -> None:
        stores = Stores(None)
        engine = await make_engine(stores=stores)
        rows: dict[str, str | None] = {f"n/{number:04}": str(number) for number in range(300)}
        done = await publish(engine, rows)
        assert await content(engine, "main@") == rows
        assert [path for path, _ in done.objects] == list(rows)
        before = await data_keys(stores)
        many: dict[str, str | None] = {str(number): None for number in range(10_001)}
        await fails(publish(engine, many), errors.InvalidRequestError)
        assert await data_keys(stores) == before

    run_job(job())


Job = Callable[[Engine], Awaitable[object]]
REFUSED: dict[str, tuple[Job, type[errors.EngineError]]] = {
    "repository": (
        lambda e: e.commits.publish_uploads("none", "main", chunked([]), PublishRequest(committer="a")),
        errors.RepositoryNotFoundError,
    ),
    "branch": (lambda e: publish(e, {"a": "1"}, "none"), errors.BranchNotFoundError),
    "read-only": (
        lambda e: e.commits.publish_uploads("frozen", "main", chunked([]), PublishRequest(committer="a")),
        errors.ReadOnlyRepositoryError,
    ),
    "protected": (lambda e: publish(e, {"a": "1"}, "released"), errors.ProtectedBranchError),
    "path": (lambda e: publish(e, {"": "1"}), errors.InvalidPathError),
    "key": (lambda e: publish(e, {"a": "1"}, idempotency_key="k" * 257), errors.InvalidRequestError),
    "date": (lambda e: publish(e, {"a": "1"}, date=2**63), errors.InvalidRequestError),
    "text": (lambda e: publish(e, {"a": "1"}, message="\ud800"), errors.InvalidRequestError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_publish_leaves_no_data(name: str) -> None:
    async def job() -> None:
        stores = Stores(None)
        engine = await make_engine(stores=stores)
        await engine.branches.create(REPO, "released", "main")
        await engine.protection.replace(REPO, [Rule("rel*")])
        await engine.repositories.create("frozen", "mem://frozen", read_only=True)
        ask, kind = REFUSED[name]
        await fails(ask(engine), kind)
        assert await data_keys(stores) == set()
        assert len(await history(engine)) == 1

    run_job(job())


def test_a_workspace_cannot_be_published_to() -> None:
    async def job() -> None:
        engine = await make_engine()
        opened = await workspace(engine)
        error = await fails(publish(engine, {"a": "1"}, opened.name), errors.BranchNotFoundError)
        assert opened.name in str(error)

    run_job(job())
