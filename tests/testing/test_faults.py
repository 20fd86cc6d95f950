"""Faults of the in-process server: what clients see, and what was done or not done."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import lakebed
import lakebed_testing
import pytest
from lakebed_testing import LakebedServer, UnusedFaultsError

pytestmark = pytest.mark.medium  # an HTTP server in a thread


@pytest.fixture(scope="module")
def started() -> Iterator[LakebedServer]:
    with lakebed_testing.server() as server:
        yield server


@pytest.fixture
def main(started: LakebedServer) -> Iterator[lakebed.Branch]:
    """The main branch of an empty repository; one object is staged."""
    with started.connect() as lake:
        branch = lake.repository("repo").create("mem://repo").branch("main")
        branch.put("staged.txt", b"1")
        yield branch
    started.reset()


@pytest.fixture
def raw(started: LakebedServer) -> Iterator[httpx.Client]:
    """A client that never tries again."""
    pair = (started.access_key_id, started.secret_access_key)
    with httpx.Client(base_url=f"{started.endpoint}/api/v1/repositories/repo", auth=pair) as client:
        yield client


def commit(raw: httpx.Client) -> httpx.Response:
    return raw.post("/branches/main/commits", json={"message": "raw"})


def messages(branch: lakebed.Branch) -> list[str]:
    return [commit.message for commit in branch.log()]


def test_after_a_dropped_answer_the_change_is_there(
    started: LakebedServer, main: lakebed.Branch, raw: httpx.Client
) -> None:
    started.faults.drop_answer("commit")
    with pytest.raises(httpx.TransportError):
        commit(raw)
    assert messages(main) == ["raw", "Repository created"]
    started.faults.drop_answer("uploadObject")
    with pytest.raises(httpx.TransportError):
        raw.post("/branches/main/objects", params={"path": "more.txt"}, content=b"2")
    assert main.get("more.txt") == b"2"


def test_the_sdk_settles_a_dropped_answer(started: LakebedServer, main: lakebed.Branch) -> None:
    started.faults.drop_answer("commit")
    assert main.commit("once").message == "once"
    assert messages(main) == ["once", "Repository created"]


def test_after_a_dropped_request_nothing_has_happened(
    started: LakebedServer, main: lakebed.Branch, raw: httpx.Client
) -> None:
    started.faults.drop_request(["commit", "uploadObject"], times=2)
    with pytest.raises(httpx.TransportError):
        commit(raw)
    with pytest.raises(httpx.TransportError):
        raw.post("/branches/main/objects", params={"path": "more.txt"}, content=b"2")
    assert messages(main) == ["Repository created"]
    assert not main.exists("more.txt")


def test_a_refusal_is_an_answer_that_can_be_lost_too(
    started: LakebedServer, main: lakebed.Branch, raw: httpx.Client
) -> None:
    started.faults.drop_answer("getBranch")
    with pytest.raises(httpx.TransportError):
        raw.get("/branches/nowhere")
    assert raw.get("/branches/nowhere").status_code == 404


def test_large_bodies_are_dropped_like_small_ones(started: LakebedServer, main: lakebed.Branch) -> None:
    big = bytes(4 << 20)
    main.put("big", big)
    with started.connect(retries=0) as hasty:
        branch = hasty.repository("repo").branch("main")
        started.faults.drop_request("uploadObject")
        with pytest.raises(lakebed.ServerUnavailableError):
            branch.put("new", big)
        started.faults.drop_answer("getObject")
        with pytest.raises(lakebed.ServerUnavailableError):
            branch.get("big")
        started.faults.throttle("uploadObject")
        with pytest.raises(lakebed.ThrottledError):
            branch.put("new", big)
        assert not branch.exists("new")
        started.faults.drop_answer("uploadObject")
        with pytest.raises(lakebed.ServerUnavailableError):
            branch.put("new", big)
        assert branch.get("new") == branch.get("big") == big


def test_too_many_requests(started: LakebedServer, main: lakebed.Branch, raw: httpx.Client) -> None:
    started.faults.throttle("commit", retry_after=7)
    answer = commit(raw)
    assert (answer.status_code, answer.headers.get_list("retry-after")) == (429, ["7"])
    assert answer.json()["kind"] == "throttled"
    assert messages(main) == ["Repository created"]
    started.faults.throttle("commit", retry_after=7)
    with started.connect(retries=0) as hasty, pytest.raises(lakebed.ThrottledError) as caught:
        hasty.repository("repo").branch("main").commit("c")
    assert caught.value.retry_after == 7
    started.faults.throttle("commit", retry_after=0)
    assert main.commit("again").message == "again"


def test_a_store_that_is_down(started: LakebedServer, main: lakebed.Branch, raw: httpx.Client) -> None:
    started.faults.unavailable("uploadObject", retry_after=0, times=2)
    answer = raw.post("/branches/main/objects", params={"path": "more.txt"}, content=b"2")
    assert (answer.status_code, answer.json()["kind"]) == (503, "store_unavailable")
    assert not main.exists("more.txt")
    main.put("more.txt", b"3")  # tried again by the SDK
    assert main.get("more.txt") == b"3"


def test_a_conflict_on_the_next_commit(started: LakebedServer, main: lakebed.Branch, raw: httpx.Client) -> None:
    started.faults.conflict()
    answer = commit(raw)
    assert (answer.status_code, answer.json()["kind"]) == (409, "concurrent_commit")
    assert messages(main) == ["Repository created"]
    started.faults.conflict()
    assert main.commit("the race is run again").parents
    started.faults.conflict(paths=["a.txt", "b.txt"])
    workspace = main.workspace("work").create()
    workspace.put("a.txt", b"1")
    with pytest.raises(lakebed.ConcurrentCommitError) as caught:
        workspace.commit()
    assert caught.value.paths == ("a.txt", "b.txt")
    assert workspace.commit().message == "work"  # what was staged stayed


def test_a_delay(started: LakebedServer, main: lakebed.Branch) -> None:
    started.faults.delay("statObject", 0.15)
    begun = time.monotonic()
    assert main.stat("staged.txt").size == 1
    assert time.monotonic() - begun >= 0.15


def test_counts_and_order(started: LakebedServer, main: lakebed.Branch, raw: httpx.Client) -> None:
    faults = started.faults
    faults.throttle("getBranch", times=2, skip=1)
    faults.unavailable("*", skip=2)
    assert repr(faults) == "<Faults throttle('getBranch', 2 of 2 left), unavailable('*', 1 of 1 left)>"
    seen = [raw.get("/branches/main").status_code for _ in range(6)]
    assert seen == [200, 429, 429, 200, 503, 200]
    faults.throttle(["getBranch", "commit"], times=None)
    assert [raw.get("/branches/main").status_code for _ in range(3)] == [429] * 3
    assert commit(raw).status_code == 429
    assert len(faults.armed) == 1
    faults.clear()
    assert commit(raw).status_code == 201


def test_unauthenticated_requests_use_up_no_fault(
    started: LakebedServer, main: lakebed.Branch, raw: httpx.Client
) -> None:
    started.faults.unavailable("getBranch")
    assert raw.get("/branches/main", auth=("nobody", "x")).status_code == 401
    assert raw.get("/branches/main").status_code == 503


def test_unused_faults_are_reported(started: LakebedServer, main: lakebed.Branch, raw: httpx.Client) -> None:
    started.faults.delay("getBranch", 0)
    started.faults.throttle("commit", retry_after=0, times=3)
    assert commit(raw).status_code == 429
    started.faults.drop_answer("*", times=None)
    with pytest.raises(UnusedFaultsError) as caught:
        started.reset()
    for one in ("delay('getBranch', 1 of 1 left)", "throttle('commit', 2 of 3 left)", "drop_answer('*')"):
        assert one in str(caught.value)
    assert started.faults.armed == []
    with started.connect() as lake:
        assert list(lake.repositories()) == []  # reset all the same


def test_invalid_faults_are_refused(started: LakebedServer) -> None:
    with pytest.raises(ValueError, match=r"no operation 'comit' .* did you mean 'commit'"):
        started.faults.drop_answer("comit")
    with pytest.raises(ValueError, match="needs an operation"):
        started.faults.drop_answer([])
    for times, skip, seconds in ((0, 0, 0.0), (1, -1, 0.0), (1, 0, -0.1), (1, 0, float("inf"))):
        with pytest.raises(ValueError, match="at least 1"):
            started.faults.delay("commit", seconds, times=times, skip=skip)
    assert started.faults.armed == []
