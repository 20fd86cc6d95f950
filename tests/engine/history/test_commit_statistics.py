"""The numbers of one commit, against its diff."""

from __future__ import annotations

import pytest
from lakebed_engine.vocabulary.records import CommitStatistics

from tests.engine.support import REPO, commit, make_engine, put


async def test_paths_and_bytes_of_each_commit() -> None:
    engine = await make_engine()
    for path, text in (("a", "1"), ("b", "22"), ("c", "333")):
        await put(engine, path, text)
    first = await commit(engine)
    await put(engine, "a", "4444")
    await put(engine, "d", "55555")
    await engine.objects.delete(REPO, "main", "c")
    second = await commit(engine)
    found = await engine.commits.statistics(REPO, "main")
    assert found == CommitStatistics(second.id, first.id, 1, 1, 1, 4 + 5, 1 + 3, True)
    of_first = await engine.commits.statistics(REPO, first.id)
    assert (of_first.added, of_first.bytes_added, of_first.removed, of_first.changed) == (3, 6, 0, 0)
    empty = await engine.commits.statistics(REPO, "main~2")
    assert empty == CommitStatistics(empty.commit_id, "", 0, 0, 0, 0, 0, True)


@pytest.mark.parametrize(("most", "complete"), [(2, False), (3, True)])
async def test_the_count_ends_at_its_bound(most: int, complete: bool) -> None:
    engine = await make_engine()
    for path in "abc":
        await put(engine, path, "1")
    await commit(engine)
    assert (await engine.commits.statistics(REPO, "main", most_changes=most)).complete == complete
