"""The order of commits, and work in threads."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest
from lakebed._migrate.content import in_order
from lakebed._migrate.history import parents_first, read_new
from lakebed._migrate.values import SourceCommit


def graph(seed: int, size: int) -> dict[str, SourceCommit]:
    drawn = random.Random(seed)
    commits: dict[str, SourceCommit] = {}
    for number in range(size):
        parents = (
            tuple(dict.fromkeys(str(drawn.randrange(number)) for _ in range(drawn.choice([1, 1, 2])))) if number else ()
        )
        commits[str(number)] = SourceCommit(str(number), parents, "", "", number)
    return commits


@pytest.mark.parametrize("seed", range(20))
def test_parents_come_before_children_and_each_commit_once(seed: int) -> None:
    commits = graph(seed, 60)
    head = "59"
    reached = {head}
    for number in range(59, -1, -1):
        if str(number) in reached:
            reached.update(commits[str(number)].parents)
    read: dict[str, Any] = {}
    read_new(head, reversed(commits.values()), read)
    assert set(read) == reached
    order = [commit.id for commit in parents_first(head, read)]
    assert sorted(order, key=int) == sorted(reached, key=int)
    assert all(order.index(parent) < order.index(one) for one in order for parent in commits[one].parents)


def test_a_log_is_read_up_to_known_commits_only() -> None:
    commits = graph(1, 1000)
    chain = [SourceCommit(str(n), (str(n - 1),), "", "", n) for n in range(999, 0, -1)]
    taken = 0

    def log() -> Any:
        nonlocal taken
        for one in chain:
            taken += 1
            yield one

    read: dict[str, Any] = {}
    read_new("999", log(), read, lambda commit: commit == "989")
    assert (len(read), taken) == (10, 10)
    assert len(commits) == 1000


def test_a_deep_history_needs_no_deep_stack() -> None:
    commits = {str(n): SourceCommit(str(n), (str(n - 1),) if n else (), "", "", n) for n in range(100_000)}
    assert [int(one.id) for one in parents_first("99999", commits)] == list(range(100_000))


def test_results_are_in_order_and_begun_ahead_by_a_bounded_number() -> None:
    begun = 0
    lock = threading.Lock()

    def work(number: int) -> int:
        nonlocal begun
        with lock:
            begun += 1
        return number * 2

    results = in_order(4, iter(range(1000)), work)
    assert [next(results) for _ in range(10)] == list(range(0, 20, 2))
    assert begun <= 10 + 2 * 4
    results.close()  # type: ignore[attr-defined]


def test_the_error_of_an_item_ends_the_work() -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 3:
            raise ValueError("three")
        return number

    with pytest.raises(ValueError, match="three"):
        list(in_order(2, iter(range(1000)), work))
    assert len(begun) < 20
