"""Retries of deliveries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_hooks.schedule import DELAYS, LONGEST_WAIT, Next, Verdict, after, delay_after, retry_after_seconds

NOW = 1_700_000_000.0


def test_the_delays() -> None:
    assert [delay_after(tries, 0.5) for tries in range(1, 9)] == [5, 30, 120, 600, 3600, 21600, 86400, None]
    assert delay_after(0, 0.5) is None
    assert [delay_after(1, 0.0), delay_after(1, 1.0)] == [pytest.approx(4.0), pytest.approx(6.0)]
    assert delay_after(7, 1.0) == pytest.approx(1.2 * 86400)


@given(st.integers(1, len(DELAYS)), st.floats(0, 1))
def test_each_delay_is_near_its_value(tries: int, random: float) -> None:
    delay = delay_after(tries, random)
    assert delay is not None
    assert 0.8 * DELAYS[tries - 1] <= delay * 1.000001
    assert delay <= 1.2 * DELAYS[tries - 1] * 1.000001


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_success_statuses_are_delivered(status: int) -> None:
    assert after(status, tries=1, random=0.5) == Next(Verdict.DELIVERED)


@pytest.mark.parametrize("status", [None, 408, 425, 429, 500, 502, 503, 504, 599])
def test_failed_deliveries_are_retried(status: int | None) -> None:
    assert after(status, tries=1, random=0.5) == Next(Verdict.RETRY, 5.0)
    assert after(status, tries=7, random=0.5) == Next(Verdict.RETRY, 86400.0)
    assert after(status, tries=8, random=0.5) == Next(Verdict.FAILED)


@pytest.mark.parametrize("status", [100, 301, 302, 307, 308, 400, 401, 403, 404, 409, 412, 422, 451])
def test_failed(status: int) -> None:
    assert after(status, tries=1, random=0.5) == Next(Verdict.FAILED)


def test_a_gone_receiver_disables_the_hook() -> None:
    assert after(410, tries=1, random=0.5) == Next(Verdict.DISABLE)
    assert after(410, tries=8, random=0.5) == Next(Verdict.DISABLE)


def test_a_receiver_asks_for_a_wait() -> None:
    assert after(429, tries=1, random=0.5, retry_after=60) == Next(Verdict.RETRY, 60)
    assert after(503, tries=1, random=0.5, retry_after=60) == Next(Verdict.RETRY, 60)
    assert after(500, tries=1, random=0.5, retry_after=60) == Next(Verdict.RETRY, 5)
    assert after(429, tries=3, random=0.5, retry_after=60) == Next(Verdict.RETRY, 120), "never sooner than without"
    assert after(429, tries=1, random=0.5, retry_after=1e9) == Next(Verdict.RETRY, LONGEST_WAIT)
    assert after(429, tries=8, random=0.5, retry_after=60) == Next(Verdict.FAILED)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("0", 0),
        ("9" * 5000, LONGEST_WAIT),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0),
        ("Tue, 14 Nov 2023 22:14:20 -0000", 60),
        ("Fri, 01 Jan 2100 00:00:00 GMT", LONGEST_WAIT),
        ("", 0),
        ("soon", 0),
        ("-5", 0),
        ("1.5", 0),
        ("١٢", 0),
        ("Tue, 99 Nov 2023 22:14:20 GMT", 0),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0),
    ],
)
def test_retry_after(header: str, seconds: float) -> None:
    assert retry_after_seconds(header, now=NOW) == seconds


@given(st.text(max_size=80))
def test_any_retry_after(header: str) -> None:
    assert 0 <= retry_after_seconds(header, now=NOW) <= LONGEST_WAIT
