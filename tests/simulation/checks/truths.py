"""When the errors of workspaces are true: asks the states of both sides during a call.

A commit counts as a head even if it was the head only inside a swap of several commits.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakebed_engine.vocabulary.errors import PathsConflictError

from tests.simulation.actors.outside import INTO
from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import History, Op, State, identities
from tests.simulation.checks.workspaces import GLOBS, changes_of, claims_of, met, over, rows_of, same_key


class Truths:
    """Judges refusals of workspace operations."""

    def __init__(self, contents: Contents, history: History) -> None:
        self._contents = contents
        self._history = history

    def _states(self, op: Op, name: str) -> list[State]:
        assert op.returned is not None
        return [one for one in self._history.during(name, op.invoked, op.returned) if one is not None]

    def heads(self, op: Op, branch: str) -> list[str]:
        """Every commit that was the head of a branch during a call."""
        ids = [state.record.commit_id for state in self._states(op, branch)]
        found = list(dict.fromkeys(ids))
        for one in found[:-1]:
            at = one
            while at not in found[1:] and self._contents.commit(at).parents:
                if at not in found:
                    found.append(at)
                at = self._contents.commit(at).parents[0]
        return found

    def _pairs(self, op: Op) -> Iterator[tuple[State, str]]:
        """States of the workspace and heads of its branch."""
        heads = self.heads(op, op.branch)
        for one in self._states(op, op.args["workspace"]):
            for head in heads:
                yield one, head

    def closed(self, op: Op) -> bool:
        """The workspace was closed at some moment."""
        assert op.returned is not None
        name = op.args.get("workspace", op.branch)
        return "+" in name and None in list(self._history.during(name, op.invoked, op.returned))

    def concurrent(self, op: Op) -> bool:
        """The head had moved; by more than disjoint paths, for `rebase`. It reports exactly the paths in conflict."""
        if op.kind != "ws_commit" or op.args["policy"] == "overwrite":
            return False
        paths = named_paths(op)
        for one, head in self._pairs(op):
            if one.record.commit_id != head and (found := met(self._contents, op, one, head)) == paths:
                return op.args["policy"] == "abort" or bool(found)
        return False

    def dirty(self, op: Op) -> bool:
        """A row was staged on the branch at each reported path, and the workspace has or claims it."""
        if op.kind == "publish":
            paths = named_paths(op)
            states = self._states(op, op.branch)
            return bool(paths) and any(paths == op.rows.keys() & state.delta.keys() for state in states)
        if op.kind == "import":
            staged = {path for state in self._states(op, op.branch) for path in state.delta}
            return bool(named_paths(op)) and all(path in staged and path.startswith(INTO) for path in named_paths(op))
        if op.kind != "ws_commit":
            return False
        staged = {path for state in self._states(op, op.branch) for path in state.delta}
        for one in self._states(op, op.args["workspace"]):
            rows, claims = rows_of(op, one), claims_of(op, one)
            if named_paths(op) and all(
                path in staged and (path in rows or path.startswith(claims)) for path in named_paths(op)
            ):
                return True
        return False

    def nothing(self, op: Op) -> bool:
        """The workspace held nothing, or nothing that the head had not; the branch had nothing to stash."""
        if op.kind == "publish":
            trees = [identities(self._contents.tree(head)) for head in self.heads(op, op.branch)]
            return any(over(tree, op.rows) == tree for tree in trees)
        if op.kind == "stash":
            return any(not state.record.layers and not state.live for state in self._states(op, op.branch))
        if op.kind == "pop":
            return any(not state.record.layers and not state.live for state in self._states(op, op.args["workspace"]))
        for one, head in self._pairs(op):
            tree = self._contents.tree(head)
            rows = rows_of(op, one)
            if over(identities(tree), changes_of(op, rows, tree)) == identities(tree):
                return True
        return False

    def idle(self, op: Op) -> bool:
        """A glob named no row of the workspace."""
        if op.kind not in {"ws_commit", "ws_revert"}:
            return False
        states = self._states(op, op.args["workspace"])
        return any(not any(map(GLOBS[glob], one.sealed)) for one in states for glob in op.args["globs"])

    def remembered(self, op: Op) -> bool:
        """A call with the same idempotency key had succeeded before: no conflict may hide its answer."""
        return any(step < op.invoked for one in self._landed(op) for step, _ in one.did("landed"))

    def was_another(self, op: Op) -> bool:
        """Whether a call with the same key, made at the same time, may have succeeded. Then it is from now."""
        for one in same_key(self._history, op):
            if one.returned is None or one.outcome in {"ok", "unknown"}:
                one.effects += [effect for effect in op.effects if effect[1] == "landed"]
                op.effects = [effect for effect in op.effects if effect[1] != "landed"]
                return True
        return False

    def _landed(self, op: Op) -> list[Op]:
        if op.kind not in {"ws_commit", "publish"} or not op.args["key"]:
            return []
        return [one for one in self._history.ops if one.kind == op.kind and one.args == op.args and one.did("landed")]

    def landed(self, op: Op) -> list[str]:
        """The commits that a call, or one with the same key, has put into the history."""
        return [one for other in {op, *self._landed(op)} for _, one in other.did("landed")]


def named_paths(op: Op) -> set[str]:
    """The paths that a conflict names."""
    assert isinstance(op.error, PathsConflictError)
    return {one.path for one in op.error.conflicts}
