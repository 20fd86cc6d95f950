"""The order in which commits are migrated. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from typing import Protocol, TypeVar


class Node(Protocol):
    """A commit with its parents."""

    @property
    def id(self) -> str: ...

    @property
    def parents(self) -> Sequence[str]: ...


N = TypeVar("N", bound=Node)


def read_new(
    head: str, log: Iterable[N], read: MutableMapping[str, N], is_known: Callable[[str], bool] = lambda _: False
) -> None:
    """Add the history of a commit to `read`, up to commits that are read or known. `log`: newest first, parents last.

    The log is not read further than necessary.
    """
    if head in read or is_known(head):
        return
    wanted = {head}
    for commit in log:
        if commit.id not in wanted:
            continue
        read[commit.id] = commit
        wanted.remove(commit.id)
        wanted.update(parent for parent in commit.parents if parent not in read and not is_known(parent))
        if not wanted:
            return


def parents_first(head: str, commits: MutableMapping[str, N]) -> Iterator[N]:
    """The commits below and including `head`, parents before children, along first parents. Removes them from
    `commits`.

    A history is deeper than Python's stack, so there is a list of open commits in place of recursion.
    """
    open_commits = [head]
    while open_commits:
        commit = commits.get(open_commits[-1])
        if commit is None:
            open_commits.pop()
            continue
        missing = [parent for parent in commit.parents if parent in commits]
        if missing:
            open_commits.append(missing[0])
            continue
        open_commits.pop()
        del commits[commit.id]
        yield commit
