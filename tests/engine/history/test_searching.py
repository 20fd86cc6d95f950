"""Search by name: every page is what a filter of the whole listing gives, however few paths a request reads."""

from __future__ import annotations

import pytest
from lakebed_engine.vocabulary import errors

from tests.engine.support import REPO, commit, fails, make_engine, put

PATHS = [f"{folder}/{name}-{number}" for folder in ("a", "Orders") for name in ("x", "ORDERS") for number in range(8)]


@pytest.mark.parametrize("most_scanned", [1, 7, 32, 1000])
@pytest.mark.parametrize("amount", [1, 3, 1000])
@pytest.mark.parametrize("prefix", ["", "a/", "Orders/", "Orders/O", "z"])
async def test_pages_together_are_the_filtered_listing(most_scanned: int, amount: int, prefix: str) -> None:
    engine = await make_engine()
    for path in PATHS[1:]:
        await put(engine, path, "1")
    await commit(engine)
    await put(engine, PATHS[0], "1")
    await engine.objects.delete(REPO, "main", PATHS[9])
    expected = [
        path
        for path in sorted({*PATHS} - {PATHS[9]})
        if path.startswith(prefix) and "orders" in path[len(prefix) :].lower()
    ]
    found: list[str] = []
    after = ""
    while True:
        page = await engine.objects.search(
            REPO, "main", query="orders", prefix=prefix, after=after, amount=amount, most_scanned=most_scanned
        )
        assert len(page.items) <= amount
        assert page.scanned <= most_scanned
        assert not page.bound_reached or page.scanned == most_scanned
        found += [one.path for one in page.items]
        if not page.after:
            break
        assert page.after > after
        after = page.after
    assert found == expected


async def test_an_empty_search_is_refused() -> None:
    engine = await make_engine()
    await fails(engine.objects.search(REPO, "main", query=""), errors.InvalidRequestError)
