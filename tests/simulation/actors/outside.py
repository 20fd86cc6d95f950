"""What other tools write outside of the engine: below a workspace's prefix, for scans, and in a bucket of their own,
for ingests. Rules of both.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakebed_engine.vocabulary.records import Workspace

from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import History, Op, Staged, State, Violation, identities, identity_of

SOURCE = "mem://source/in/"
"""Where other tools write. `INTO` is where it appears."""
INTO = "c/"
FOREVER = 1 << 60


def scanned(history: History, op: Op, name: str, rows: Staged) -> None:
    """A scan stages the objects below a prefix of the workspace, except objects of an earlier scan."""
    for path, value in rows.items():
        if value is None:
            raise Violation(f"{op} deletes {path!r}, and nothing has gone")
        folder, _, rest = value.address.removeprefix("workspaces/").partition("/")
        if name != op.branch or rest != path or folder.partition(".")[0] != name.partition("+")[2]:
            raise Violation(f"{op} stages {value.address} at {path!r}")
        if value.identity not in history.held(value.address, op.invoked, FOREVER):
            raise Violation(f"{op} stages at {path!r} what was not there while it ran")
        written = history.outside[value.address][-1][0]
        for other in history.ops:
            if other.kind == "ws_scan" and other.outcome == "ok" and written < other.invoked:
                assert other.returned is not None
                if other.branch == name and other.returned < op.invoked:
                    raise Violation(f"{op} registers {path!r} again, which {other} has seen as it is")


def check_scan(contents: Contents, history: History, op: Op) -> None:
    """A scan was acknowledged: what lay there before it and since was staged, now or before."""
    rows = [(step, new) for other in history.ops for step, (name, _, new) in other.did("rows") if name == op.branch]
    for address, versions in history.outside.items():
        step, _ = versions[-1]
        if not address.startswith(f"workspaces/{op.branch.partition('+')[2]}") or step >= op.invoked:
            continue
        if not any(at >= step and _stages(new, address) for at, new in rows):
            raise Violation(f"{op} was acknowledged, and {address} was never registered")


def _stages(state: State, address: str) -> bool:
    return any(value is not None and value.address == address for value in state.live.values())


def ingest(contents: Contents, history: History, op: Op, name: str, old: State, new: State) -> None:
    """A page of an ingest puts below its prefix what the source held while it ran."""
    assert isinstance(new.record, Workspace)
    for path in {*old.delta, *new.delta}:
        before, after = identity_of(old.view.get(path)), identity_of(new.view.get(path))
        if before == after:
            continue
        source = history.held(SOURCE + path.removeprefix(INTO), op.invoked, FOREVER)
        if not path.startswith(INTO) or after not in source:
            raise Violation(f"{op} makes {path!r} what the source did not hold while it ran")
        if after is None and not op.args["removals"]:
            raise Violation(f"{op} removes {path!r}, which it was reported not to")


def check_ingest(contents: Contents, history: History, op: Op) -> None:
    """It was acknowledged: what the source held all the time, the workspace showed at some moment."""
    assert op.returned is not None
    states = [one for one in history.during(op.branch, op.invoked, op.returned) if one is not None]
    for path in _looked_at(op, history, states):
        held = history.held(SOURCE + path.removeprefix(INTO), op.invoked, op.returned)
        if len(set(held)) > 1 or (held[0] is None and not op.args["removals"]):
            continue
        if not any(identity_of(state.view.get(path)) == held[0] for state in states):
            raise Violation(f"{op} was acknowledged, and {path!r} never showed what the source held")


def _looked_at(op: Op, history: History, states: list[State]) -> Iterator[str]:
    paths = {INTO + address.removeprefix(SOURCE) for address in history.outside if address.startswith(SOURCE)}
    paths |= {path for state in states for path in identities(state.view) if path.startswith(INTO)}
    for path in sorted(paths):
        if path > op.args["after"] and (not op.answer.next or path <= op.answer.next):
            yield path
