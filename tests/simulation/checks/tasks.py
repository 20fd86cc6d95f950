"""Merges and imports as tasks: what their commits may be, and what an import does to its workspace.

Several calls may do the work of a task: its first call, a call that takes it over, a cleaner. It is judged as
the work of the call that requested it.
"""

from __future__ import annotations

from lakebed_engine.vocabulary.records import Workspace

from tests.simulation.actors import outside
from tests.simulation.actors.outside import FOREVER, INTO, SOURCE
from tests.simulation.checks import landing
from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import History, Op, State, Violation, identities
from tests.simulation.checks.joins import joined


def importer(history: History, old: State | None, new: State | None) -> Op | None:
    """The import that a workspace belongs to, if it is one of an import. Its message says so."""
    state = new or old
    if state is None or not isinstance(state.record, Workspace):
        return None
    wanted = state.record.message
    return next((one for one in history.ops if one.kind == "import" and one.args["message"] == wanted), None)


def fills(contents: Contents, history: History, op: Op, name: str, old: State | None, new: State | None) -> None:
    """The workspace of an import was made, filled or closed. Raises Violation."""
    if old is None or new is None:
        return
    if new.record.commit_id != old.record.commit_id:
        raise Violation(f"{op} moves the base of {name!r}")
    outside.ingest(contents, history, op, name, old, new)


def landed(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """The head of a branch has moved: what merges and imports have made of it. Raises Violation."""
    parent = old.record.commit_id
    for commit_id in landing.chain(contents, op, old, new):
        author = next(one for one in history.ops if commit_id in {found for _, found in one.did("landed")})
        if author.kind == "merge_task":
            _merged(contents, history, author, old, commit_id)
        elif author.kind == "import":
            _imported(contents, history, author, name, old, parent, commit_id)
        parent = commit_id


def _merged(contents: Contents, history: History, author: Op, old: State, commit_id: str) -> None:
    """It joins the head, clean, with what was a head of the source since it was asked for."""
    ours, theirs = contents.commit(commit_id).parents
    if ours != old.record.commit_id or not old.clean:
        raise Violation(
            f"{author} goes onto a branch with uncommitted changes, or with another commit in the same swap"
        )
    heads = {one.record.commit_id for one in history.during(author.args["source"], author.invoked, FOREVER) if one}
    if theirs not in heads:
        raise Violation(f"{author} merges a commit that was not a head of its source since it was asked for")
    merged, conflicts = joined(contents, author, theirs, ours)
    if conflicts:
        raise Violation(f"{author} settles conflicts at {sorted(conflicts)} that nothing settles")
    if merged != identities(contents.tree(commit_id)):
        raise Violation(f"{author} joins wrongly")


def _imported(
    contents: Contents, history: History, author: Op, name: str, old: State, parent: str, commit_id: str
) -> None:
    """It is its parent, with the source's content since the request, and no staged row is above it."""
    made, before = identities(contents.tree(commit_id)), identities(contents.tree(parent))
    changed = {path for path in {*made, *before} if made.get(path) != before.get(path)}
    heads = {one.record.commit_id for one in history.during(name, author.invoked, FOREVER) if one is not None}
    for path in sorted(
        {*changed, *(INTO + uri.removeprefix(SOURCE) for uri in history.outside if uri.startswith(SOURCE))}
    ):
        held = history.held(SOURCE + path.removeprefix(INTO), author.invoked, FOREVER)
        if not path.startswith(INTO) or (path in changed and made.get(path) not in held):
            raise Violation(f"{author} commits at {path!r} what its source did not hold since it was asked for")
        if heads <= {parent, commit_id} and len(set(held)) == 1 and made.get(path) != held[0]:
            raise Violation(f"{author} has not committed what its source held at {path!r} all the time")
    hidden = changed & old.delta.keys()
    if hidden:
        raise Violation(f"{author} goes under what is staged on {name!r}: {sorted(hidden)}")
