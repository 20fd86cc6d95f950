"""`branch.publish`: one request, one commit; lost answers settled by its key, against a real server."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import lakebed
import pytest
import respx
from lakebed import errors

from tests.sdk.doors import REPO, Door
from tests.sdk.live import KEY, SECRET, Proxy, serving
from tests.sdk.stored import parsed, stored

BATCH = f"{REPO}/branches/main/objects/batch"
COMMIT = {"id": "c" * 64, "parents": [], "committer": "me", "message": "m", "creation_date": 1, "meta_range_id": ""}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def proxy(endpoint: str) -> Iterator[Proxy]:
    made = Proxy(endpoint)
    yield made
    made.close()


@pytest.fixture
def main(endpoint: str) -> Iterator[lakebed.Branch]:
    """A branch looked at from the side, past the proxy."""
    name = f"r{uuid.uuid4().hex[:12]}"
    with lakebed.connect(endpoint, KEY, SECRET) as lake:
        yield lake.repository(name).create(f"local://{name}").branch("main")


def history(main: lakebed.Branch) -> list[str]:
    return [commit.message for commit in main.log(first_parent=True)][:-1]


def through(door: Door, proxy: Proxy, main: lakebed.Branch, body: Any, *, quick: bool = True) -> None:
    """Run a body with the same branch behind the proxy."""

    async def scenario(lake: Any) -> None:
        await body(lake.repository(main.repository.id).branch("main"))

    door.run(scenario, endpoint=proxy.endpoint, key=KEY, secret=SECRET, quick=quick)


@pytest.mark.slow
def test_all_kinds_of_data_in_one_commit(door: Door, proxy: Proxy, main: lakebed.Branch, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"from a file")
    main.put("old", b"1")
    main.commit("first")
    main.put("others", b"staged")
    moved: list[int] = []

    async def body(branch: Any) -> None:
        items = {"a b/é": b"bytes", "file": file, "pieces": iter([b"1", b"2"])}
        made = await branch.publish(
            items, "load", delete=["old"], metadata={"k": "v"}, date=1_600_000_000, progress=moved.append
        )
        assert (made.message, made.metadata) == ("load", {"k": "v"})
        assert made.created.timestamp() == 1_600_000_000
        assert made.id == (await branch.info()).commit_id

    through(door, proxy, main, body)
    assert {row.path: main.get(row.path) for row in main.repository.ref("main@").list()} == {
        "a b/é": b"bytes", "file": b"from a file", "pieces": b"12",
    }  # fmt: skip
    assert sum(moved) == 18
    assert [change.path for change in main.uncommitted()] == ["others"]
    assert history(main) == ["load", "first"]


@pytest.mark.slow
def test_refused_publishes_raise_the_expected_errors(door: Door, proxy: Proxy, main: lakebed.Branch) -> None:
    main.put("p", b"staged")

    async def body(branch: Any) -> None:
        with pytest.raises(errors.DirtyBranchError) as dirty:
            await branch.publish({"a": b"1", "p": b"mine"}, "m")
        assert dirty.value.paths == ("p",)
        with pytest.raises(errors.NothingToCommitError):
            await branch.publish({}, "m", delete=["nothing"])
        assert (await branch.publish({}, "empty", allow_empty=True)).message == "empty"
        with pytest.raises(errors.InvalidRequestError, match=r"10000.*branch\.workspace"):
            await branch.publish({}, "m", delete=[f"p{n}" for n in range(10_001)])
        for wrong in ({"message": 1}, {"message": "m", "metadata": {"lakebed.operation_id": "x"}}):
            with pytest.raises(errors.InvalidRequestError):
                await branch.publish({"a": b"1"}, **wrong)
        with pytest.raises(errors.NotFoundError):
            await branch.repository.branch("none").publish({"a": b"1"}, "m")

    through(door, proxy, main, body)
    assert history(main) == ["empty"]
    assert main.get("p") == b"staged"


@pytest.mark.slow
@pytest.mark.parametrize("drops", [1, 3])
def test_lost_response_is_retried_and_commits_once(door: Door, proxy: Proxy, main: lakebed.Branch, drops: int) -> None:
    proxy.swallow = lambda line: "/objects/batch" in line and len(proxy.swallowed) < drops

    async def body(branch: Any) -> None:
        made = await branch.publish({"a": b"1", "b": b"2"}, "once", delete=["c"])
        assert made.id == main.commit_info().id

    through(door, proxy, main, body)
    assert len(proxy.swallowed) == drops
    assert history(main) == ["once"]
    assert {row.path: main.get(row.path) for row in main.list()} == {"a": b"1", "b": b"2"}


@pytest.mark.slow
def test_outcome_of_one_shot_data_is_found_without_a_retry(door: Door, proxy: Proxy, main: lakebed.Branch) -> None:
    proxy.swallow = lambda line: "/objects/batch" in line

    async def body(branch: Any) -> None:
        made = await branch.publish({"a": iter([b"1"])}, "once")
        assert made.id == main.commit_info().id

    through(door, proxy, main, body, quick=False)
    assert len(proxy.swallowed) == 1
    assert history(main) == ["once"]


def test_publish_with_unknown_outcome_raises_state_unknown(door: Door, wire: respx.MockRouter) -> None:
    keys: list[str] = []

    def lose(request: httpx.Request) -> httpx.Response:
        keys.append(json.loads(parsed(request, request.content)[0][3])["idempotency_key"])
        raise httpx.ReadError("gone")

    wire.post(url__startswith=BATCH).mock(side_effect=lose)
    pagination = {"has_more": False, "next_offset": "", "results": 0, "max_per_page": 1000}
    wire.get(url__startswith=f"{REPO}/refs/main/commits").respond(json={"pagination": pagination, "results": []})

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.CommitStateUnknownError) as unknown:
            await lake.repository("repo").branch("main").publish({"a": iter([b"1"])}, "m")
        assert unknown.value.operation_id == keys[0]
        assert f'branch.find_operation("{keys[0]}")' in str(unknown.value)

    door.run(scenario)
    assert len(keys) == 1, "what cannot be read again is not sent again"


def test_publish_waits_for_a_request_in_progress(door: Door, wire: respx.MockRouter) -> None:
    """The commit is in the history only when it is looked for the second time."""
    keys: list[str] = []
    looks: list[httpx.Request] = []

    def lose(request: httpx.Request) -> httpx.Response:
        keys.append(json.loads(parsed(request, request.content)[0][3])["idempotency_key"])
        return httpx.Response(504)

    def log(request: httpx.Request) -> httpx.Response:
        looks.append(request)
        rows = [{**COMMIT, "metadata": {"lakebed.operation_id": keys[0]}}] if len(looks) == 2 else []
        pagination = {"has_more": False, "next_offset": "", "results": len(rows), "max_per_page": 1000}
        return httpx.Response(200, json={"pagination": pagination, "results": rows})

    wire.post(url__startswith=BATCH).mock(side_effect=lose)
    wire.get(url__startswith=f"{REPO}/refs/main/commits").mock(side_effect=log)

    async def scenario(lake: Any) -> None:
        made = await lake.repository("repo").branch("main").publish({"a": iter([b"1"])}, "m")
        assert made.id == COMMIT["id"]

    door.run(scenario)
    assert (len(keys), len(looks)) == (1, 2)


def test_retries_of_a_publish_repeat_its_idempotency_key(door: Door, wire: respx.MockRouter) -> None:
    sent: list[Any] = []
    answers = [httpx.Response(503), httpx.Response(429), httpx.Response(502), None, None]

    def reply(request: httpx.Request) -> httpx.Response:
        sent.append(parsed(request, request.content))
        assert int(request.headers["content-length"]) == len(request.content)
        return answers.pop(0) or httpx.Response(201, json={"results": [stored(b"1", "a")], "commit": COMMIT})

    wire.post(url__startswith=BATCH).mock(side_effect=reply)

    async def scenario(lake: Any) -> None:
        branch = lake.repository("repo").branch("main")
        for _ in range(2):
            assert (await branch.publish({"a": b"1"}, "m", delete=["b"])).id == COMMIT["id"]

    door.run(scenario)
    assert sent[0] == sent[1] == sent[2] == sent[3]
    assert [name for name, *_ in sent[0]] == ["commit", "delete", "content"]
    first, second = (json.loads(one[0][3]) for one in (sent[3], sent[4]))
    assert first["metadata"]["lakebed.operation_id"] == first["idempotency_key"] != second["idempotency_key"]


def test_response_that_differs_from_the_request_raises(door: Door, wire: respx.MockRouter) -> None:
    answers = [
        httpx.Response(201, json={"results": [stored(b"other", "a")], "commit": COMMIT}),
        httpx.Response(201, json={"results": [], "commit": COMMIT}),
        httpx.Response(413, text="too large"),
    ]
    wire.post(url__startswith=BATCH).mock(side_effect=lambda _: answers.pop(0))

    async def scenario(lake: Any) -> None:
        branch = lake.repository("repo").branch("main")
        for _ in range(2):
            with pytest.raises(errors.CorruptTransferError):
                await branch.publish({"a": b"1"}, "m")
        with pytest.raises(errors.InvalidRequestError, match=r"too large for one request.*branch\.workspace"):
            await branch.publish({"a": b"1"}, "m")

    door.run(scenario)
