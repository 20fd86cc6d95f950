"""A unit test that starts a process or opens a socket fails, and the sizes of property tests follow the tier."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.sizes import examples, sized


def test_a_unit_test_may_not_start_a_process() -> None:
    for start in (lambda: subprocess.run([sys.executable, "-V"], check=True), os.fork):
        with pytest.raises(pytest.fail.Exception, match="mark it `slow`"):
            start()


def test_a_unit_test_may_not_open_a_socket() -> None:
    with socket.socket() as one:
        with pytest.raises(pytest.fail.Exception, match="mark it `medium`"):
            one.bind(("127.0.0.1", 0))
        with pytest.raises(pytest.fail.Exception, match="mark it `medium`"):
            one.connect(("127.0.0.1", 9))


@pytest.mark.medium
def test_a_medium_test_may_open_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.integers())
def test_a_test_of_drawn_cases_is_marked(request: pytest.FixtureRequest, drawn: int) -> None:
    assert isinstance(drawn, int)
    assert request.node.get_closest_marker("medium") is not None


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
