"""Reverts, cherry-picks, hard resets, merges by rules and protected branches: both doors against a real server."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from lakebed import errors
from lakebed.model import ProtectionRules

from tests.sdk.doors import Door
from tests.sdk.live import KEY, SECRET, Proxy, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def live(door: Door, endpoint: str) -> Any:
    """Run a body with a fresh repository through one of the doors; with a proxy in front of the server if given."""

    def run(body: Any, at: str = endpoint) -> None:
        async def with_repository(lake: Any) -> None:
            name = f"r{uuid.uuid4().hex[:12]}"
            await body(await lake.repository(name).create(f"local://{name}"))

        door.run(with_repository, endpoint=at, key=KEY, secret=SECRET, quick=False)

    return run


async def put_commit(branch: Any, rows: dict[str, bytes], message: str = "c", **options: Any) -> Any:
    await branch.put_many(rows)
    return await branch.commit(message, **options)


def test_revert_and_cherry_pick(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await put_commit(main, {"a": b"1"})
        bad = await put_commit(main, {"a": b"2"}, "bad")
        made = await main.revert("main", metadata={"why": "x"})
        assert await main.get("a") == b"1"
        assert (made.parents, made.message, made.metadata) == ((bad.id,), f"Revert {bad.short_id}: bad", {"why": "x"})
        assert made.operation_id
        with pytest.raises(errors.NothingToCommitError):
            await main.revert(bad.id)
        assert (await main.revert(bad.id, "again", allow_empty=True)).message == "again"
        dev = await repo.branch("dev").create("main")
        origin = await put_commit(dev, {"d": b"1"}, "on dev", metadata={"k": "v"})
        picked = await main.cherry_pick(dev)
        assert await main.get("d") == b"1"
        assert picked.message == "on dev"
        assert picked.metadata["k"] == "v"
        assert picked.metadata["cherry-pick-origin"] == origin.id
        assert picked.operation_id not in (None, origin.operation_id)
        await dev.put("d", b"2")
        with pytest.raises(errors.DirtyBranchError):
            await dev.cherry_pick(bad)
        await dev.commit("more")
        with pytest.raises(errors.MergeConflictError) as caught:
            await dev.revert(origin.id)
        assert caught.value.paths == ("d",)
        merge = await dev.merge_into("main", strategy="theirs")
        with pytest.raises(errors.InvalidRequestError) as refused:
            await main.revert(merge.commit_id)
        assert refused.value.kind == "parent_required"
        await main.revert(merge.commit_id, parent=1)
        assert await main.get("d") == b"1"

    live(body)


def test_hard_reset(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        first = await put_commit(main, {"a": b"1"})
        second = await put_commit(main, {"a": b"2"})
        await main.hard_reset("main~1")
        assert (await main.info()).commit_id == first.id
        assert await repo.ref(second.id).get("a") == b"2"
        await main.put("a", b"3")
        with pytest.raises(errors.DirtyBranchError):
            await main.hard_reset(repo.ref(second.id))
        with pytest.raises(errors.ReadOnlyRefError):
            await repo.tag("t").hard_reset("main")

    live(body)


def test_a_merge_that_resolves_path_by_path(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await put_commit(main, {"orders/1": b"0", "users/1": b"0", "top": b"0"})
        dev = await repo.branch("dev").create("main")
        await put_commit(dev, {"orders/1": b"s", "users/1": b"s", "top": b"s"})
        await put_commit(main, {"orders/1": b"d", "users/1": b"d", "top": b"d"})
        with pytest.raises(errors.MergeConflictError) as caught:
            await dev.merge_into(main, resolve={"orders/**": "source", "users/**": "ours"})
        assert caught.value.paths == ("top",)
        with pytest.raises(errors.InvalidRequestError):
            await dev.merge_into(main, resolve={"*": "mine"})
        await dev.merge_into(main, resolve={"orders/**": "theirs", "*": "dest"})
        assert [await main.get(path) for path in ("orders/1", "users/1", "top")] == [b"s", b"d", b"d"]

    live(body)


def test_protected_branches(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await put_commit(main, {"a": b"1"})
        assert await repo.protection() == ProtectionRules(())
        await repo.set_protection(["main", "release-*"], replaces=ProtectionRules(()))
        rules = await repo.protection()
        assert rules.patterns == ("main", "release-*")
        with pytest.raises(errors.PreconditionFailedError):
            await repo.set_protection([], replaces=ProtectionRules(()))
        for verb in (main.put("b", b"1"), main.delete("a"), main.commit("x", allow_empty=True), main.reset()):
            with pytest.raises(errors.PermissionDeniedError) as caught:
                await verb
            assert caught.value.kind == "protected_branch"
        with pytest.raises(errors.PartialFailureError) as partial:
            await main.delete_many(["a"])
        assert [(one.path, one.status) for one in partial.value.failures] == [("a", 403)]
        dev = await repo.branch("dev").create("main")
        await put_commit(dev, {"b": b"1"})
        await dev.merge_into(main)
        await repo.set_protection([], replaces=rules)
        await main.put("c", b"1")

    live(body)


@pytest.mark.parametrize("verb", ["revert", "cherry-pick"])
@pytest.mark.parametrize("answers", [1, 2])
def test_lost_answers_are_settled_and_the_change_made_once(live: Any, endpoint: str, verb: str, answers: int) -> None:
    """The first answer is lost, and the same key is sent again; that answer, too, and the mark is looked for."""
    proxy = Proxy(endpoint)
    lost: list[str] = []

    def loses(line: str) -> bool:
        if f"/{verb} " in line and len(lost) < answers:
            lost.append(line)
            return True
        return False

    async def body(repo: Any) -> None:
        main = repo.branch("main")
        bad = await put_commit(main, {"a": b"1"})
        dev = await repo.branch("dev").create("main")
        await put_commit(dev, {"d": b"1"})
        count = len(await main.log().all())
        proxy.swallow = loses
        made = await (main.revert(bad.id) if verb == "revert" else main.cherry_pick("dev"))
        proxy.swallow = lambda line: False
        assert len(proxy.swallowed) == answers
        log = await main.log().all()
        assert len(log) == count + 1
        assert log[0].id == made.id

    live(body, proxy.endpoint)


def test_the_same_key_makes_the_same_change(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        bad = await put_commit(main, {"a": b"1"}, "bad")
        dev = await repo.branch("dev").create("main")
        await put_commit(dev, {"d": b"1"}, "on dev")
        taken = await main.revert(bad.id, key="take it back")
        assert await main.revert(bad.id, key="take it back") == taken
        picked = await main.cherry_pick("dev", key="pick")
        await put_commit(main, {"x": b"1"}, "meanwhile")
        assert await main.cherry_pick("dev", key="pick") == picked
        with pytest.raises(errors.ConflictError, match="was used for another request"):
            await main.revert("main", key="pick")
        assert [one.id for one in await main.log().all()][1:4] == [picked.id, taken.id, bad.id]

    live(body)
