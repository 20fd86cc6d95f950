"""Actions whose receiver does not answer rest, and one call finds out whether it answers again."""

from __future__ import annotations

from lakebed_server.hooks.attempts import RESTS, Rests

ACTION, OTHER = ("lake", "notify"), ("lake", "other")


def test_an_action_rests_longer_each_time_its_receiver_does_not_answer() -> None:
    rests, now = Rests(), 100.0
    for seconds in (*RESTS, RESTS[-1]):
        rests.begin_call(ACTION, now)
        rests.end_call(ACTION, now, now + 1, is_silent=True)
        assert rests.has(ACTION, now + seconds)
        assert not rests.has(ACTION, now + 1 + seconds)
        assert not rests.has(OTHER, now + 1)
        now += 1 + seconds


def test_calls_that_began_before_the_rest_do_not_make_it_longer() -> None:
    rests = Rests()
    for ended in (101.0, 102.0, 103.0):
        rests.end_call(ACTION, 100.0, ended, is_silent=True)
    assert rests.has(ACTION, 105.9)
    assert not rests.has(ACTION, 106.0)
    rests.end_call(ACTION, 106.0, 107.0, is_silent=True)
    assert rests.has(ACTION, 116.9)
    assert not rests.has(ACTION, 117.0)


def test_after_a_rest_the_other_calls_wait_for_the_first_one() -> None:
    rests = Rests()
    rests.begin_call(ACTION, 100.0)
    assert not rests.has(ACTION, 100.0)  # calls run together until one is not answered
    rests.end_call(ACTION, 100.0, 100.0, is_silent=True)
    rests.begin_call(ACTION, 106.0)
    assert rests.has(ACTION, 106.0)
    rests.end_call(ACTION, 106.0, 107.0, is_silent=False)
    assert not rests.has(ACTION, 107.0)
    assert not rests
