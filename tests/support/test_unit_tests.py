"""A unit test that starts a process fails, and the sizes of property tests follow the tier."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.sizes import examples, sized


def test_a_unit_test_may_not_start_a_process() -> None:
    for start in (lambda: subprocess.run([sys.executable, "-V"], check=True), os.fork):
        with pytest.raises(pytest.fail.Exception, match="mark it `slow`"):
            start()


@pytest.mark.slow
def test_a_slow_test_may_start_one() -> None:
    done = subprocess.run([sys.executable, "-c", "print('started')"], capture_output=True, text=True, check=True)
    assert done.stdout == "started\n"


@pytest.mark.parametrize(("tier", "sizes"), [("check", (24, 1, 7)), ("test", (120, 2, 35)), ("soak", (120, 2, 100))])
def test_sizes_follow_the_tier(monkeypatch: pytest.MonkeyPatch, tier: str, sizes: tuple[int, int, int]) -> None:
    monkeypatch.setenv("LAKEBED_TIER", tier)
    assert (sized(120), sized(2), sized(35, soak=100)) == sizes
    assert examples(120).max_examples == sizes[0]


def test_an_unknown_tier_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_TIER", "quick")
    with pytest.raises(AssertionError, match="LAKEBED_TIER=quick"):
        sized(1)
