"""Messages and user metadata have at most 64 KiB, and a page of a listing at most 8 MiB of them."""

from __future__ import annotations

from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.validation import MAX_TEXT_BYTES, PAGE_BYTES
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.requests import LogRequest, UploadRequest, WorkspaceRequest

from tests.engine.support import REPO, commit, fails, make_engine, merge, once, put

LONG = "x" * (MAX_TEXT_BYTES + 1)
FULL = {"k": "v" * (MAX_TEXT_BYTES - 1)}
MANY = {f"{number:05}": "" for number in range(MAX_TEXT_BYTES // 5 + 1)}


@pytest.mark.parametrize("wanted", [{"message": LONG}, {"message": "m", "metadata": MANY}], ids=["message", "metadata"])
async def test_a_commit_with_more_is_refused_and_changes_nothing(wanted: dict[str, Any]) -> None:
    engine = await make_engine()
    await put(engine, "a", "1")
    before = await engine.branches.get(REPO, "main")
    error = await fails(commit(engine, **wanted), errors.InvalidRequestError)
    assert "65,536" in str(error)
    assert await engine.branches.get(REPO, "main") == before
    await commit(engine, "m" * MAX_TEXT_BYTES, metadata=FULL)


async def test_bytes_count_not_characters() -> None:
    engine = await make_engine()
    await put(engine, "a", "1")
    await fails(commit(engine, "é" * (MAX_TEXT_BYTES // 2 + 1)), errors.InvalidRequestError)
    await commit(engine, "é" * (MAX_TEXT_BYTES // 2))


async def test_every_operation_refuses_too_long_texts() -> None:
    engine = await make_engine()
    await put(engine, "a", "1")
    await commit(engine)
    await engine.branches.create(REPO, "dev", "main")
    await put(engine, "b", "1", branch="dev")
    await commit(engine, branch="dev")
    for attempt in (
        merge(engine, "dev", message=LONG),
        merge(engine, "dev", metadata=MANY),
        engine.objects.upload(REPO, "main", UploadRequest(path="a", metadata=MANY), once(b"1")),
        engine.repositories.set_metadata(REPO, MANY),
        engine.workspaces.create(REPO, WorkspaceRequest(ref="main", creator="ann", message=LONG)),
    ):
        await fails(attempt, errors.InvalidRequestError)


async def test_the_metadata_of_a_repository_does_not_grow_beyond_it_either() -> None:
    engine = await make_engine()
    await engine.repositories.set_metadata(REPO, FULL)
    await fails(engine.repositories.set_metadata(REPO, {"other": "value"}), errors.InvalidRequestError)
    await engine.repositories.delete_metadata(REPO, ["k"])
    await engine.repositories.set_metadata(REPO, {"other": "value"})


async def _all_of_log(engine: Engine, amount: int) -> list[int]:
    sizes, after = [], ""
    while True:
        page = await engine.commits.log(REPO, "main", LogRequest(after=after, amount=amount))
        sizes.append(len(page.items))
        assert sum(len(one.message) for one in page.items) <= PAGE_BYTES
        if not page.has_more:
            return sizes
        after = page.items[-1].id


async def test_a_page_of_the_log_ends_at_8_mib() -> None:
    engine = await make_engine()
    for number in range(130):
        await commit(engine, f"{number:03}" + "m" * (MAX_TEXT_BYTES - 3), allow_empty=True)
    sizes = await _all_of_log(engine, 1000)
    assert sizes[0] == PAGE_BYTES // MAX_TEXT_BYTES
    assert sum(sizes) == 131  # and the first commit of the repository
    assert await _all_of_log(engine, 50) == [50, 50, 31]


async def test_a_page_of_objects_ends_at_8_mib() -> None:
    engine = await make_engine()
    for number in range(130):
        await put(engine, f"{number:03}", "1", metadata=FULL)
    first = await engine.objects.list(REPO, "main", amount=1000)
    assert (len(first.items), first.has_more) == (PAGE_BYTES // MAX_TEXT_BYTES, True)
    rest = await engine.objects.list(REPO, "main", after=first.items[-1].path, amount=1000)
    assert ([one.path for one in rest.items], rest.has_more) == (["128", "129"], False)
