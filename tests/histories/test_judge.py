"""The judge, on histories made by hand: what each violation looks like, and what is none."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.histories.client import STRANGE, etag_of
from tests.histories.faults import plan
from tests.histories.history import Event, History, Outcome, read_history
from tests.histories.judge import Found, Listing, judge


def event(act: str, key: str, call: float, end: float, outcome: Outcome = "ok", **more: Any) -> Event:
    return Event(client=1, act=act, key=key, call=call, end=end, outcome=outcome, **more)


def commit(message: str, call: float, end: float, outcome: Outcome = "ok", seen: str | None = None) -> Event:
    return event("commit", "head main", call, end, outcome, value=message, seen=seen)


MERGED = event("merge", "head trunk", 1, 2, value="m1", seen="T1", key2="object trunk merged/m1", content="m1")
OBJECT = "object main e0/k0"
FOUND = Found({"main": [("C0", ""), ("C1", "c1"), ("C2", "c2")], "trunk": [("C0", ""), ("T1", "m1")]}, {})
CALM = [
    event("put", OBJECT, 0, 0.5, value="a"),
    commit("c1", 1, 2, seen="C1"),
    event("head", "head main", 2.1, 2.2, seen="C1"),
    commit("c2", 3, 4, "unknown"),
    event("head", "head main", 9, 10, seen="C2"),
    MERGED,
    event("head", "head trunk", 3, 4, seen="T1"),
    event("get", "object trunk merged/m1", 3, 4, seen="m1"),
    event("create tag", "tag t", 0, 1, value="C0"),
    event("create tag", "tag t", 2, 3, "refused", value="C0"),
    event("get tag", "tag t", 2, 3, seen="C0"),
    event("delete tag", "tag t", 4, 5),
    event("delete tag", "tag t", 6, 7, "refused"),
    event("replace", OBJECT, 4, 5, "refused", value="b", expected="other"),
    event("replace", OBJECT, 6, 7, value="b", expected="a"),
    event("take", OBJECT, 8, 9, "unknown", expected="b"),
    event("put", OBJECT, 8, 9, "failed", value="never there"),
    event("get", OBJECT, 10, 11, "unknown"),
    event("side", "side /branches", 1, 2, "failed"),
]


def test_a_history_in_order() -> None:
    verdict = judge(CALM, FOUND)
    assert verdict.wrong == []
    assert verdict.registers == 5
    assert verdict.steps == 17


WRONG: dict[str, tuple[list[Event], str]] = {
    "a stale object": ([event("get", OBJECT, 7.1, 7.2, seen="a")], f"{OBJECT} is not linearizable"),
    "an object that was refused": ([event("get", OBJECT, 9.1, 9.2, seen="never there")], f"{OBJECT} is not linear"),
    "a stale head": ([event("head", "head main", 2.1, 2.2, seen="C0")], "head main is not linearizable"),
    "a head of nobody": ([event("head", "head main", 2.1, 2.2, seen="X")], "head main is not linearizable"),
    "a merge that shows nothing": (
        [event("get", "object trunk merged/m1", 3, 4, seen=None)],
        "object trunk merged/m1 is not linearizable",
    ),
    "a tag that came back": ([event("get tag", "tag t", 8, 9, seen="C0")], "tag t is not linearizable"),
    "a tag that is created twice": ([event("create tag", "tag t", 2, 3, value="C1")], "tag t is not linearizable"),
    "a lost commit": ([commit("c3", 11, 12, seen="C3")], "acknowledged, and not in its history"),
    "a commit answered with another id": ([commit("c1", 1, 2, seen="X")], "acknowledged, and not in its history"),
    "an answer of no use": (
        [event("put", OBJECT, 9, 10, "unknown", value="c", answer=f"{STRANGE}500 internal")],
        "500 internal",
    ),
}


@pytest.mark.parametrize(("more", "said"), WRONG.values(), ids=WRONG)
def test_a_history_that_is_wrong(more: list[Event], said: str) -> None:
    verdict = judge([*CALM, *more], FOUND)
    assert any(said in one for one in verdict.wrong), verdict.wrong


def test_report_of_a_long_history_is_short() -> None:
    calm = [
        one
        for at in range(20, 220)
        for one in (
            event("put", OBJECT, at, at + 0.4, value=f"v{at}"),
            event("get", OBJECT, at + 0.5, at + 0.9, seen=f"v{at}"),
        )
    ]
    stale = event("get", OBJECT, 190.6, 190.7, seen="v170")
    (wrong,) = judge([*CALM, *calm, stale], FOUND).wrong
    assert len(wrong.splitlines()) < 6
    assert str(stale) in wrong


def with_log(*log: tuple[str, str]) -> Found:
    return Found({"main": [("C0", ""), *log], "trunk": FOUND.logs["trunk"]}, {})


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (with_log(("C1", "c1"), ("C2", "c2"), ("C1", "c1")), "'C1' is 2 times in its history"),
        (with_log(("C1", "c1"), ("C2", "c2"), ("C9", "c2")), "'c2' is 2 times in its history"),
        (with_log(("C1", "c1"), ("C2", "c2"), ("C3", "c3")), "refused, and in its history"),
        (with_log(("C1", "c1"), ("C2", "c2"), ("C3", "x")), "nobody asked for it"),
        (with_log(("C2", "c2"), ("C1", "c1")), "head main is not linearizable"),
    ],
)
def test_histories_of_a_branch_that_are_wrong(found: Found, said: str) -> None:
    wrong = judge([*CALM, commit("c3", 11, 12, "failed")], found).wrong
    assert any(said in one for one in wrong), wrong


@pytest.mark.parametrize(("held", "good"), [("a", True), ("b", False), (None, False)])
def test_a_commit_holds_what_its_branch_showed_while_it_was_made(held: str | None, good: bool) -> None:
    listing = Listing("e0", {} if held is None else {"e0/k0": etag_of(held)})
    verdict = judge(CALM, Found(FOUND.logs, {"C1": listing}))
    assert (verdict.wrong == []) == good
    assert good or f"it holds {held!r} at e0/k0" in verdict.wrong[0]


def test_a_history_is_read_as_it_was_written(tmp_path: Any) -> None:
    history = History(tmp_path / "deep" / "history.jsonl")
    for one in CALM:
        history.add(one)
    assert read_history(history.path) == CALM
    assert history.counts()["commit"] == {"ok": 1, "unknown": 1}


def test_a_plan_of_faults_is_determined_by_its_seed() -> None:
    faults = plan(7, 600)
    assert faults == plan(7, 600)
    assert faults != plan(8, 600)
    assert len({one.kind for one in faults}) == 14
    assert len(faults) > 250
    for target in range(5):
        own = [one for one in faults if one.target == target]
        assert all(one.at + one.seconds <= two.at for one, two in pairwise(own))
        assert all(0 <= one.seconds <= 8 and one.at + one.seconds <= 600.001 for one in own)
