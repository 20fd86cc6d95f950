"""Workspace commits after lost races and lost answers: made once, and reported when the outcome is unknown."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import random
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import lakebed
import pytest
import respx
from lakebed import errors

from tests.sdk.doors import REPO, Door
from tests.sdk.live import KEY, SECRET, Proxy, serving

ID = "0123456789abcdef" * 2
WORKSPACE = {
    "id": ID,
    "name": f"main+{ID}",
    "branch": "main",
    "base_commit_id": "b" * 64,
    "state": "open",
    "storage_prefix": "mem://x/workspaces/",
    "creator": "me",
    "creation_date": 1,
    "expires": 2,
    "data_paths": ["proxied"],
}
PLACE = f"{REPO}/workspaces/main%2B{ID}"
LOST = [httpx.ReadError("reset"), httpx.RemoteProtocolError("gone"), httpx.Response(502), httpx.Response(504)]


def commit_row(key: str) -> dict[str, Any]:
    metadata = {"lakebed.operation_id": key}
    return {
        "id": "c" * 64,
        "parents": [],
        "committer": "me",
        "message": "m",
        "creation_date": 1,
        "meta_range_id": "",
        "metadata": metadata,
        "generation": 1,
        "version": 1,
    }


def refusal(status: int, kind: str, **more: Any) -> httpx.Response:
    return httpx.Response(status, json={"message": "m", "kind": kind, **more})


class Server:
    """A server that answers commits from a list, and remembers what it was asked."""

    def __init__(self, wire: respx.MockRouter, *answers: Any, history: bool = False) -> None:
        self.sent: list[dict[str, Any]] = []
        self.answers = list(answers)
        self.history = history
        wire.get(f"{REPO}/workspaces/{ID}").respond(json=WORKSPACE)
        wire.get(PLACE).respond(json=WORKSPACE)
        wire.post(url__startswith=f"{PLACE}/commit").mock(side_effect=self.commit)
        wire.get(url__startswith=f"{REPO}/refs/main/commits").mock(side_effect=self.log)

    def commit(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(json.loads(request.content))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if answer == "done":
            return httpx.Response(201, json=commit_row(self.sent[-1]["idempotency_key"]))
        assert isinstance(answer, httpx.Response)
        return answer

    def log(self, request: httpx.Request) -> httpx.Response:
        rows = [commit_row(self.sent[0]["idempotency_key"])] if self.history else []
        pagination = {"has_more": False, "next_offset": "", "results": len(rows), "max_per_page": 1000}
        return httpx.Response(200, json={"pagination": pagination, "results": rows})


@pytest.mark.parametrize("lost", LOST, ids=repr)
def test_lost_response_is_retried_with_the_same_key(door: Door, wire: respx.MockRouter, lost: Any) -> None:
    server = Server(wire, lost, lost, "done")

    async def scenario(lake: Any) -> None:
        ws = await lake.repository("repo").workspace(ID)
        commit = await ws.commit("m", metadata={"mine": "1"})
        assert len(server.sent) == 3
        assert server.sent[0] == server.sent[1] == server.sent[2]
        assert commit.operation_id == server.sent[0]["idempotency_key"]
        assert server.sent[0]["metadata"] == {"mine": "1", "lakebed.operation_id": commit.operation_id}

    door.run(scenario)


def test_lost_races_are_reported_to_the_hook_and_the_log(
    door: Door, wire: respx.MockRouter, caplog: pytest.LogCaptureFixture
) -> None:
    race = refusal(409, "concurrent_commit")
    Server(wire, race, refusal(429, "too_many_attempts"), httpx.Response(503), httpx.ConnectError("no"), "done")
    caplog.set_level(logging.INFO, "lakebed.workspace")

    async def scenario(lake: Any) -> None:
        seen: list[lakebed.CommitAttempt] = []
        ws = await lake.repository("repo").workspace(ID, on_attempt=seen.append)
        await ws.commit("m")
        assert [attempt.number for attempt in seen] == [1, 2, 3, 4]
        assert [type(attempt.error).__name__ for attempt in seen] == [
            "ConcurrentCommitError",
            "ThrottledError",
            "ServerUnavailableError",
            "ServerUnavailableError",
        ]
        assert len([row for row in caplog.records if "attempt" in row.message]) == 4

    door.run(scenario)


FINAL = [
    (refusal(409, "concurrent_commit", conflicts=[{"path": "a"}]), errors.ConcurrentCommitError),
    (refusal(409, "dirty_overlap", conflicts=[{"path": "a"}]), errors.DirtyBranchError),
    (refusal(409, "workspace_closed"), errors.WorkspaceClosedError),
    (refusal(400, "no_changes"), errors.NothingToCommitError),
    (refusal(500, "internal"), errors.ServerError),
]


@pytest.mark.parametrize(("answer", "error"), FINAL, ids=[error.__name__ for _, error in FINAL])
def test_lasting_errors_are_not_retried(door: Door, wire: respx.MockRouter, answer: Any, error: Any) -> None:
    server = Server(wire, answer)

    async def scenario(lake: Any) -> None:
        ws = await lake.repository("repo").workspace(ID)
        with pytest.raises(error) as caught:
            await ws.commit("m")
        assert len(server.sent) == 1
        if isinstance(caught.value, errors.ConflictError):
            assert caught.value.paths == ("a",)

    door.run(scenario)


def test_abort_stops_at_the_first_race(door: Door, wire: respx.MockRouter) -> None:
    server = Server(wire, refusal(409, "concurrent_commit"))

    async def scenario(lake: Any) -> None:
        ws = await lake.repository("repo").workspace(ID, on_conflict="abort")
        with pytest.raises(errors.ConcurrentCommitError):
            await ws.commit("m")
        assert len(server.sent) == 1

    door.run(scenario)


def test_retries_end_at_the_deadline(door: Door, wire: respx.MockRouter) -> None:
    server = Server(wire, refusal(409, "concurrent_commit"))

    async def scenario(lake: Any) -> None:
        ws = await lake.repository("repo").workspace(ID, retry_for=0.3)
        with pytest.raises(errors.ConcurrentCommitError):
            await ws.commit("m")
        assert len(server.sent) > 1

    door.run(scenario)


@pytest.mark.parametrize("last", [httpx.ReadError("x"), httpx.ConnectError("x"), httpx.Response(503)], ids=repr)
def test_outcome_is_unknown_only_when_it_cannot_be_found(door: Door, wire: respx.MockRouter, last: Any) -> None:
    server = Server(wire, httpx.ReadError("reset"), last)

    async def scenario(lake: Any) -> None:
        ws = await lake.repository("repo").workspace(ID, retry_for=0.05)
        with pytest.raises(errors.CommitStateUnknownError) as caught:
            await ws.commit("m")
        key = server.sent[0]["idempotency_key"]
        assert caught.value.operation_id == key
        assert key in str(caught.value)
        server.history = True  # it has landed after all: found in history, though commits still get no answer
        server.sent.clear()
        commit = await ws.commit("m", idempotency_key=key)
        assert commit.operation_id == key

    door.run(scenario)


def test_unreadable_success_is_handled_as_a_lost_response(door: Door, wire: respx.MockRouter) -> None:
    server = Server(wire, httpx.Response(201, text="<html>"), "done")

    async def scenario(lake: Any) -> None:
        ws = await lake.repository("repo").workspace(ID)
        commit = await ws.commit("m")
        assert [sent["idempotency_key"] for sent in server.sent] == [commit.operation_id] * 2

    door.run(scenario)


def test_a_refusal_after_a_lost_answer_is_final(door: Door, wire: respx.MockRouter) -> None:
    server = Server(wire, httpx.ReadError("reset"), refusal(409, "concurrent_commit", conflicts=[{"path": "a"}]))

    async def scenario(lake: Any) -> None:
        ws = await lake.repository("repo").workspace(ID)
        with pytest.raises(errors.ConcurrentCommitError):
            await ws.commit("m")
        assert len(server.sent) == 2

    door.run(scenario)


def test_creation_is_retried_with_the_same_id(door: Door, wire: respx.MockRouter) -> None:
    asked: list[dict[str, Any]] = []

    def create(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        if len(asked) == 1:
            raise httpx.ReadError("reset")
        found_id = asked[-1]["id"]
        return httpx.Response(201, json={**WORKSPACE, "id": found_id, "name": f"main+{found_id}"})

    wire.post(f"{REPO}/workspaces").mock(side_effect=create)

    async def scenario(lake: Any) -> None:
        ws = await lake.repository("repo").branch("main").workspace("m", expires_in=600).create()
        assert asked[0] == asked[1]
        assert asked[0] == {"branch": "main", "message": "m", "expires_in": 600, "id": ws.workspace_id, "force": False}

    door.run(scenario)


# against a real server


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def proxy(endpoint: str) -> Iterator[Proxy]:
    made = Proxy(endpoint)
    yield made
    made.close()


def history(branch: lakebed.Branch) -> list[str]:
    return [commit.message for commit in branch.log(first_parent=True)][:-1]


@pytest.mark.slow
@pytest.mark.parametrize("partial", [False, True], ids=["all", "part"])
def test_commits_with_dropped_answers_happen_once(door: Door, endpoint: str, proxy: Proxy, partial: bool) -> None:
    name = f"r{uuid.uuid4().hex[:12]}"
    with lakebed.connect(endpoint, KEY, SECRET) as direct:
        main = direct.repository(name).create(f"local://{name}").branch("main")
        drops = 2
        proxy.swallow = lambda line: "/commit?" in line and len(proxy.swallowed) < drops

        async def scenario(lake: Any) -> None:
            ws = lake.repository(name).branch("main").workspace("once")
            await ws.put("a", b"1")
            await ws.put("b", b"2")
            commit = await (ws.add("a").commit("once") if partial else ws.commit("once"))
            assert commit.id == main.commit_info().id
            assert len(proxy.swallowed) == drops

        door.run(scenario, endpoint=proxy.endpoint, key=KEY, secret=SECRET)
        assert history(main) == ["once"]
        assert main.exists("a")
        assert main.exists("b") is not partial


@pytest.mark.slow
def test_outcome_is_found_after_a_server_never_answered(endpoint: str, proxy: Proxy) -> None:
    name = f"r{uuid.uuid4().hex[:12]}"
    with lakebed.connect(endpoint, KEY, SECRET) as direct, lakebed.connect(proxy.endpoint, KEY, SECRET) as lake:
        main = direct.repository(name).create(f"local://{name}").branch("main")
        mute = True
        proxy.swallow = lambda line: mute and ("/commit" in line)
        ws = lake.repository(name).branch("main").workspace("late", retry_for=0.3)
        ws.put("a", b"1")
        with pytest.raises(errors.CommitStateUnknownError) as caught, ws:
            pass
        assert ws.workspace_id in caught.value.__notes__[0]
        mute = False
        again = direct.repository(name).workspace(ws.workspace_id)
        commit = again.commit("late", idempotency_key=caught.value.operation_id)
        assert commit.id == main.commit_info().id
        assert history(main) == ["late"]


# a bank: every transfer is one workspace; money is neither made nor lost

ACCOUNTS, START, TRANSFERS = 6, 100, 12


def transfer_money(endpoint: str, name: str, seed: int) -> int:
    """Move money at random, over and over; a conflict is planned again on what is there now."""
    rng = random.Random(seed)
    made = 0
    with lakebed.connect(endpoint, KEY, SECRET) as lake:
        main = lake.repository(name).branch("main")
        while made < TRANSFERS:
            giver, taker = rng.sample(range(ACCOUNTS), 2)
            amount = rng.randint(1, 30)
            try:
                with main.workspace(f"{seed}/{made}") as ws:
                    # both are written, so that who else touched one of them conflicts
                    left = int(ws.get(f"account/{giver}")) - amount
                    right = int(ws.get(f"account/{taker}")) + amount
                    if left < 0:
                        ws.drop()
                        continue
                    ws.put(f"account/{giver}", str(left).encode())
                    ws.put(f"account/{taker}", str(right).encode())
            except errors.ConcurrentCommitError:
                ws.drop()
                continue
            made += 1
    return made


@pytest.mark.slow
def test_a_bank_keeps_its_money(endpoint: str, proxy: Proxy) -> None:
    name = f"r{uuid.uuid4().hex[:12]}"
    seed = int(os.environ.get("LAKEBED_BANK_SEED", "7"))
    rng = random.Random(seed)
    proxy.swallow = lambda line: "/commit?" in line and rng.random() < 0.2
    with lakebed.connect(endpoint, KEY, SECRET) as lake:
        main = lake.repository(name).create(f"local://{name}").branch("main")
        with main.workspace("open accounts") as ws:
            ws.put_many({f"account/{number}": str(START).encode() for number in range(ACCOUNTS)})
        with multiprocessing.get_context("spawn").Pool(4) as pool:
            jobs = [(proxy.endpoint, name, seed * 100 + one) for one in range(4)]
            assert pool.starmap(transfer_money, jobs) == [TRANSFERS] * 4
        balances = [int(main.get(f"account/{number}")) for number in range(ACCOUNTS)]
        assert sum(balances) == ACCOUNTS * START
        assert min(balances) >= 0
        shown = history(main)[:-1]
        assert sorted(shown) == sorted(f"{seed * 100 + one}/{made}" for one in range(4) for made in range(TRANSFERS))
        assert proxy.swallowed, "no answer was lost: the test shows nothing"
        for commit in main.log(limit=len(shown)):  # in every state, not only in the last
            ref = lake.repository(name).ref(commit.id)
            assert sum(int(ref.get(f"account/{number}")) for number in range(ACCOUNTS)) == ACCOUNTS * START
