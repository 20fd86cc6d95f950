"""What is repeated, what never is, and how a lost commit is found again."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
import respx
from lakebed import errors
from lakebed._gateway.error_answers import retry_after

from tests.sdk.answers import COMMIT, page
from tests.sdk.doors import API, QUICK, REPO, Door

STAT = REPO + "/refs/main/objects/stat"
COMMITS = REPO + "/branches/main/commits"
LOG = REPO + "/refs/main/commits"
UPLOAD = REPO + "/branches/main/objects"
STORED = {
    "path": "a",
    "path_type": "object",
    "physical_address": "local://x",
    "checksum": "900150983cd24fb0d6963f7d28e17f72",  # MD5 of abc
    "mtime": 1,
    "size_bytes": 3,
}


def commit_row(metadata: dict[str, str], id: str = "c") -> dict[str, Any]:
    return {**COMMIT, "id": id * 64, "metadata": metadata}


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("gone"),
        httpx.PoolTimeout("busy"),
        httpx.Response(429),
        httpx.Response(502),
        httpx.Response(503, headers={"retry-after": "1"}),
        httpx.Response(503, json={"message": "m", "kind": "overloaded"}),
        httpx.Response(504),
    ],
    ids=repr,
)
def test_reading_is_repeated(door: Door, wire: respx.MockRouter, failure: Any) -> None:
    async def scenario(lake: Any) -> None:
        route = wire.get(STAT)
        route.side_effect = [failure, failure, httpx.Response(200, json=STORED)]
        assert (await lake.repository("repo").branch("main").stat("a")).size == 3
        assert route.call_count == 3
        route.side_effect = [failure] * 3
        with pytest.raises((errors.ServerUnavailableError, errors.ThrottledError)) as caught:
            await lake.repository("repo").branch("main").stat("a")
        assert caught.value.repository == "repo"
        assert route.call_count == 6

    door.run(scenario)


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ReadError("reset"),
        httpx.WriteTimeout("slow"),
        httpx.Response(502),
        httpx.Response(503, json={"message": "m", "kind": "interrupted"}),
    ],
    ids=repr,
)
def test_a_lost_answer_to_a_change_is_never_repeated(door: Door, wire: respx.MockRouter, failure: Any) -> None:
    async def scenario(lake: Any) -> None:
        route = wire.post(API + "/repositories/repo/branches")
        route.side_effect = [failure]
        with pytest.raises(errors.OutcomeUnknownError) as caught:
            await lake.repository("repo").branch("dev").create("main")
        assert caught.value.operation == "createBranch"
        assert route.call_count == 1

    door.run(scenario)


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("refused"),
        httpx.Response(429),
        httpx.Response(503),
        httpx.Response(503, json={"message": "m", "kind": "overloaded"}),
    ],
    ids=repr,
)
def test_a_change_that_was_not_made_is_repeated(door: Door, wire: respx.MockRouter, failure: Any) -> None:
    async def scenario(lake: Any) -> None:
        route = wire.post(API + "/repositories/repo/branches")
        route.side_effect = [failure, httpx.Response(201, text="c1")]
        await lake.repository("repo").branch("dev").create("main")
        assert route.call_count == 2

    door.run(scenario)


def test_other_errors_are_not_repeated(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        route = wire.get(STAT).mock(httpx.Response(500))
        with pytest.raises(errors.ServerError):
            await lake.repository("repo").branch("main").stat("a")
        assert route.call_count == 1

    door.run(scenario)


def test_commits_that_lose_races_are_retried(door: Door, wire: respx.MockRouter) -> None:
    lost = httpx.Response(429, json={"message": "m", "kind": "too_many_attempts"})

    async def scenario(lake: Any) -> None:
        route = wire.post(COMMITS)
        route.side_effect = [lost] * 7 + [httpx.Response(201, json=COMMIT)]
        await lake.repository("repo").branch("main").commit("m")
        assert route.call_count == 8
        route.side_effect = [lost] * 8
        with pytest.raises(errors.ThrottledError):
            await lake.repository("repo").branch("main").commit("m")

    door.run(scenario)


def test_nothing_to_commit(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        wire.post(COMMITS).mock(httpx.Response(400, json={"message": "no changes", "kind": "no_changes"}))
        with pytest.raises(errors.NothingToCommitError):
            await lake.repository("repo").branch("main").commit("m")

    door.run(scenario)


class Landing:
    """A server that makes the commit, but whose answer is lost."""

    def __init__(self, wire: respx.MockRouter, failure: Any, *, lands: bool, looks_needed: int = 1) -> None:
        self.sent: list[dict[str, Any]] = []
        self.failure = failure
        self.lands = lands
        self.looks_needed = looks_needed
        self.looks = 0
        for url in (COMMITS, REPO + "/refs/dev/merge/main"):
            wire.post(url__regex=url + r"/async\?").mock(httpx.Response(501))  # a server without tasks
        wire.post(url__startswith=COMMITS).mock(side_effect=self.commit)
        wire.post(url__startswith=REPO + "/refs/dev/merge/main").mock(side_effect=self.commit)
        wire.get(url__startswith=LOG).mock(side_effect=self.log)

    def commit(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(json.loads(request.content))
        if isinstance(self.failure, Exception):
            raise self.failure
        assert isinstance(self.failure, httpx.Response)
        return self.failure

    def log(self, request: httpx.Request) -> httpx.Response:
        assert request.url.params["first_parent"] == "true"
        if "after" not in request.url.params:
            self.looks += 1
            return httpx.Response(200, json=page([commit_row({"lakebed.operation_id": "another"}, "a")], "a" * 64))
        landed = self.lands and self.looks >= self.looks_needed
        return httpx.Response(200, json=page([commit_row(self.sent[0]["metadata"])] if landed else []))


LOST = [
    httpx.ReadError("reset"),
    httpx.RemoteProtocolError("gone"),
    httpx.ReadTimeout("slow"),
    httpx.Response(502),
    httpx.Response(504),
    httpx.Response(500, json={"message": "m", "kind": "outcome_unknown"}),
]


@pytest.mark.parametrize("failure", LOST, ids=repr)
@pytest.mark.parametrize("looks", [1, 2])
def test_an_applied_commit_with_a_lost_response_is_found(
    door: Door, wire: respx.MockRouter, failure: Any, looks: int
) -> None:
    server = Landing(wire, failure, lands=True, looks_needed=looks)

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        commit = await main.commit("m", metadata={"mine": "1"})
        assert commit.id == "c" * 64
        assert commit.metadata == {"mine": "1"}
        assert commit.operation_id == server.sent[0]["metadata"]["lakebed.operation_id"]
        assert len(server.sent) == 1

    door.run(scenario)


@pytest.mark.parametrize("failure", LOST[:2], ids=repr)
def test_a_lost_commit_that_is_not_found_is_unknown(door: Door, wire: respx.MockRouter, failure: Any) -> None:
    server = Landing(wire, failure, lands=False)

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        with pytest.raises(errors.CommitStateUnknownError) as caught:
            await main.commit("m")
        assert len(server.sent) == 1
        assert server.looks == len(QUICK.settle_waits)
        mark = server.sent[0]["metadata"]["lakebed.operation_id"]
        assert caught.value.operation_id == mark
        assert mark in str(caught.value)
        server.lands = True  # it was still under way
        found = await main.find_operation(caught.value.operation_id)
        assert found.id == "c" * 64

    door.run(scenario)


def test_a_lost_merge_is_found(door: Door, wire: respx.MockRouter) -> None:
    server = Landing(wire, httpx.ReadError("reset"), lands=True)

    async def scenario(lake: Any) -> None:
        result = await lake.repository("repo").branch("dev").merge_into("main")
        assert result.commit_id == "c" * 64
        assert len(server.sent) == 1

    door.run(scenario)


def test_outcome_is_found_after_an_outage(door: Door, wire: respx.MockRouter) -> None:
    wire.post(COMMITS).mock(side_effect=httpx.ReadError("reset"))
    wire.post(url__startswith=COMMITS + "/async").mock(side_effect=httpx.ConnectError("down"))
    wire.get(url__startswith=LOG).mock(side_effect=httpx.ConnectError("still down"))

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.CommitStateUnknownError, match="still down"):
            await lake.repository("repo").branch("main").commit("m")

    door.run(scenario)


TASK = {"id": "t", "operation": "commit", "completed": False, "update_time": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize("failure", LOST, ids=repr)
def test_lost_commit_continues_as_a_task_with_its_key(door: Door, wire: respx.MockRouter, failure: Any) -> None:
    sent: list[httpx.Request] = []

    def keep(answer: httpx.Response | Exception) -> Any:
        def side_effect(request: httpx.Request) -> httpx.Response:
            sent.append(request)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return side_effect

    wire.post(COMMITS).mock(side_effect=keep(failure))
    wire.post(url__startswith=COMMITS + "/async").mock(side_effect=keep(httpx.Response(202, json=TASK)))
    done = {**TASK, "completed": True, "commit": COMMIT}
    wire.get(url__startswith=REPO + "/tasks/t").mock(
        side_effect=[httpx.ReadError("reset"), httpx.Response(200, json=TASK), httpx.Response(200, json=done)]
    )

    async def scenario(lake: Any) -> None:
        commit = await lake.repository("repo").branch("main").commit("m", metadata={"mine": "1"}, allow_empty=True)
        assert commit.id == COMMIT["id"]
        plain, task = sent
        assert plain.headers["idempotency-key"] == task.headers["idempotency-key"]
        assert json.loads(plain.content) == json.loads(task.content)

    door.run(scenario)


def test_error_of_the_task_is_raised(door: Door, wire: respx.MockRouter) -> None:
    error = {"kind": "no_changes", "message": "nothing to commit"}
    wire.post(COMMITS).mock(side_effect=httpx.ReadError("reset"))
    route = wire.post(url__startswith=COMMITS + "/async")

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        route.mock(httpx.Response(202, json={**TASK, "completed": True, "error": error}))
        with pytest.raises(errors.NothingToCommitError):
            await main.commit("m")
        wire.get(url__startswith=LOG).mock(httpx.Response(200, json=page([])))
        unknown = {**error, "kind": "outcome_unknown"}
        route.mock(httpx.Response(202, json={**TASK, "completed": True, "error": unknown}))
        with pytest.raises(errors.CommitStateUnknownError):
            await main.commit("m")

    door.run(scenario)


@pytest.mark.parametrize("failure", LOST, ids=repr)
def test_a_lost_cherry_pick_is_sent_once_more_with_its_key(door: Door, wire: respx.MockRouter, failure: Any) -> None:
    """The first request never arrived: only sending it again makes the commit."""
    wire.get(f"{REPO}/commits/dev").mock(httpx.Response(200, json=COMMIT))
    answers: Iterator[Any] = iter([failure, httpx.Response(201, json=COMMIT)])
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        found: httpx.Response | Exception = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    wire.post(f"{REPO}/branches/main/cherry-pick").mock(side_effect=answer)

    async def scenario(lake: Any) -> None:
        picked = await lake.repository("repo").branch("main").cherry_pick("dev")
        assert picked.id == COMMIT["id"]
        first, second = sent
        assert first.headers["idempotency-key"] == second.headers["idempotency-key"] != ""
        assert first.content == second.content

    door.run(scenario)


@pytest.mark.parametrize("refused", [409, 400], ids=["conflict", "dirty"])
def test_refused_retry_does_not_decide_the_first_request(door: Door, wire: respx.MockRouter, refused: int) -> None:
    """The first request may still be running: the SDK searches for its commit, and then the outcome is unknown."""
    kinds = {409: "merge_conflict", 400: "dirty_branch"}
    route = wire.post(f"{REPO}/branches/main/revert")
    route.side_effect = [
        httpx.ReadError("reset"),
        httpx.Response(refused, json={"message": "m", "kind": kinds[refused]}),
    ]
    log = wire.get(url__startswith=LOG).mock(httpx.Response(200, json=page([])))

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.CommitStateUnknownError):
            await lake.repository("repo").branch("main").revert("main")
        assert route.call_count == 2
        assert log.call_count == len(QUICK.settle_waits)

    door.run(scenario)


def test_reserved_metadata_key_is_refused(door: Door) -> None:
    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.InvalidRequestError):
            await lake.repository("repo").branch("main").commit("m", metadata={"lakebed.operation_id": "x"})

    door.run(scenario)


def test_uploads_are_replayed_when_they_can_be_read_again(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        seen: list[bytes] = []

        def server(request: httpx.Request) -> httpx.Response:
            seen.append(request.read())
            if len(seen) % 2:
                raise httpx.ReadError("reset")
            return httpx.Response(201, json=STORED)

        async def async_server(request: httpx.Request) -> httpx.Response:
            await request.aread()
            return server(request)

        wire.post(UPLOAD).mock(side_effect=server if door.name == "sync" else async_server)
        moved: list[int] = []
        await main.put("a", b"abc", progress=moved.append)
        assert seen == [b"abc", b"abc"]
        assert sum(moved) == 3
        with pytest.raises(errors.ServerUnavailableError):  # safe to repeat, but the data is used up
            await main.put("a", iter([b"ab", b"c"]))
        assert len(seen) == 3

    door.run(scenario)


def test_conditional_uploads_are_not_replayed(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        route = wire.post(UPLOAD).mock(side_effect=httpx.ReadError("reset"))
        for condition in ({"if_absent": True}, {"if_match": "x"}):
            with pytest.raises(errors.OutcomeUnknownError):
                await main.put("a", b"abc", **condition)
        assert route.call_count == 2
        wire.post(UPLOAD).mock(httpx.Response(412, json={"message": "m", "kind": "precondition_failed"}))
        with pytest.raises(errors.ObjectExistsError):
            await main.put("a", b"abc", if_absent=True)
        with pytest.raises(errors.PreconditionFailedError):
            await main.put("a", b"abc", if_match="x")

    door.run(scenario)


def test_health_is_asked_once_and_never_raises(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        route = wire.get(API + "/healthcheck").mock(side_effect=httpx.ConnectError("no"))
        assert await lake.healthy() is False
        assert route.call_count == 1
        wire.get(API + "/healthcheck").mock(httpx.Response(204))
        assert await lake.healthy() is True

    door.run(scenario)


def test_retry_after() -> None:
    assert retry_after({"retry-after": "7"}) == 7.0
    soon = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert 3000 < (retry_after({"retry-after": soon}) or 0) <= 3600
    assert retry_after({"retry-after": format_datetime(datetime.fromtimestamp(0, UTC))}) == 0.0
    for nonsense in ("", "-1", "soon", "²", "1e9"):
        assert retry_after({"retry-after": nonsense}) is None


def test_requested_retry_delay_is_bounded(door: Door, wire: respx.MockRouter) -> None:
    from dataclasses import replace

    async def scenario(lake: Any) -> None:
        transport = getattr(lake, "inner", lake)._transport
        transport.policy = replace(QUICK, longest_asked=0.05)
        route = wire.get(STAT)
        route.side_effect = [httpx.Response(429, headers={"retry-after": "3600"}), httpx.Response(200, json=STORED)]
        begun = time.monotonic()
        await lake.repository("repo").branch("main").stat("a")
        assert 0.05 <= time.monotonic() - begun < 3600

    door.run(scenario)
