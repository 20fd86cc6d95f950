"""Workspaces in the simulation: what their operations may do.

To the audit a workspace is a branch called `<branch>+<id>`, which is gone once it is closed. A commit changes the
branch and the workspaces in one batch: the branch is judged first, against what the workspaces held before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import History, Op, Staged, State, View, Violation, identities, identity_of

MAKERS = {"ws_create", "stash"}
CLOSERS = {"ws_commit", "ws_drop", "pop"}

GLOBS: Mapping[str, Callable[[str], bool]] = {
    "/a": lambda path: path == "a",
    "/m": lambda path: path == "m",
    "!/z": lambda path: path == "z",
    "c/": lambda path: path.startswith("c/"),
    "_SUCCESS": lambda path: path.endswith("/_SUCCESS"),
    "*": lambda path: True,
}
"""Each glob that actors use, and the paths that it matches: written out, to judge the engine's matching."""


def chosen(globs: Sequence[str], path: str) -> bool:
    """Whether globs choose a path: the last matching glob decides; without globs each is chosen."""
    named = [glob for glob in globs if GLOBS[glob](path)]
    return not named[-1].startswith("!") if named else not globs


def rows_of(op: Op, state: State) -> Staged:
    """What a commit or a revert takes of a workspace: of a part only what is in layers, for it seals first."""
    globs: Sequence[str] = op.args["globs"]
    return {path: one for path, one in state.sealed.items() if chosen(globs, path)} if globs else state.delta


def claims_of(op: Op, state: State) -> tuple[str, ...]:
    """The prefixes below which nothing may have changed."""
    return (*getattr(state.record, "claims", ()), *op.args["replace"])


def changes_of(op: Op, rows: Staged, head: View) -> dict[str, bytes | None]:
    """What a commit does to a head: its rows, over the removal of all that is below replaced prefixes."""
    gone = {path: None for path in head if path.startswith(tuple(op.args["replace"]))} if op.args["replace"] else {}
    return {**gone, **{path: identity_of(one) for path, one in rows.items()}}


def met(contents: Contents, op: Op, state: State, head: str) -> set[str]:
    """Paths of the workspace, chosen or not, or below its claims, that a head has changed since the base."""
    before, after = identities(contents.tree(state.record.commit_id)), identities(contents.tree(head))
    claims = claims_of(op, state)
    rows = state.sealed if op.args["globs"] else state.delta  # what comes behind the seal counts as staged afterwards
    paths = {*rows, *(path for path in {*before, *after} if claims and path.startswith(claims))}
    return {path for path in paths if before.get(path) != after.get(path)}


def same_key(history: History, op: Op) -> list[Op]:
    """Other calls with the same idempotency key."""
    if not op.args.get("key"):
        return []
    return [one for one in history.ops if one is not op and one.kind == op.kind and one.args == op.args]


def over(view: Mapping[str, bytes], rows: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """A view with some rows over it."""
    result = {path: found for path, found in view.items() if path not in rows}
    return result | {path: one for path, one in rows.items() if one is not None}


def is_seal(old: State, new: State) -> bool:
    """Whether a change of a record only makes the live token the newest layer."""
    first, *rest = [layer.id for layer in new.record.layers] or [""]
    return first == old.record.staging_token and rest == [layer.id for layer in old.record.layers]


# commits


def committed(contents: Contents, history: History, op: Op, name: str, old: State, parent: str, commit_id: str) -> None:
    """A commit is its parent with the workspace's rows, and nothing else; `old` is the branch before the swap that it
    is part of. Nothing stood in its way (`PROTOCOL.md` 3, ADVANCE).
    """
    state = history.now(op.args["workspace"])
    if state is None:
        raise Violation(f"{op} lands, and its workspace was closed before")
    rows, head = rows_of(op, state), contents.tree(parent)
    made, wanted = identities(contents.tree(commit_id)), over(identities(head), changes_of(op, rows, head))
    if made != wanted:
        wrong = {path for path in {*made, *wanted} if made.get(path) != wanted.get(path)}
        raise Violation(f"{op} is not its parent with the workspace's rows: wrong at {sorted(wrong)}")
    found = met(contents, op, state, parent)
    moved = state.record.commit_id != parent
    if (op.args["policy"] == "abort" and moved) or (op.args["policy"] == "rebase" and found):
        raise Violation(f"{op} goes over what was committed meanwhile: {sorted(found)}")
    hidden = rows.keys() & old.delta.keys()
    claims = claims_of(op, state)
    if claims:  # rows that were staged all the time: a claim does not conflict with later rows
        all_the_time = [one.delta.keys() for one in history.during(name, op.invoked, 1 << 60) if one is not None]
        hidden |= {path for path in old.delta if path.startswith(claims) and all(path in one for one in all_the_time)}
    if hidden:
        raise Violation(f"{op} goes under what is staged on {name!r}: {sorted(hidden)}")


def goes_on(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """A workspace has a new base: a part of it was committed, and that commit is the base of the rest."""
    author = _lander(op, history, name)
    if author is None or not author.args["globs"] or author.did("landed")[-1][1] != new.record.commit_id:
        raise Violation(f"{op} moves the base of {name!r} to what is not a commit of a part of it")
    rows = rows_of(author, old)
    rest = {path: identity_of(one) for path, one in old.sealed.items() if path not in rows}
    rest |= {path: identity_of(one) for path, one in old.live.items()}
    if {path: identity_of(one) for path, one in new.delta.items()} != rest:
        raise Violation(f"{op} commits a part of {name!r}, and what stays is not the rest")


def _lander(op: Op, history: History, name: str) -> Op | None:
    """Whose commit of a workspace is in the batch that is looked at."""
    step = op.effects[-1][0]
    for one in reversed(history.ops):
        if one.kind == "ws_commit" and one.args["workspace"] == name and any(at == step for at, _ in one.did("landed")):
            return one
    return None


def is_staged_on(made: Mapping[str, bytes], before: View, states: Iterable[State]) -> bool:
    """Whether a commit is its parent with what was uncommitted at some moment. A workspace's commit may have put its
    rows under what was staged by then, so the branch need not have shown just this.
    """
    parent = identities(before)
    for state in states:
        changed = {path for path in {*state.view, *state.tree} if state.view.get(path) != state.tree.get(path)}
        if over(parent, {path: identity_of(state.view.get(path)) for path in changed}) == made:
            return True
    return False


# the others


def check_existence(
    contents: Contents, history: History, op: Op, name: str, old: State | None, new: State | None
) -> None:
    """A workspace was made, or closed."""
    if old is None:
        assert new is not None
        _made(history, op, name, new)
        return
    author = _lander(op, history, name)
    if author is None and (op.kind not in CLOSERS or name != op.args["workspace"]):
        raise Violation(f"{op} closes workspace {name!r}")
    if author is not None and author.args["globs"]:
        raise Violation(f"{op} closes workspace {name!r}, of which only a part was committed")
    moved = author is not None or op.kind == "ws_drop"
    if not moved and not (op.kind == "pop" and any(one[0] != name for _, one in op.did("swap"))):
        raise Violation(f"{op} closes workspace {name!r}, and what it held is nowhere")


def _made(history: History, op: Op, name: str, new: State) -> None:
    if op.kind not in MAKERS:
        raise Violation(f"{op} makes workspace {name!r}")
    states = history.during(name.partition("+")[0], op.invoked, 1 << 60)
    if new.record.commit_id not in {state.record.commit_id for state in states if state is not None}:
        raise Violation(f"{op} makes a workspace on a commit that was not a head of its branch")
    if op.kind == "stash":
        _, (_, old, _) = op.did("swap")[-2]  # the last one is that of the workspace itself
        if identities(old.view) != identities(new.view):
            raise Violation(f"{op} moves something else than what was uncommitted")
    elif not new.clean or new.delta:
        raise Violation(f"{op} makes a workspace that is not clean")


def stash(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """The branch shows its head."""
    if new.delta or identities(new.view) != identities(old.tree):
        raise Violation(f"{op} leaves something on {name!r}")


def pop(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """The workspace's rows are on top of all that the branch showed."""
    if name == op.args["workspace"]:
        _keeps(op, name, old, new)
        return
    state = history.now(op.args["workspace"])
    if state is None:
        raise Violation(f"{op} lands, and its workspace was closed before")
    rows = {path: identity_of(one) for path, one in state.delta.items()}
    if identities(new.view) != over(identities(old.view), rows):
        raise Violation(f"{op} is not all there after its swap, or hides more")


def revert(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """The chosen rows are gone, the others are there."""
    if is_seal(old, new):
        _keeps(op, name, old, new)
        return
    op.effects.append((op.effects[-1][0], "reverted", name))
    rows = rows_of(op, old)
    rest = {path: identity_of(one) for path, one in old.sealed.items() if path not in rows}
    rest |= {path: identity_of(one) for path, one in old.live.items()} if op.args["globs"] else {}
    if {path: identity_of(one) for path, one in new.delta.items()} != (rest if op.args["globs"] else {}):
        raise Violation(f"{op} takes back something else than {op.args['globs'] or 'everything'}")


def _keeps(op: Op, name: str, old: State, new: State) -> None:
    if identities(old.view) != identities(new.view):
        raise Violation(f"{op} changes the view of {name!r}, which it must not")
