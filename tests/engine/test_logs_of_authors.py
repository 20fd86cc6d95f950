"""Logs by author and time: every page is what a filter of the whole log gives, however few commits a page reads."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.requests import LogRequest

from tests.engine.support import REPO, fails, make_engine, put_commit

NAMES = ["ann", "Ann-Marie", "bo", "bo", "bo", "bo", "bo", "bo", "STRASSE", "ann"]


async def grown() -> Engine:
    """Twenty commits of `main`, oldest first by their dates, each of `a` or of `b`."""
    engine = await make_engine()
    for number, name in enumerate(NAMES * 2):
        path = "ab"[number % 3 == 0]
        await put_commit(engine, {path: str(number)}, committer=name, date=1_000 + number, message=str(number))
    return engine


async def pages(engine: Engine, *, most_read: int, **options: Any) -> list[list[str]]:
    """The messages of each page."""
    found: list[list[str]] = []
    after = ""
    while True:
        page = await engine.commits.log(REPO, "main", LogRequest(after=after, **options), most_read=most_read)
        found.append([one.message for one in page.items])
        assert page.has_more == bool(page.after)
        if not page.has_more:
            return found
        assert page.after != after
        after = page.after


def fits(number: int, name: str, options: dict[str, Any]) -> bool:
    return (
        options.get("author", name) == name
        and options.get("author_contains", "").casefold() in name.casefold()
        and 1_000 + number < options.get("until", 5_000)
        and options.get("objects", ["ab"[number % 3 == 0]]) == ["ab"[number % 3 == 0]]
    )


QUESTIONS: list[dict[str, Any]] = [
    {"author": "ann"},
    {"author": "bo", "objects": ["a"]},
    {"author_contains": "AN"},
    {"author_contains": "stra\u00dfe"},
    {"author": "nobody"},
    {"until": 1_007.0},
    {"until": 1_007.0, "author": "bo", "author_contains": "o"},
]


@pytest.mark.parametrize("most_read", [1, 3, 20, 1000])
async def test_pages_together_are_the_filtered_log(most_read: int) -> None:
    engine = await grown()
    for amount, options in product((1, 2, 1000), QUESTIONS):
        found = await pages(engine, most_read=most_read, amount=amount, **options)
        wanted = [str(number) for number, name in reversed([*enumerate(NAMES * 2)]) if fits(number, name, options)]
        assert [one for page in found for one in page] == wanted, (amount, options)
        assert max(map(len, found)) <= amount


async def test_a_page_without_a_hit_ends_at_the_bound_and_has_a_cursor() -> None:
    engine = await grown()
    assert await pages(engine, most_read=7, author="nobody") == [[], [], []], (
        "20 commits and the first of the repository"
    )
    page = await engine.commits.log(REPO, "main", LogRequest(author="nobody", limit=True), most_read=7)
    assert page.has_more, "also with `limit`: what follows was not read"
    assert [one.message for one in (await engine.commits.log(REPO, "main", LogRequest(), most_read=7)).items][-2:] == [
        "0",
        "Repository created",
    ], "a log without such a filter has no bound"


async def test_bad_cursors_and_texts_are_refused() -> None:
    engine = await grown()
    for after in ("0" * 64, "main", "x"):
        await fails(engine.commits.log(REPO, "main", LogRequest(author="ann", after=after)), errors.InvalidRequestError)
    for bad in (LogRequest(author="\ud800"), LogRequest(author_contains="\ud800")):
        await fails(engine.commits.log(REPO, "main", bad), errors.InvalidRequestError)
