"""A commit graph as text, as `git log --graph --oneline` draws it, and as a picture. Pure.

    * 1f0c2a9b33d4  (main, v1) Merge 'dev' into 'main'
    |\\
    | * 77aa01d2c3b4  (dev) clean the prices
    |/
    * 03ab12cd45ef  Repository created
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakebed.model import Commit, RefInfo

MAX_HEADS = 100
"""How many branches and tags are drawn: more would be no picture."""


class Graph(str):
    """A drawn commit graph: the text, and `svg`, the same as a picture. Notebooks show the picture."""

    __slots__ = ("svg",)

    svg: str

    def __new__(cls, text: str, svg: str = "") -> Graph:
        """The text, and the picture."""
        self = super().__new__(cls, text)
        self.svg = svg
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Graph, (str(self), self.svg)

    def _repr_svg_(self) -> str:
        return self.svg


def both(commits: Iterable[Commit], branches: Iterable[RefInfo], tags: Iterable[RefInfo], limit: int) -> Graph:
    """Draw the newest `limit` of these commits, twice."""
    from lakebed._values import graph_svg

    ordered, names = in_order(commits)[:limit], _names(branches, tags)
    return Graph(_draw(ordered, names), graph_svg.draw(ordered, names))


def draw(commits: Iterable[Commit], branches: Iterable[RefInfo], tags: Iterable[RefInfo], limit: int) -> str:
    """Draw the newest `limit` of these commits as text."""
    return _draw(in_order(commits)[:limit], _names(branches, tags))


def _names(branches: Iterable[RefInfo], tags: Iterable[RefInfo]) -> dict[str, list[str]]:
    """The branches and tags at each commit."""
    names: dict[str, list[str]] = {}
    for branch in branches:
        names.setdefault(branch.commit_id, []).append(branch.id)
    for tag in tags:
        names.setdefault(tag.commit_id, []).append(f"tag: {tag.id}")
    return names


def _draw(ordered: Iterable[Commit], names: Mapping[str, list[str]]) -> str:
    columns: list[str] = []
    lines: list[str] = []
    for commit in ordered:
        title = commit.message.split("\n", 1)[0]
        shown = f"({', '.join(names[commit.id])}) {title}" if commit.id in names else title
        lines += _rows(columns, commit, f"{commit.short_id}  {shown}".rstrip())
    return "\n".join(line.rstrip() for line in lines)


def in_order(commits: Iterable[Commit]) -> list[Commit]:
    """Each commit once; children before parents, whatever the clocks said, and newer ones first."""
    by_id = {commit.id: commit for commit in commits}
    children = dict.fromkeys(by_id, 0)
    for commit in by_id.values():
        for parent in set(commit.parents) & by_id.keys():
            children[parent] += 1
    ready = [commit for commit in by_id.values() if not children[commit.id]]
    ordered = []
    while ready:
        ready.sort(key=lambda commit: (commit.created, commit.generation, commit.id))
        commit = ready.pop()
        ordered.append(commit)
        for parent in set(commit.parents) & by_id.keys():
            children[parent] -= 1
            if not children[parent]:
                ready.append(by_id[parent])
    return ordered


def _rows(columns: list[str], commit: Commit, text: str) -> list[str]:
    """The lines of one commit. `columns` holds the commit that each open line leads to, and is moved on."""
    if commit.id not in columns:
        columns.append(commit.id)
    at = columns.index(commit.id)
    rows = [" ".join("*" if index == at else "|" for index in range(len(columns))) + " " + text]
    right = range(at + 1, len(columns))
    columns[at : at + 1] = commit.parents
    if len(commit.parents) > 1:
        rows.append(_line({2 * index: "|" for index in range(at + 1)} | {2 * at + 1: "\\"} | _moved(right, 1, "\\")))
    elif not commit.parents and right:
        rows.append(_line({2 * index: "|" for index in range(at)} | _moved(right, -1, "/")))
    while twins := [index for index, target in enumerate(columns) if columns.index(target) != index]:
        twin = twins[-1]
        rows.append(_meet(len(columns), columns.index(columns[twin]), twin))
        del columns[twin]
    return rows


def _meet(count: int, at: int, twin: int) -> str:
    """Line `twin` runs into line `at`, under those between, and those behind it move up: `|/`, `|_|/`, `|/ /`."""
    cells = dict.fromkeys(range(2 * at + 1, 2 * twin - 1), "_")
    cells |= {2 * index: "|" for index in range(twin)}
    return _line(cells | {2 * twin - 1: "/"} | _moved(range(twin + 1, count), -1, "/"))


def _moved(columns: Iterable[int], step: int, mark: str) -> dict[int, str]:
    return {2 * index + step: mark for index in columns}


def _line(cells: Mapping[int, str]) -> str:
    return "".join(cells.get(position, " ") for position in range(max(cells) + 1))
