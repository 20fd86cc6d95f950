"""Tests of the waiting helpers: a wait that ends too early, or an ignored failure, would hide faults."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Self

import pytest

from tests.server.support import serving
from tests.support import steady as module
from tests.support import waiting
from tests.support.steady import Pulse, steady


async def test_timeout_names_the_missing_event(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([False, False, True])
    waiting.wait_until(lambda: next(looks))
    looks = iter([False, True])
    await waiting.until(lambda: next(looks))
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)
    with pytest.raises(AssertionError, match="it did not happen in 0 s: the sun rises in the west"):
        waiting.wait_until(lambda: False, "the sun rises in the west")
    with pytest.raises(AssertionError, match="it did not happen in 0 s: the sun rises in the west"):
        await waiting.until(lambda: False, "the sun rises in the west")


def test_wait_returns_the_value_and_reports_the_last_one() -> None:
    values = iter([[], [], ["ready"]])
    assert waiting.wait_until(lambda: next(values), every=0) == ["ready"]
    with pytest.raises(AssertionError, match=r"it did not happen in 0 s: a text of the end; the last value was \[\]"):
        waiting.wait_until(list, lambda: "a text of the end", seconds=0.01)


def test_pulse_measures_the_longest_pause() -> None:
    now = iter([0.0, 1.0, 8.0, *(8.0 + beat for beat in range(1, 1_000_000))])
    with Pulse(clock=lambda: next(now)) as pulse:
        waiting.wait_until(lambda: pulse.longest > 6)
    assert 6 < pulse.longest <= 7


@pytest.mark.medium
def test_a_slow_server_counts_as_a_stall() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.2)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    with serving(slow, lifespan="off") as port, Pulse([f"http://127.0.0.1:{port}/"]) as pulse:
        waiting.wait_until(lambda: pulse.longest >= 0.2)


class Still(Pulse):
    """As if the machine had stood still."""

    def __enter__(self) -> Self:
        self.longest = 10.0
        return super().__enter__()


@pytest.mark.parametrize(("pulse", "times"), [(Pulse, 1), (Still, 3)], ids=["steady", "still"])
@pytest.mark.parametrize("door", ["sync", "async"])
def test_a_failure_counts_if_the_machine_did_not_stall(
    pulse: type[Pulse], times: int, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Pulse", pulse)
    monkeypatch.setattr(module, "_STILL", 5.0)
    monkeypatch.setattr(module, "_TIMES", 3)
    made: list[float] = []

    @steady()
    def fails() -> None:
        made.append(time.monotonic())
        raise ValueError("broken")

    @steady()
    async def fails_in_a_loop() -> None:
        made.append(time.monotonic())
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        if door == "sync":
            fails()
        else:
            asyncio.run(fails_in_a_loop())
    assert len(made) == times


def test_a_retry_that_succeeds_is_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Pulse", Still)
    turns = iter([False, True])

    @steady()
    def fails_once() -> str:
        assert next(turns)
        return "well"

    assert fails_once() == "well"
    assert list(turns) == []
