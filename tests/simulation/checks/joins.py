"""Merges, reverts, cherry-picks and hard resets: their effect on a branch, implemented again to judge the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.simulation.checks import landing, workspaces
from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import History, Op, State, Violation, identities

MERGES = {"merge", "merge_task"}
JOINS = {"merge", "revert", "pick"}
"""Kinds of calls that apply a change to a head, as one commit."""

RESOLUTIONS: Sequence[Sequence[tuple[str, str]]] = (
    (),
    (("c/", "source"), ("*", "dest")),
    (("*", "dest"), ("/a", "source"), ("*", "source")),
    (("_SUCCESS", "dest"), ("*", "source"), ("*", "dest")),
    (("/m", "source"),),
)
"""Rules of merges: which side wins conflicts at the paths of a glob. The first that names a path says."""

Joined = tuple[dict[str, bytes], set[str]]


def joined(contents: Contents, op: Op, theirs: str, ours: str) -> Joined:
    """The content that a call makes of a head `ours`, by the rule of PROTOCOL.md 3, and the paths in conflict."""
    if op.kind in MERGES:
        return _three_way(contents, op, _base(contents, theirs, ours), theirs, ours)
    parent = contents.commit(theirs).parents[0]
    sides = (parent, theirs) if op.kind == "pick" else (theirs, parent)
    return _three_way(contents, op, *sides, ours)


def _three_way(contents: Contents, op: Op, base_id: str, theirs: str, ours: str) -> Joined:
    base = identities(contents.tree(base_id))
    source, destination = identities(contents.tree(theirs)), identities(contents.tree(ours))
    merged: dict[str, bytes] = {}
    conflicts: set[str] = set()
    for path in {*base, *source, *destination}:
        b, s, d = base.get(path), source.get(path), destination.get(path)
        winner = "dest" if s in (d, b) else "source" if d == b else _winner(op, path)
        if not winner:
            conflicts.add(path)
        chosen = s if winner == "source" else d
        if chosen is not None:
            merged[path] = chosen
    return merged, conflicts


def _winner(op: Op, path: str) -> str:
    """The side that wins a conflict; empty when it stays one."""
    rules: int = op.args.get("rules", 0)
    for glob, side in RESOLUTIONS[rules]:
        if workspaces.GLOBS[glob](path):
            return side
    return {"source-wins": "source", "dest-wins": "dest"}.get(str(op.args.get("strategy")), "")


def _base(contents: Contents, one: str, other: str) -> str:
    common = _ancestors(contents, one) & _ancestors(contents, other)
    # merges across each other have several of one generation: then the engine takes the least id, always the same
    return min(common, key=lambda found: (-contents.commit(found).generation, found))


def _ancestors(contents: Contents, commit_id: str) -> set[str]:
    found: set[str] = set()
    todo = [commit_id]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += contents.commit(one).parents
    return found


def pairs(op: Op, ours: Sequence[State], theirs: Callable[[], Sequence[State]]) -> list[tuple[str, str]]:
    """What may have been applied to what: the given commit, or the heads of the source, and heads of the branch."""
    sources = [op.args["commit"]] if op.kind not in MERGES else sorted({one.record.commit_id for one in theirs()})
    return [(one, state.record.commit_id) for one in sources for state in ours]


def land(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """A join has moved the head. Raises Violation."""
    if len(landing.chain(contents, op, old, new)) != 1:
        raise Violation(f"{op} makes several commits")
    heads = [(before.record.commit_id, after.record.commit_id) for _, (_, before, after) in op.did("swap")]
    if len([one for one in heads if one[0] != one[1]]) > 1:
        raise Violation(f"{op} is in the history twice")
    if not old.clean:
        raise Violation(f"{op} goes onto a branch with uncommitted changes")
    merged, conflicts = joined(contents, op, _theirs(contents, history, op, new), old.record.commit_id)
    if conflicts:
        raise Violation(f"{op} settles conflicts at {sorted(conflicts)} that nothing settles")
    if merged != identities(new.tree) or merged != identities(new.view):
        wrong = {path for path in {*merged, *new.view} if merged.get(path) != identities(new.view).get(path)}
        raise Violation(f"{op} joins wrongly at {sorted(wrong)}")


def _theirs(contents: Contents, history: History, op: Op, new: State) -> str:
    parents = contents.commit(new.record.commit_id).parents
    if op.kind != "merge":
        if len(parents) != 1:
            raise Violation(f"{op} makes a commit of {len(parents)} parents")
        return str(op.args["commit"])
    _, theirs = parents
    heads = {state.record.commit_id for state in history.during(op.args["source"], op.invoked, 1 << 60) if state}
    if theirs not in heads:
        raise Violation(f"{op} merges a commit that was not a head of its source while it ran")
    return theirs


def hard_reset(contents: Contents, op: Op, old: State, new: State) -> None:
    """A branch was pointed at another commit. Raises Violation."""
    if new.record.commit_id != op.args["commit"]:
        raise Violation(f"{op} points the branch at {new.record.commit_id[:8]}")
    if not old.clean:
        raise Violation(f"{op} moves a branch with uncommitted changes: they are lost, or come onto another commit")
    if identities(new.view) != identities(contents.tree(op.args["commit"])):
        raise Violation(f"{op} does not show the commit afterwards")


def was_moved(history: History, name: str, since: int) -> bool:
    """Whether a branch was pointed elsewhere at this step or later: then commits may be off its line."""
    moved = [one for one in history.ops if one.kind == "hard_reset" and one.branch == name]
    return any(step >= since for one in moved for step, _ in one.did("swap"))
