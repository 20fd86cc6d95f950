"""Workspaces in the simulation: what their operations may do, and when their errors are true.

Above `history` and `contents`. To the audit a workspace is a branch called `<branch>+<id>`, which is gone once it is
closed. A commit changes two records in one batch; the branch is judged first, against what the workspace held before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tests.simulation.contents import Contents
from tests.simulation.history import History, Op, State, Value, View, Violation, identities

MAKERS = {"ws_create", "stash"}
CLOSERS = {"ws_commit", "ws_drop", "pop"}


def check_existence(
    contents: Contents, history: History, op: Op, name: str, old: State | None, new: State | None
) -> None:
    """A workspace was made, or closed."""
    if old is None:
        assert new is not None
        if op.kind not in MAKERS:
            raise Violation(f"{op} makes workspace {name!r}")
        states = history.during(name.partition("+")[0], op.invoked, 1 << 60)
        heads = {state.record.commit_id for state in states if state is not None}
        if new.record.commit_id not in heads:
            raise Violation(f"{op} makes a workspace on a commit that was no head of its branch")
        if op.kind == "stash":
            _check_stash(op, new)
        elif not new.clean:
            raise Violation(f"{op} makes a workspace that is not clean")
    elif op.kind not in CLOSERS or name != op.args["workspace"]:
        raise Violation(f"{op} closes workspace {name!r}")
    elif op.kind != "ws_drop" and not any(one[0] != name and _is_moved(op, one) for _, one in op.did("swap")):
        raise Violation(f"{op} closes workspace {name!r}, and what it held is nowhere")


def _is_moved(op: Op, change: tuple[str, State | None, State | None]) -> bool:
    _, old, new = change
    assert old is not None
    assert new is not None
    return op.kind == "pop" or old.record.commit_id != new.record.commit_id


def _check_stash(op: Op, new: State) -> None:
    """It shows what the branch showed."""
    _, (_, old, _) = op.did("swap")[-2]  # the last one is that of the workspace itself
    if identities(old.view) != identities(new.view):
        raise Violation(f"{op} moves something else than what was uncommitted")


def stash(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """The branch shows its head."""
    if contents.delta(new.record) or identities(new.view) != identities(old.tree):
        raise Violation(f"{op} leaves something on {name!r}")


def pop(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """The workspace's rows are on top of all that the branch showed."""
    if name == op.args["workspace"]:
        _keeps(op, name, old, new)
    elif identities(new.view) != _with(identities(old.view), _rows(contents, history, op)):
        raise Violation(f"{op} is not all there after its swap, or hides more")


def commit(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """Head and view of the branch change by the workspace's rows, and by nothing else (`PROTOCOL.md` 3, ADVANCE)."""
    if name == op.args["workspace"]:
        _keeps(op, name, old, new)
        return
    if new.record.commit_id == old.record.commit_id:
        raise Violation(f"{op} changes the record of {name!r}, and commits nothing")
    rows = _rows(contents, history, op)
    for what, before, after in (("tree", old.tree, new.tree), ("view", old.view, new.view)):
        if identities(after) != _with(identities(before), rows):
            raise Violation(f"{op} makes the {what} of {name!r} something else than it was with the workspace's rows")
    state = history.now(op.args["workspace"])
    assert state is not None
    met = overlap(contents, rows, state.record.commit_id, old.record.commit_id)
    moved = state.record.commit_id != old.record.commit_id
    if (op.args["policy"] == "abort" and moved) or (op.args["policy"] == "rebase" and met):
        raise Violation(f"{op} goes over what was committed meanwhile: {sorted(met)}")


def is_staged_on(made: Mapping[str, bytes], before: View, states: Iterable[State]) -> bool:
    """Whether a commit is its parent with what was uncommitted at some moment. A workspace's commit may have put its
    rows under what was staged by then, so the branch need not have shown just this.
    """
    parent = identities(before)
    for state in states:
        changed = {path for path in {*state.view, *state.tree} if state.view.get(path) != state.tree.get(path)}
        if _with(parent, {path: state.view.get(path) for path in changed}) == made:
            return True
    return False


def overlap(contents: Contents, rows: Mapping[str, object], base: str, head: str) -> set[str]:
    """Paths of some rows that differ in two commits."""
    before, after = identities(contents.tree(base)), identities(contents.tree(head))
    return {path for path in rows if before.get(path) != after.get(path)}


def _rows(contents: Contents, history: History, op: Op) -> Mapping[str, Value | None]:
    state = history.now(op.args["workspace"])
    if state is None:
        raise Violation(f"{op} lands, and its workspace was closed before")
    return contents.delta(state.record)


def _keeps(op: Op, name: str, old: State, new: State) -> None:
    if identities(old.view) != identities(new.view):
        raise Violation(f"{op} changes the view of {name!r}, which it must not")


def _with(view: dict[str, bytes], rows: Mapping[str, Value | None]) -> dict[str, bytes]:
    result = {path: found for path, found in view.items() if path not in rows}
    return result | {path: value.identity for path, value in rows.items() if value is not None}


# when errors are true


class Truths:
    """Asks the states of both sides during a call."""

    def __init__(self, contents: Contents, history: History) -> None:
        self._contents = contents
        self._history = history

    def _pairs(self, op: Op) -> Iterator[tuple[State, State]]:
        """States of the workspace and of its branch."""
        assert op.returned is not None
        for one in self._history.during(op.args["workspace"], op.invoked, op.returned):
            for other in self._history.during(op.branch, op.invoked, op.returned):
                if one is not None and other is not None:
                    yield one, other

    def closed(self, op: Op) -> bool:
        """The workspace was closed at some moment."""
        assert op.returned is not None
        name = op.args.get("workspace", op.branch)
        return "+" in name and None in list(self._history.during(name, op.invoked, op.returned))

    def concurrent(self, op: Op) -> bool:
        """The head had moved; by more than disjoint paths, for `rebase`."""
        if op.kind != "ws_commit" or op.args["policy"] == "overwrite":
            return False
        for one, other in self._pairs(op):
            base, head = one.record.commit_id, other.record.commit_id
            met = overlap(self._contents, self._paths(op.args["workspace"]), base, head)
            if base != head and (op.args["policy"] == "abort" or met):
                return True
        return False

    def dirty(self, op: Op) -> bool:
        """Something was staged on the branch. (Rows of the past may be gone: which ones is for the rules.)"""
        if op.kind != "ws_commit":
            return False
        wrote = any(one[0] == op.branch for other in self._history.ops for _, one in other.did("rows"))
        return wrote or any(other.record.layers or not other.clean for _, other in self._pairs(op))

    def nothing(self, op: Op) -> bool:
        """The workspace held nothing, or something that the head has as well; the branch had nothing to stash."""
        assert op.returned is not None
        if op.kind == "stash":
            states = self._history.during(op.branch, op.invoked, op.returned)
            return any(state is not None and (state.clean or not state.record.layers) for state in states)
        for one, other in self._pairs(op):
            mine, head = identities(one.view), identities(other.tree)
            if one.clean or any(mine.get(path) == head.get(path) for path in self._paths(op.args["workspace"])):
                return True
        return False

    def _paths(self, name: str) -> dict[str, None]:
        """Whatever may ever have been staged in a workspace: for one that was a stash, everything."""
        made = [op for op in self._history.ops if op.kind == "stash"]
        rows = [op.rows for op in self._history.ops if made or op.branch == name]
        views = [state.view for state in self._history.during(name, 0, 1 << 60) if made and state is not None]
        return {path: None for one in (*rows, *views) for path in one}
