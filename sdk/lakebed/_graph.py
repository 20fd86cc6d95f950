"""A commit graph as text, as `git log --graph --oneline` draws it. Pure.

    * 1f0c2a9b33d4  (main, v1) Merge 'dev' into 'main'
    |\\
    | * 77aa01d2c3b4  (dev) clean the prices
    |/
    * 03ab12cd45ef  Repository created
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakebed.model import Commit, RefInfo

MAX_HEADS = 100
"""How many branches and tags are drawn: more would be no picture."""


def draw(commits: Iterable[Commit], branches: Iterable[RefInfo], tags: Iterable[RefInfo], limit: int) -> str:
    """Draw the newest `limit` of these commits."""
    names: dict[str, list[str]] = {}
    for branch in branches:
        names.setdefault(branch.commit_id, []).append(branch.id)
    for tag in tags:
        names.setdefault(tag.commit_id, []).append(f"tag: {tag.id}")
    ordered = in_order(commits)[:limit]
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
    rows = []
    twins = [index for index, target in enumerate(columns) if target == commit.id and index != at]
    while twins:  # several children: their lines meet here, one step to the left at a time
        twin = twins.pop()
        rows.append(_meet(len(columns), at, twin))
        del columns[twin]
    rows.append(_cells(["*" if index == at else "|" for index in range(len(columns))]) + " " + text)
    parents: Sequence[str] = commit.parents
    columns[at : at + 1] = parents
    if len(parents) > 1:
        rows.append(_cells(["|"] * (at + 1)) + "\\" + "".join(" \\" for _ in columns[at + 2 :]))
    elif not parents and at < len(columns):
        rows.append(" ".join(["|"] * at + [" /"[1:]] * (len(columns) - at)))
    return rows


def _meet(count: int, at: int, twin: int) -> str:
    """Line `twin` runs into line `at`: `|/` side by side, `|_|/` over others."""
    line = ""
    for index in range(count):
        if index == twin:
            line = line[:-1] + "/"
        elif index > twin:
            line = line[:-1] + " /" if line.endswith(" ") else line + "/"
        else:
            line += "|" + ("_" if at <= index < twin - 1 else " ")
    return line


def _cells(cells: Sequence[str]) -> str:
    return " ".join(cells)
