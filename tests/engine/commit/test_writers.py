"""The commit that wrote each file of a listing, against the history of a model."""

from __future__ import annotations

import random

from lakebed_engine.engine import Engine

from tests.engine.calls import revert
from tests.engine.support import REPO, commit, make_engine, merge, put, put_commit


async def writers(engine: Engine, ref: str = "main", **options: object) -> dict[str, tuple[str | None, bool]]:
    page = await engine.objects.writers(REPO, ref, **options)  # type: ignore[arg-type]
    return {one.path: (None if one.commit is None else one.commit.id, one.is_uncommitted) for one in page.items}


async def test_each_file_has_the_newest_commit_that_wrote_its_content() -> None:
    dice = random.Random(1)
    engine = await make_engine()
    wrote: dict[str, str] = {}
    texts: dict[str, str] = {}
    for number in range(40):
        rows = {f"t/{dice.randrange(12):02}": f"{dice.randrange(3)}" for _ in range(3)}
        fresh = {path: text for path, text in rows.items() if texts.get(path) != text}
        made = await put_commit(engine, {**rows, f"other/{number}": "x"})
        wrote.update(dict.fromkeys(fresh, made.id))
        texts.update(rows)
    assert await writers(engine, prefix="t/") == {path: (wrote[path], False) for path in sorted(wrote)}
    page = await engine.objects.writers(REPO, "main", prefix="t/", amount=5)
    assert [one.path for one in page.items] == sorted(wrote)[:5]
    assert page.has_more


async def test_what_is_not_committed_has_no_commit() -> None:
    engine = await make_engine()
    made = await put_commit(engine, {"a": "1", "b": "1"})
    await put(engine, "a", "2")
    await put(engine, "c", "1")
    assert await writers(engine) == {"a": (None, True), "b": (made.id, False), "c": (None, True)}
    assert await writers(engine, "main@") == {"a": (made.id, False), "b": (made.id, False)}


async def test_a_merge_and_a_revert_keep_the_commit_that_wrote() -> None:
    engine = await make_engine()
    first = await put_commit(engine, {"a": "1", "b": "1"})
    await engine.branches.create(REPO, "dev", "main")
    on_dev = await put_commit(engine, {"a": "dev"}, branch="dev")
    await put_commit(engine, {"z": "1"})
    await merge(engine, "dev")
    assert (await writers(engine))["a"] == (on_dev.id, False)
    assert (await writers(engine))["b"] == (first.id, False)
    await put(engine, "b", "2")
    await commit(engine)
    back = await revert(engine, "main")
    assert (await writers(engine))["b"] == (back.id, False)


async def test_the_search_ends_in_time() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    newest = await put_commit(engine, {"b": "1"})
    assert await writers(engine, budget=0) == {"a": (None, False), "b": (newest.id, False)}
