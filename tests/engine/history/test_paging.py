"""Listings and diffs page by page, against dictionaries: prefixes, delimiters, tombstones, staged over committed."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary import errors

from tests.engine.calls import crash_after_seal
from tests.engine.pages import Item, grouped, listed
from tests.engine.support import REPO, commit, fails, make_engine, put, put_commit
from tests.engine.trees import Delta, State, applied
from tests.support.sizes import examples

names = st.one_of(
    st.text("ab/", min_size=1, max_size=5), st.sampled_from(["\U0010ffff/\U0010ffff", "é/é", "/", "//", "a\0/b"])
)
states = st.dictionaries(names, st.sampled_from(["1", "2"]), max_size=12)
deltas = st.dictionaries(names, st.sampled_from(["1", "2", None]), max_size=8)
prefixes = st.sampled_from(["", "a", "a/", "/", "a/b", "\U0010ffff", "b//"])
delimiters = st.sampled_from(["", "/", "b", "a/", "\U0010ffff"])
afters = st.one_of(st.just(""), names, st.sampled_from(["a/", "a/b/", "\U0010ffff"]))
amounts = st.sampled_from([1, 2, 5, 1000])
FEW = examples(100, soak=150)


async def apply_all(engine: Engine, delta: Delta, branch: str = "main") -> None:
    for path, text in delta.items():
        await (put(engine, path, text, branch) if text else engine.objects.delete(REPO, branch, path))


async def commit_all(engine: Engine, delta: Delta, branch: str = "main") -> None:
    await apply_all(engine, delta, branch)
    await commit(engine, branch=branch, allow_empty=True)


async def differences(verb: Any, amount: int, after: str, **options: Any) -> list[Item]:
    found: list[Item] = []
    while True:
        page = await verb(after=after, amount=amount, **options)
        assert len(page.items) == amount or not page.has_more
        found += [(one.path, one.type) for one in page.items]
        if not page.has_more:
            return found
        after = page.items[-1].path


@FEW
@given(states, deltas, deltas, prefixes, delimiters, afters, amounts)
async def test_listings(
    base: State, layer: Delta, staged: Delta, prefix: str, delimiter: str, after: str, amount: int
) -> None:
    engine = await make_engine()
    await commit_all(engine, dict(base))
    await apply_all(engine, layer)
    await crash_after_seal(engine) if layer else None
    await apply_all(engine, staged)
    for ref, state in (("main", applied(applied(base, layer), staged)), ("main@", base)):
        wanted = grouped(((path, "object") for path in state), prefix, delimiter, after, "group")
        assert await listed(engine, ref, amount, after, prefix=prefix, delimiter=delimiter) == wanted
    await engine.close()


def kinds(left: State, right: State) -> list[Item]:
    """The oracle of a plain diff."""
    return [
        (path, "added" if path not in left else "removed" if path not in right else "changed")
        for path in {*left, *right}
        if left.get(path) != right.get(path)
    ]


@FEW
@given(states, deltas, deltas, prefixes, delimiters, afters, amounts, st.booleans())
async def test_diffs(
    base: State, ours: Delta, theirs: Delta, prefix: str, delimiter: str, after: str, amount: int, details: bool
) -> None:
    engine = await make_engine()
    await commit_all(engine, dict(base))
    await engine.branches.create(REPO, "dev", "main")
    await commit_all(engine, ours)
    await commit_all(engine, theirs, "dev")
    left, right = applied(base, ours), applied(base, theirs)
    options = {"prefix": prefix, "delimiter": delimiter}

    def verb(one: str, other: str, mode: Literal["two_dot", "three_dot"]) -> Any:
        return lambda **more: engine.commits.diff(REPO, one, other, mode=mode, details=details, **more)

    wanted = grouped(kinds(left, right), prefix, delimiter, after, "prefix_changed")
    assert await differences(verb("main", "dev", "two_dot"), amount, after, **options) == wanted
    three = []
    for path, kind in kinds(base, right):
        if left.get(path) == right.get(path):
            continue
        three.append((path, kind if left.get(path) == base.get(path) else "conflict"))
    wanted = grouped(three, prefix, delimiter, after, "prefix_changed")
    assert await differences(verb("main", "dev", "three_dot"), amount, after, **options) == wanted

    await apply_all(engine, theirs)
    staged = applied(left, theirs)
    wanted = grouped(kinds(left, staged), prefix, delimiter, after, "prefix_changed")
    branch = lambda **more: engine.branches.diff(REPO, "main", **more)  # noqa: E731
    assert await differences(branch, amount, after, **options) == wanted
    wanted = grouped(kinds(base, staged), prefix, delimiter, after, "prefix_changed")
    assert await differences(verb("main~1", "main$", "two_dot"), amount, after, **options) == wanted
    await engine.close()


async def test_a_path_that_is_the_prefix_itself_is_no_common_prefix() -> None:
    engine = await make_engine()
    rows = {"a/": "1", "a/b": "1", "a/c/d": "1", "b": "1"}
    await put_commit(engine, rows)  # type: ignore[arg-type]
    for amount in (1, 2, 3):
        found = await listed(engine, "main", amount, "", prefix="a/", delimiter="/")
        assert found == [("a/", "object"), ("a/b", "object"), ("a/c/", "group")]


async def test_long_listings_with_a_thousand_staged_rows_after_a_page() -> None:
    engine = await make_engine()
    async_rows = [f"p/{number:05}" for number in range(2300)]
    from lakebed_engine.vocabulary.requests import Deletion

    from tests.engine.support import chunked

    await engine.objects.delete_many(REPO, "main", async_rows[:-1])
    await put(engine, async_rows[-1], "last")
    assert await listed(engine, "main", 1, "") == [(async_rows[-1], "object")]
    await engine.objects.upload_many(REPO, "main", chunked(Deletion(path) for path in [async_rows[-1]]))
    assert await listed(engine, "main", 1, "") == []
    assert await listed(engine, "main", 1, "", delimiter="/") == []
    assert not (await engine.branches.diff(REPO, "main", amount=1)).items


@pytest.mark.parametrize("amount", [0, -1, 1001])
async def test_bad_amounts(amount: int) -> None:
    engine = await make_engine()
    await fails(engine.objects.list(REPO, "main", amount=amount), errors.InvalidRequestError)
    await fails(engine.branches.diff(REPO, "main", amount=amount), errors.InvalidRequestError)
    await fails(engine.commits.diff(REPO, "main", "main", amount=amount), errors.InvalidRequestError)
    await fails(engine.branches.list(REPO, amount=amount), errors.InvalidRequestError)
    await fails(engine.tags.list(REPO, amount=amount), errors.InvalidRequestError)
    await fails(engine.repositories.list(amount=amount), errors.InvalidRequestError)


async def test_diffs_of_invalid_refs_are_refused() -> None:
    engine = await make_engine()
    await fails(engine.commits.diff(REPO, "main$", "main", mode="two_dot"), errors.InvalidRefError)
    await fails(engine.commits.diff(REPO, "main", "main$"), errors.InvalidRefError)
    await fails(engine.commits.diff(REPO, "main", "nope"), errors.RefNotFoundError)
    await fails(engine.branches.diff(REPO, "nope"), errors.BranchNotFoundError)


@pytest.mark.parametrize("amount", [1, 2, 3, 1000])
async def test_names_page_by_page(amount: int) -> None:
    engine = await make_engine()
    wanted = sorted(["main", "a", "a-b", "a_b", "aa", "b", "B", "0"])
    for name in wanted:
        await engine.branches.create(REPO, name, "main", hidden=name == "aa") if name != "main" else None
        await engine.tags.create(REPO, f"t-{name}", "main")
        await engine.repositories.create(f"rr-{name.lower().replace('_', '-x')}-{ord(name[0])}", f"mem://r{name}")

    async def every(verb: Any, **options: Any) -> list[str]:
        found: list[str] = []
        while True:
            page = await verb(after=found[-1] if found else "", amount=amount, **options)
            assert len(page.items) == amount or not page.has_more
            found += [one.name for one in page.items]
            if not page.has_more:
                return found

    branches = lambda **more: engine.branches.list(REPO, **more)  # noqa: E731
    tags = lambda **more: engine.tags.list(REPO, **more)  # noqa: E731
    assert await every(branches) == [name for name in wanted if name != "aa"]
    assert await every(branches, show_hidden=True) == wanted
    assert await every(branches, prefix="a", show_hidden=True) == [name for name in wanted if name[0] == "a"]
    assert await every(branches, prefix="zz") == []
    assert await every(tags) == [f"t-{name}" for name in wanted]
    assert await every(tags, prefix="t-a") == [f"t-{name}" for name in wanted if name[0] == "a"]
    found = await every(engine.repositories.list, prefix="rr-")
    assert found == sorted(found)
    assert len(found) == len(wanted)
    assert await every(engine.repositories.list, search="ain") == ["rr-main-109"]
