"""Requests are counted by month, and `getUsageReportSummary` reports them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary.errors import StoreUnavailableError
from lakebed_server.auth.usage import Month, Usage
from lakefs_sdk.models.installation_usage_report import InstallationUsageReport

from tests.server.lake import Lake

NOVEMBER, DECEMBER = 1_795_780_800.0, 1_796_126_400.0  # 27 November and 1 December 2026


def test_requests_are_counted_by_month_and_by_all_servers() -> None:
    async def job() -> None:
        kv, now = MemoryKV(), [NOVEMBER]
        one, other = Usage(lambda: now[0]), Usage(lambda: now[0])
        for _ in range(3):
            one.note()
        other.note()
        await asyncio.gather(one.write(kv), other.write(kv))
        now[0] = DECEMBER
        one.note()
        first, months = await one.report(kv)
        assert months == [Month(2026, 11, 4), Month(2026, 12, 1)]
        assert await other.report(kv) == (first, months)
        assert len(first) == 32

    asyncio.run(job())


def test_a_store_that_fails_loses_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    async def job() -> None:
        kv, usage = MemoryKV(), Usage(lambda: NOVEMBER)
        usage.note()

        async def gone(*_: Any) -> Any:
            raise StoreUnavailableError("gone")

        with monkeypatch.context() as patch:
            patch.setattr(kv, "apply", gone)
            await usage.write(kv)
        assert (await usage.report(kv))[1] == [Month(2026, 11, 1)]

    asyncio.run(job())


def test_the_report_has_the_form_that_clients_read() -> None:
    lake = Lake()
    try:
        before = sum(row["count"] for row in lake("GET", "/usage-report/summary")["reports"])
        for _ in range(5):
            lake("GET", "/repositories")
        answer = lake("GET", "/usage-report/summary")
        (row,) = InstallationUsageReport.from_dict(answer).reports
        assert row.count == before + 6
        lake("GET", "/repositories", None, 401, authorization="Basic eDp5")
        assert lake("GET", "/usage-report/summary")["reports"][0]["count"] == before + 7
    finally:
        lake.close()
