"""searchObjects: paths by a part of their name, over HTTP, by the SDK and by the command."""

from __future__ import annotations

from collections.abc import Iterator

import lakebed
import lakebed.aio
import pytest

from tests.cli.conftest import Run
from tests.support.processes.server import RunningServer

MARKUP = "raw/<img src=x onerror=alert(1)>.csv"
RTL = "raw/\u202egnp.تقرير"
EMOJI = "raw/😀 Straße.csv"
LONG = "raw/" + "n" * 1020
PATHS = [MARKUP, RTL, EMOJI, LONG, "orders/2026-11/a.parquet", "orders/2026-12/Orders.parquet", "users/Orders.csv"]


@pytest.fixture(scope="module")
def main(server: RunningServer) -> Iterator[lakebed.Branch]:
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        main = lake.repository("search").create("local://search").branch("main")
        for path in PATHS[:-1]:
            main.put(path, b"x")
        main.commit("first")
        main.put(PATHS[-1], b"uncommitted")
        yield main


def found(ref: lakebed.Ref, text: str, prefix: str = "") -> list[str]:
    return [row.path for row in ref.find(text, prefix)]


def test_upper_and_lower_case_are_the_same_and_the_prefix_does_not_count(main: lakebed.Branch) -> None:
    assert found(main, "oRdErS") == ["orders/2026-11/a.parquet", "orders/2026-12/Orders.parquet", "users/Orders.csv"]
    assert found(main, "orders", "orders/") == ["orders/2026-12/Orders.parquet"]
    assert found(main.repository.ref("main@"), "users") == []
    assert found(main, "STRASSE") == [EMOJI]
    assert found(main, "<IMG") == [MARKUP]
    assert found(main, "تقرير") == [RTL]
    assert found(main, "n" * 1020) == [LONG]
    assert found(main, "%") == []


def test_pages_continue(main: lakebed.Branch) -> None:
    expected = found(main, "orders")
    assert [row.path for row in main.find("orders", limit=1)] == expected[:1]
    second = main.find("orders", after=expected[0]).first()
    assert second is not None
    assert second.path == expected[1]


async def test_the_async_sdk_and_the_command_find_the_same(
    main: lakebed.Branch, server: RunningServer, run: Run
) -> None:
    async with lakebed.aio.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        rows = await lake.repository("search").branch("main").find("orders").all()
    assert [row.path for row in rows] == found(main, "orders")
    assert [row["path"] for row in run("fs", "find", "search/main", "orders", "--json").json] == found(main, "orders")


def test_empty_search_text_is_refused(main: lakebed.Branch) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match="q"):
        main.find("").all()
