"""Calls that follow changes: retries, order, and calls that cannot be made."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.hooks.delivering import until, waiting
from tests.hooks.receiving import Receiver, receiving
from tests.hooks.rest import Rest, action_file, new_repository, prepare
from tests.hooks.serving import serving


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with serving() as made:
        yield made


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def rest(client: httpx.Client) -> Rest:
    return new_repository(client)


def test_a_delivery_is_recorded_as_a_run_and_its_row_is_removed(rest: Rest, receiver: Receiver) -> None:
    rest.settings(rule=action_file("post-commit", f"{receiver.url}/reported"))
    made = rest.put_commit("a", "1")
    (reported,) = receiver.wait("/reported", 1)
    assert (reported.event["commit_id"], reported.event["source_ref"]) == (made, made)
    assert reported.event["changes"]["paths"] == ["a"]
    (run,) = until(rest.runs)
    assert (run["event_type"], run["state"], run["commit_id"]) == ("post-commit", "passed", made)
    assert reported.headers["webhook-id"] == f"{run['delivery_id']}-rule"
    assert until(lambda: waiting(rest) == [])


def test_a_refused_change_is_followed_by_no_call(rest: Rest, receiver: Receiver) -> None:
    rest.settings(
        before=action_file("pre-commit", f"{receiver.url}/refuse", name="before"),
        after=action_file("post-commit", f"{receiver.url}/reported", name="after"),
    )
    rest.put("a", "1")
    assert rest.commit().status_code == 412
    assert waiting(rest) == []
    rest.settings(after=action_file("post-commit", f"{receiver.url}/reported", name="after"))
    landed = rest.commit().json()["id"]
    assert [one.event["commit_id"] for one in receiver.wait("/reported", 1)] == [landed]


def test_a_permanently_failed_call_is_kept_and_can_be_repeated(rest: Rest, receiver: Receiver) -> None:
    answers: Iterator[tuple[int, Any]] = iter([(404, {"message": "unknown"}), (200, {})])
    receiver.answers["/reported"] = lambda _: next(answers)
    rest.settings(rule=action_file("post-commit", f"{receiver.url}/reported"))
    rest.put_commit("a", "1")
    (failed,) = until(lambda: [one for one in waiting(rest) if one["state"] == "failed"])
    assert [attempt["state"] for attempt in failed["attempts"]] == ["refused"]
    assert "unknown" in failed["attempts"][0]["message"]
    rest.done("POST", f"/actions/deliveries/{failed['id']}/redeliver")
    first, second = receiver.wait("/reported", 2)
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert until(lambda: waiting(rest) == [])


def test_a_receiver_that_is_gone_is_not_called_again(rest: Rest, receiver: Receiver) -> None:
    receiver.answers["/reported"] = lambda _: (410, {})
    rest.settings(rule=action_file("post-commit", f"{receiver.url}/reported"))
    rest.put_commit("a", "1")
    (failed,) = until(lambda: [one for one in waiting(rest) if one["state"] == "failed"])
    assert "permanently gone (status 410)" in failed["attempts"][0]["message"]
    assert len(receiver.at("/reported")) == 1


def test_a_call_without_its_action_is_dropped(rest: Rest, receiver: Receiver) -> None:
    receiver.answers["/reported"] = lambda _: (503, {})
    rest.settings(rule=action_file("post-commit", f"{receiver.url}/reported"))
    rest.put_commit("a", "1")
    receiver.wait("/reported", 1)
    assert until(lambda: waiting(rest) and waiting(rest)[0]["attempts"])
    rest.settings()
    assert until(lambda: waiting(rest) == [])
    assert len(receiver.at("/reported")) == 1


@pytest.mark.slow
def test_calls_of_a_deleted_repository_are_dropped_and_others_go_on(
    client: httpx.Client, rest: Rest, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers["/reported"] = lambda _: (503, {})
    rest.settings(rule=action_file("post-commit", f"{receiver.url}/reported"))
    rest.put_commit("a", "1")
    receiver.wait("/reported", 1)
    assert client.delete(f"/repositories/{rest.name}").status_code == 204
    other = new_repository(client)
    other.settings(rule=action_file("post-commit", f"{receiver.url}/other"))
    other.put_commit("a", "1")
    receiver.wait("/other", 1)
    assert until(lambda: "was dropped: " in caplog.text)  # when its time comes, in place of the second call
    assert len(receiver.at("/reported")) == 1


@pytest.mark.slow
def test_a_call_is_repeated_with_the_same_id_until_it_is_answered(rest: Rest, receiver: Receiver) -> None:
    answers: Iterator[tuple[int, Any]] = iter([(503, {}), (200, {})])
    receiver.answers["/reported"] = lambda _: next(answers)
    rest.settings(rule=action_file("post-commit", f"{receiver.url}/reported"))
    rest.put_commit("a", "1")
    first, second = receiver.wait("/reported", 2)
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.event["event_time"] == second.event["event_time"]
    assert until(lambda: waiting(rest) == [])
    assert [run["state"] for run in rest.runs()] == ["passed", "error"]


@pytest.mark.slow
def test_ordered_calls_wait_for_the_one_before_on_their_branch_only(rest: Rest, receiver: Receiver) -> None:
    prepare(rest)
    answers: Iterator[tuple[int, Any]] = iter([(503, {})])
    receiver.answers["/reported"] = lambda request: (
        next(answers, (200, {})) if request.event["branch_id"] == "main" else (200, {})
    )
    text = action_file("post-commit", f"{receiver.url}/reported", more="      ordered: true\n")
    rest.settings(rule=text)
    made = [rest.put_commit(f"m{number}", "1") for number in range(4)]
    other = rest.put_commit("d", "1", "dev")
    receiver.wait("/reported", 6)
    reported = [one.event["commit_id"] for one in receiver.at("/reported")]
    assert [one for one in reported if one != other] == [made[0], *made]
    assert reported.index(other) < 3


@pytest.mark.slow
def test_a_dead_receiver_rests_and_others_are_served(client: httpx.Client, rest: Rest, receiver: Receiver) -> None:
    with receiving() as gone:
        url = gone.url
    rest.settings(rule=action_file("post-commit", f"{url}/reported"))
    other = new_repository(client)
    other.settings(rule=action_file("post-commit", f"{receiver.url}/other"))
    for number in range(30):
        rest.put_commit(f"a{number}", "1")
    other.put_commit("a", "1")
    receiver.wait("/other", 1)
    assert until(lambda: _seconds_between_runs(rest) > 4)
    assert len(rest.runs()) <= 9  # 8 together, and after a rest of 5 seconds one; the others wait until one is answered
    with receiving(int(url.rpartition(":")[2])) as back:
        back.wait("/reported", 30, 40)
        assert until(lambda: waiting(rest) == [])
        assert len({one.headers["webhook-id"] for one in back.at("/reported")}) == 30


def _seconds_between_runs(rest: Rest) -> float:
    """From the begin of the first run to that of the last one."""
    begun = [datetime.fromisoformat(run["start_time"]) for run in rest.runs()]
    return (max(begun) - min(begun)).total_seconds() if begun else 0.0
