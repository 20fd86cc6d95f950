"""How the head of a branch moves: one swap may put the commits of several callers into its history.

Committers of one process are served together, so a swap is judged commit by commit: each has an author that requested
exactly it, and is the child of the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.simulation.checks import workspaces
from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import History, Op, State, Violation, identities, identity_of

_RESETS = {"reset", "reset_object", "reset_prefix"}
_OF_STAGED = {"commit", "task"}
"""Kinds of calls that commit what is staged."""
TASKS = {"merge_task", "import"}
"""Kinds of calls whose commits `tasks` judges, as any process may make them."""


def land(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """A branch has a new head, by a commit or by that of a workspace. Raises Violation."""
    step, before = op.effects[-1][0], old.record.commit_id
    authors: list[Op] = []
    for commit_id in chain(contents, op, old, new):
        author = _author(contents, history, op, name, commit_id)
        for other in [author, *workspaces.same_key(history, author)]:
            if other.did("landed"):
                raise Violation(f"{author} is in the history twice")
        twice = [
            one
            for one in authors
            if "workspace" in author.args and one.args.get("workspace") == author.args["workspace"]
        ]
        if twice:
            raise Violation(f"{author} commits a workspace that {twice[0]} commits in the same swap")
        if was_cancelled(history, author):
            raise Violation(f"{author} lands though it was cancelled")
        author.effects.append((step, "landed", commit_id))
        authors.append(author)
        if author.kind == "publish":
            _published(contents, author, name, old, before, commit_id)
        elif author.kind in _OF_STAGED:
            _committed(contents, history, author, name, before, commit_id)
        elif author.kind not in TASKS:
            workspaces.committed(contents, history, author, name, old, before, commit_id)
        before = commit_id
    _check_view(authors, op, name, old, new)


def was_cancelled(history: History, op: Op) -> bool:
    """Whether a caller got the answer that this task is cancelled."""
    message = op.args.get("message")
    return any(one.kind == "cancel" and one.outcome == "ok" and one.args["message"] == message for one in history.ops)


def _check_view(authors: Iterable[Op], op: Op, name: str, old: State, new: State) -> None:
    """A commit changes no view. A workspace commit or a publish leaves all uncommitted rows as they are, on top."""
    kinds = {author.kind for author in authors}
    if kinds <= {"ws_commit", "publish"}:
        if {path: identity_of(one) for path, one in old.delta.items()} != {
            path: identity_of(one) for path, one in new.delta.items()
        }:
            raise Violation(f"{op} changes what is uncommitted on {name!r}")
        return
    may = {path for path in new.tree if not kinds <= _OF_STAGED and new.tree.get(path) != old.tree.get(path)}
    may |= {path for path in old.tree if not kinds <= _OF_STAGED and path not in new.tree}
    changed = {path for path in {*old.view, *new.view} if at(old, path) != at(new, path)} - may
    if changed:
        raise Violation(f"{op} changes the view of {name!r} at {sorted(changed)}, which it must not")


def at(state: State, path: str) -> bytes | None:
    """What a state shows at a path."""
    return identity_of(state.view.get(path))


def chain(contents: Contents, op: Op, old: State, new: State) -> list[str]:
    """The commits from the old head, which is not among them, to the new one along first parents, oldest first."""
    found: list[str] = []
    one = new.record.commit_id
    while one != old.record.commit_id:
        found.append(one)
        parents = contents.commit(one).parents
        if not parents:
            raise Violation(f"{op} makes a commit whose parent is not the head: history loses what it replaced")
        one = parents[0]
    return found[::-1]


def _author(contents: Contents, history: History, op: Op, name: str, commit_id: str) -> Op:
    """The call that requested a commit and still waits, or has an unknown outcome.

    Of several calls with one idempotency key the newest.
    """
    message = contents.commit(commit_id).message
    for one in reversed(history.ops):
        asked = (
            one.kind in {*_OF_STAGED, *TASKS, "ws_commit", "publish"}
            and one.branch == name
            and one.args["message"] == message
        )
        if asked and (one.returned is None or one.outcome == "unknown"):
            return one
    raise Violation(f"{op} makes commit {message!r}, which nobody waits for")


def _published(contents: Contents, author: Op, name: str, old: State, parent: str, commit_id: str) -> None:
    """It is its parent with the rows that were asked for, and nothing else; none of them was staged."""
    made, wanted = identities(contents.tree(commit_id)), workspaces.over(identities(contents.tree(parent)), author.rows)
    if made != wanted:
        wrong = {path for path in {*made, *wanted} if made.get(path) != wanted.get(path)}
        raise Violation(f"{author} is not its parent with its rows: wrong at {sorted(wrong)}")
    hidden = author.rows.keys() & old.delta.keys()
    if hidden:
        raise Violation(f"{author} goes under what is staged on {name!r}: {sorted(hidden)}")


def _committed(contents: Contents, history: History, author: Op, name: str, parent: str, commit_id: str) -> None:
    """It holds what the branch showed at a moment of the call, and nothing that was taken back during it."""
    before, made = contents.tree(parent), identities(contents.tree(commit_id))
    states = [state for state in history.during(name, author.invoked, 1 << 60) if state is not None]
    shown = any(identities(state.view) == made for state in states)
    if not shown and not workspaces.is_staged_on(made, before, states):
        raise Violation(f"{author} commits what the branch never showed while it ran: {sorted(made)}")
    for other in history.ops:
        if other.branch == name and other.kind in _RESETS:
            _stays_reset(history, author, name, other, made, {*made, *before})


def _stays_reset(
    history: History, op: Op, name: str, other: Op, made: Mapping[str, bytes], paths: Iterable[str]
) -> None:
    """What a reset took back while a commit ran, the commit does not publish, unless it was staged once more."""
    since = _reset_at(other)
    if since is None or since < op.invoked:
        return
    states = [state for state in history.during(name, since, 1 << 60) if state is not None]
    for path in paths:
        if not path.startswith(other.args.get("prefix", "")) or path != other.args.get("path", path):
            continue
        if not any(at(state, path) == made.get(path) for state in states):
            raise Violation(f"{op} commits at {path!r} what {other} has taken back before")


def _reset_at(op: Op) -> int | None:
    """The step at which a reset took effect, if it did. (That of a prefix also seals, which is not a reset.)"""
    steps = [
        step for step, _, (_, old, new) in op.effects if op.kind != "reset_prefix" or not workspaces.is_seal(old, new)
    ]
    return steps[-1] if steps else op.invoked if op.outcome == "ok" else None
