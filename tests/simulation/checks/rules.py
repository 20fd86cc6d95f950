"""What each operation may do to a branch, effect by effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.simulation.actors import outside
from tests.simulation.checks import joins, landing, tasks, workspaces
from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import History, Op, State, Value, View, Violation, identities, identity_of

Rule = Callable[[Contents, History, Op, str, State, State], None]


def _seals_late(op: Op, old: State | None, new: State | None) -> bool:
    """A task is over though the answer of its seal was lost: its commit lands no more, the seal still may."""
    if old is None or new is None or op.kind not in landing.TASKS | {"task"}:
        return False
    sealed = tuple(layer.id for layer in new.record.layers)
    before = (old.record.staging_token, *(layer.id for layer in old.record.layers))
    return sealed == before and new.record.commit_id == old.record.commit_id and new.view == old.view


def check_swap(contents: Contents, history: History, op: Op, name: str, old: State | None, new: State | None) -> None:
    """A branch record was made, replaced or removed. Raises Violation."""
    if op.outcome == "refused" and not _seals_late(op, old, new):
        raise Violation(f"{op} was refused ({op.error!r}), and changes branch {name!r} afterwards")
    if (importer := tasks.importer(history, old, new)) is not None:
        tasks.fills(contents, history, importer, name, old, new)
        return
    if (old is None or new is None) and "+" in name:
        workspaces.check_existence(contents, history, op, name, old, new)
        return
    if old is None or new is None:
        _check_existence(contents, history, op, name, old, new)
        return
    if new.record.uid != old.record.uid or new.record.gen != old.record.gen + 1:
        raise Violation(f"{op} replaces the record of {name!r} by one that is not its successor")
    if new.record.commit_id != old.record.commit_id:
        if "+" in name:
            workspaces.goes_on(contents, history, op, name, old, new)
            return
        if op.kind == "hard_reset":
            joins.hard_reset(contents, op, old, new)
            return
        if op.kind not in joins.JOINS | _COMMITTERS:
            raise Violation(f"{op} moves the head of {name!r}")
        if op.kind not in joins.JOINS:
            landing.land(contents, history, op, name, old, new)
            tasks.landed(contents, history, op, name, old, new)
            return
    _SWAPS.get(op.kind, _keeps)(contents, history, op, name, old, new)


def check_rows(history: History, op: Op, name: str, old: State, new: State, rows: Mapping[str, Value | None]) -> None:
    """Rows of a branch's live token were put or removed. Raises Violation."""
    if op.outcome == "refused":
        raise Violation(f"{op} was refused ({op.error!r}), and stages rows afterwards")
    if op.outcome == "ok" and identities(old.view) != identities(new.view):
        raise Violation(f"{op} was acknowledged, and changes the view of {name!r} once more afterwards")
    if name != op.branch:
        raise Violation(f"{op} stages on {name!r}")
    if op.kind == "reset_object":
        _reset_object_rows(op, old, new)
        return
    if op.kind == "ws_scan":
        outside.scanned(history, op, name, rows)
        return
    if op.kind not in {"put", "delete", "put_many", "put_if", "mp_complete"}:
        raise Violation(f"{op} stages rows")
    got = {path: None if value is None else value.identity for path, value in rows.items()}
    if got != dict(op.rows):
        raise Violation(f"{op} stages {sorted(got)}, where it should stage {sorted(op.rows)}")
    if "expected" in op.args and not condition_holds(op, old.view):
        raise Violation(f"{op} stages its row while its condition does not hold")


def condition_holds(op: Op, view: View) -> bool:
    """Whether a conditional write would be accepted on this view."""
    found = view.get(op.args["path"])
    expected: bytes | None = op.args["expected"]
    return (None if found is None else found.identity) == expected


def _moved(old: State, new: State) -> bool:
    return old.record.commit_id != new.record.commit_id


def _with(view: View, rows: Mapping[str, Value | None]) -> dict[str, bytes]:
    result = identities(view)
    for path, value in rows.items():
        if value is None:
            result.pop(path, None)
        else:
            result[path] = value.identity
    return result


def _check_existence(
    contents: Contents, history: History, op: Op, name: str, old: State | None, new: State | None
) -> None:
    expected = "create_branch" if old is None else "delete_branch"
    if op.kind != expected or name != op.branch:
        raise Violation(f"{op} makes or removes branch {name!r}")
    if new is not None:
        if not new.clean:
            raise Violation(f"{op} makes a branch that is not clean")
        heads = {one.record.commit_id for one in history.during(op.args["source"], op.invoked, 1 << 60) if one}
        if new.record.commit_id not in heads:
            raise Violation(f"{op} makes a branch at a commit that was not a head of its source")


def _keeps(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    if identities(old.view) != identities(new.view):
        changed = {path for path in {*old.view, *new.view} if old.view.get(path) != new.view.get(path)}
        raise Violation(f"{op} changes the view of {name!r} at {sorted(changed)}, which it must not")


def _join(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    if _moved(old, new):
        joins.land(contents, history, op, name, old, new)
    else:
        _keeps(contents, history, op, name, old, new)


def _reset(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    if identities(new.view) != identities(old.tree):
        raise Violation(f"{op} does not show the head afterwards")


def _reset_object(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    _reset_object_rows(op, old, new)


def _reset_object_rows(op: Op, old: State, new: State) -> None:
    path = op.args["path"]
    if identities(new.view) != _with(old.view, {path: old.tree.get(path)}):
        raise Violation(f"{op} changes more than its path, or makes it show something else than the commit")


def _reset_prefix(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """Each path under the prefix shows the head, but for what was staged since a moment of the call: batches whole."""
    prefix = op.args["prefix"]
    shown = identities(new.view)
    if shown == identities(old.view):
        return
    paths = [path for path in {*old.view, *old.tree} if path.startswith(prefix)]
    later: dict[str, Value | None] = {}
    for rows in [{}, *_staged_since(history, op, name)]:
        later = {**{path: value for path, value in rows.items() if path.startswith(prefix)}, **later}
        if shown == _with(old.view, {**{path: old.tree.get(path) for path in paths}, **later}):
            return
    wrong = {path for path in {*paths, *new.view} if shown.get(path) != identity_of(old.tree.get(path))}
    raise Violation(f"{op} makes {sorted(wrong)} show neither the head nor what was staged since a moment of the call")


def _staged_since(history: History, op: Op, name: str) -> list[dict[str, Value | None]]:
    """The batches of rows that were staged since the call, the last one first."""
    found = [
        (step, {path: new.view.get(path) for path in (other.rows or [other.args["path"]])})
        for other in history.ops
        for step, (branch, _, new) in other.did("rows")
        if branch == name and step > op.invoked
    ]
    return [rows for _, rows in sorted(found, key=lambda one: one[0], reverse=True)]


def _push(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    shown = identities(new.view)
    if shown == identities(old.view):
        return
    expected = identities(old.view)
    for path, value in op.rows.items():
        if value is None:
            expected.pop(path, None)
        else:
            expected[path] = value
    if shown != expected:
        wrong = {path for path in {*shown, *expected} if shown.get(path) != expected.get(path)}
        raise Violation(f"{op} is not all there after its swap, or hides more: {sorted(wrong)}")


_COMMITTERS = {"commit", "ws_commit", "publish", "task", "resume", "clean", *landing.TASKS}
"""Kinds of calls in which commits land: those of other callers too. A cleaner takes over tasks."""

_SWAPS: dict[str, Rule] = {
    **dict.fromkeys(joins.JOINS, _join),
    "reset": _reset,
    "reset_object": _reset_object,
    "reset_prefix": _reset_prefix,
    "push": _push,
    "stash": workspaces.stash,
    "pop": workspaces.pop,
    "ws_revert": workspaces.revert,
    "ingest": outside.ingest,
}
