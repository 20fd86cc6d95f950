"""The allowed results of operations: each is checked, when it is returned, against the states of the branch during the
call.

PROTOCOL.md 7.2. A read must show what some moment of its call showed (the register check, exact because the moments of
all effects are known); a page is one such moment as a whole; an error must have been true at some moment; what was
acknowledged must have happened, what was refused must not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lakebed_engine.vocabulary import errors

from tests.simulation.actors import outside
from tests.simulation.checks import tasks
from tests.simulation.checks.contents import Contents
from tests.simulation.checks.event_log import EventLog
from tests.simulation.checks.history import History, Op, State, Violation, identities
from tests.simulation.checks.joins import JOINS, MERGES, joined, pairs
from tests.simulation.checks.landing import TASKS
from tests.simulation.checks.multiparts import COMPLETE, Uploads
from tests.simulation.checks.rules import condition_holds
from tests.simulation.checks.truths import Truths, named_paths

UNKNOWN = (errors.OutcomeUnknownError,)
FAULTS = {"unavailable", "lost_before", "lost_after", "late"}
WRITERS = {"put", "delete", "put_many", "put_if"}


class Checker:
    """Judges answers."""

    def __init__(self, contents: Contents, history: History, uploads: Uploads, events: EventLog) -> None:
        self._contents = contents
        self._history = history
        self._uploads = uploads
        self._events = events
        self._truths = Truths(contents, history)

    def judge(self, op: Op) -> None:
        """An operation was answered. Raises Violation."""
        kind = type(op.error) if op.error is not None else None
        if op.outcome == "ok":
            self._acknowledged(op)
        elif kind in _STORE:
            if not FAULTS & self._faults(op):
                raise Violation(f"{op} fails with {op.error!r}, though no store failed")
        elif kind is not None and kind in _TRUTHS:
            if not _TRUTHS[kind](self, op):
                raise Violation(f"{op} answers {op.error!r}, which was true at no moment of the call")
        else:
            raise Violation(f"{op} fails with {op.error!r}, which it never should")
        if op.outcome == "refused":
            self._refused(op)

    def _states(self, op: Op, branch: str | None = None) -> Iterator[State | None]:
        assert op.returned is not None
        return self._history.during(branch or op.branch, op.invoked, op.returned)

    def _some(self, op: Op, test: Callable[[State], bool], branch: str | None = None) -> bool:
        return any(state is not None and test(state) for state in self._states(op, branch))

    # what was acknowledged happened, and reads show a moment of their call

    def _acknowledged(self, op: Op) -> None:
        check = {
            "read": self._read, "list": self._list, "commit": self._committed, "task": self._committed,
            "merge_task": self._committed, "import": self._imported,
            "merge": self._landed, "revert": self._landed, "pick": self._landed, "hard_reset": self._pointed,
            "cancel": self._cancelled,
            "ws_commit": self._ws_landed, "publish": self._ws_landed, "pop": self._existence, "stash": self._existence,
            "ws_create": self._existence, "ws_revert": self._reverted, "ws_scan": self._scanned,
            "mp_part": self._uploads.acknowledged, "mp_copy": self._uploads.acknowledged,
            "mp_complete": self._uploads.acknowledged, "mp_abort": self._uploads.acknowledged,
            "ingest": self._ingested, "ws_drop": self._dropped, "open": self._open,
            "create_branch": self._existence, "delete_branch": self._existence, "events": self._events.check_page,
        }.get(op.kind)  # fmt: skip
        if check is not None:
            check(op)
        elif op.kind in WRITERS:
            if not op.did("rows") and not self._deleted_before(op):
                raise Violation(f"{op} was acknowledged, and nothing was staged")
        elif op.kind == "push":
            if not any(identities(new.view) is not None for _, (_, _, new) in op.did("swap") if new):
                raise Violation(f"{op} was acknowledged, and nothing was pushed")
        elif op.kind == "reset_object":
            path = op.args["path"]
            if not op.did("rows") and not self._some(op, lambda s: _at(s.view, path) == _at(s.tree, path)):
                raise Violation(f"{op} was acknowledged, and nothing was reset")
        elif op.kind in {"reset", "reset_prefix"} and not op.did("swap"):
            prefix = op.args.get("prefix", "")
            if not self._some(op, lambda s: _under(s.view, prefix) == _under(s.tree, prefix)):
                raise Violation(f"{op} was acknowledged, and nothing was reset")

    def _deleted_before(self, op: Op) -> bool:
        """Whether it only deletes paths that are deleted: a lost write of rows that are there counts as made."""
        if op.kind == "put_many" and all(content is None for content in op.rows.values()):
            return any(state is None or state.view.keys().isdisjoint(op.rows) for state in self._states(op))
        return op.kind == "delete" and self._absent(op)

    def _absent(self, op: Op) -> bool:
        return any(state is None or op.args["path"] not in state.view for state in self._states(op))

    def _read(self, op: Op) -> None:
        path = op.args["path"]
        if not self._some(op, lambda s: _at(s.view, path) == op.answer.identity):
            raise Violation(f"{op} shows what {path!r} held at no moment of the call")
        self._open(op)

    def _open(self, op: Op) -> None:
        if not self._contents.has(op.answer.physical_address):
            raise Violation(f"{op} shows an object whose data is not there")

    def _list(self, op: Op) -> None:
        page = {row.path: row.entry.identity for row in op.answer.items}
        prefix = op.args["prefix"]
        if not self._some(op, lambda s: _under(s.view, prefix) == page):
            raise Violation(f"{op} is a page that the branch showed at no moment of the call: {sorted(page)}")

    def _committed(self, op: Op) -> None:
        if [one for _, one in op.did("landed")] != [op.answer.id]:
            raise Violation(f"{op} was acknowledged as {op.answer.id[:8]}, which never came into the history")

    def _imported(self, op: Op) -> None:
        """By a commit of its own, or by none: then all of it was in the head."""
        landed = [one for _, one in op.did("landed")]
        if landed != [op.answer.id] and (landed or not self._some(op, lambda s: s.record.commit_id == op.answer.id)):
            raise Violation(f"{op} was acknowledged as {op.answer.id[:8]}, which it has not put into the history")

    def _landed(self, op: Op) -> None:
        heads = [new.record.commit_id for _, (_, _, new) in op.did("swap") if new is not None]
        if op.answer.id not in heads:
            raise Violation(f"{op} was acknowledged as {op.answer.id[:8]}, which it never made the head")

    def _pointed(self, op: Op) -> None:
        heads = [new.record.commit_id for _, (_, _, new) in op.did("swap") if new is not None]
        if {op.answer.commit_id, op.args["commit"]} != {*heads[-1:]}:
            raise Violation(f"{op} was acknowledged, and the branch was not pointed there")

    def _cancelled(self, op: Op) -> None:
        same = [one for one in self._history.ops if one.args.get("message") == op.args["message"]]
        if any(one.did("landed") for one in same if one.kind in {"task", *TASKS}):
            raise Violation(f"{op} was acknowledged, and the task has made its commit")

    def _ws_landed(self, op: Op) -> None:
        if self._truths.landed(op) != [op.answer.id]:
            raise Violation(f"{op} was acknowledged as {op.answer.id[:8]}, which never came into the history")

    def _reverted(self, op: Op) -> None:
        if not op.did("reverted"):
            raise Violation(f"{op} was acknowledged, and did nothing")

    def _scanned(self, op: Op) -> None:
        outside.check_scan(self._contents, self._history, op)

    def _ingested(self, op: Op) -> None:
        outside.check_ingest(self._contents, self._history, op)

    def _dropped(self, op: Op) -> None:
        if not op.did("swap") and not self._truths.closed(op):
            raise Violation(f"{op} was acknowledged, and did nothing")

    def _existence(self, op: Op) -> None:
        again = [one for one in self._history.ops if op.args.get("id") and one.args == op.args]
        if not any(one.did("swap") for one in [op, *again]):
            raise Violation(f"{op} was acknowledged, and did nothing")

    # what was refused did not happen

    def _refused(self, op: Op) -> None:
        if op.did("rows") and op.kind != "ws_scan":  # which goes on page by page
            raise Violation(f"{op} was refused ({op.error!r}), and staged rows")
        if op.did("landed") and not self._truths.was_another(op):
            raise Violation(f"{op} was refused ({op.error!r}), and is in the history")
        if self._truths.remembered(op) and type(op.error) not in _STORE:
            raise Violation(f"{op} was refused ({op.error!r}), though a call with the same key had landed before")
        others = {step for one in self._history.ops if one is not op for step, _ in one.did("landed")}
        for step, (name, old, new) in op.did("swap"):
            if step in others or tasks.importer(self._history, old, new) is not None:
                continue  # for the other commits of its group, and changes that no reader of a branch sees
            if op.kind in {"commit", "task", *TASKS} and old is not None and new is not None:
                continue  # what equals the head is trimmed
            if old is None or new is None or old.record.commit_id != new.record.commit_id:
                raise Violation(f"{op} was refused ({op.error!r}), and changed branch {name!r}")
            if identities(old.view) != identities(new.view):
                raise Violation(f"{op} was refused ({op.error!r}), and changed the view of {name!r}")

    def _faults(self, op: Op) -> set[str]:
        """What the stores did to it, or to another that may have taken this commit along."""
        together = {"commit", "ws_commit", "publish"}
        if op.kind in {"task", *TASKS}:
            together |= {"task", "resume", "clean", "cancel", *TASKS}
        others = [
            one for one in self._history.ops
            if one.kind in together and (op.kind in together)
            and (one.branch == op.branch or op.kind in {"task", *TASKS})
            and (one.returned or 1 << 60) >= op.invoked
        ]  # fmt: skip
        return {fault for one in [op, *others] for fault in one.faults}

    # when an error is true

    def _gone(self, op: Op) -> bool:
        source = op.args.get("source")
        branches = [op.branch] if source is None else [op.branch, source]
        for branch in branches:
            states = list(self._states(op, branch))
            uids = {state.record.uid for state in states if state is not None}
            if None in states or len(uids) > 1:
                return True
        return False

    def _no_object(self, op: Op) -> bool:
        return self._absent(op)

    def _no_changes(self, op: Op) -> bool:
        if op.kind in JOINS | MERGES:
            return self._nothing_to_join(op)
        if op.kind in {"ws_commit", "publish", "pop", "stash"}:
            return self._truths.nothing(op)
        # what the branch showed at one moment of the call was committed at one: perhaps by another caller's commit
        states = [state for state in self._states(op) if state is not None]
        committed = [identities(state.tree) for state in states]
        return any(identities(state.view) in committed for state in states)

    def _nothing_to_join(self, op: Op) -> bool:
        for theirs, ours in self._pairs(op):
            merged, conflicts = joined(self._contents, op, theirs, ours)
            if not conflicts and merged == identities(self._contents.tree(ours)):
                return True
        return False

    def _conflict(self, op: Op) -> bool:
        """It reports exactly the paths that are in conflict."""
        return any(named_paths(op) == joined(self._contents, op, *pair)[1] for pair in self._pairs(op)) and bool(
            named_paths(op)
        )

    def _pairs(self, op: Op) -> list[tuple[str, str]]:
        ours = [state for state in self._states(op) if state is not None]
        return pairs(op, ours, lambda: [one for one in self._states(op, op.args["source"]) if one is not None])

    def _dirty(self, op: Op) -> bool:
        return self._some(op, lambda s: not s.clean)

    def _closed(self, op: Op) -> bool:
        return self._truths.closed(op)

    def _concurrent(self, op: Op) -> bool:
        return self._truths.concurrent(op)

    def _dirty_overlap(self, op: Op) -> bool:
        return self._truths.dirty(op)

    def _idle(self, op: Op) -> bool:
        return self._truths.idle(op)

    def _precondition(self, op: Op) -> bool:
        if "expected" not in op.args or (op.kind == COMPLETE and self._uploads.was_completed(op)):
            return False
        return self._some(op, lambda s: not condition_holds(op, s.view))

    def _nothing_there(self, op: Op) -> bool:
        return op.args.get("expected") is not None and self._precondition(op) and self._absent(op)

    def _no_upload(self, op: Op) -> bool:
        return self._uploads.gone(op)

    def _other_parts(self, op: Op) -> bool:
        return op.kind == COMPLETE and self._uploads.other_parts(op)

    def _task_ended(self, op: Op) -> bool:
        """The task ended before the cancel; or, for the task itself, a caller has cancelled it or tries to."""
        same = [one for one in self._history.ops if one.args.get("message") == op.args.get("message")]
        if op.kind == "cancel":
            return any(one.kind in {"task", *TASKS} or one.outcome == "ok" for one in same if one is not op)
        return any(one.kind == "cancel" for one in same)

    def _exists(self, op: Op) -> bool:
        return op.kind == "create_branch" and self._some(op, lambda s: True)

    def _refused_by_hooks(self, op: Op) -> bool:
        return self._events.hooks.on

    def _full(self, op: Op) -> bool:
        return op.kind in {"push", "reset_prefix", "ingest", "import", "pop"} and self._some(
            op, lambda s: len(s.record.layers) >= 32
        )


def _at(view: object, path: str) -> bytes | None:
    found = view.get(path)  # type: ignore[attr-defined]
    return None if found is None else found.identity


def _under(view: object, prefix: str) -> dict[str, bytes]:
    return {path: value.identity for path, value in view.items() if path.startswith(prefix)}  # type: ignore[attr-defined]


_STORE = {errors.StoreUnavailableError, errors.OutcomeUnknownError}
_TRUTHS: dict[type[BaseException], Callable[[Checker, Op], bool]] = {
    errors.BranchNotFoundError: Checker._gone,
    errors.RefNotFoundError: Checker._gone,
    errors.ObjectNotFoundError: Checker._no_object,
    errors.NoChangesError: Checker._no_changes,
    errors.MergeConflictError: Checker._conflict,
    errors.WorkspaceClosedError: Checker._closed,
    errors.ConcurrentCommitError: Checker._concurrent,
    errors.DirtyOverlapError: Checker._dirty_overlap,
    errors.DirtyBranchError: Checker._dirty,
    errors.InvalidRequestError: Checker._idle,
    errors.PreconditionFailedError: Checker._precondition,
    errors.NothingThereError: Checker._nothing_there,
    errors.UploadNotFoundError: Checker._no_upload,
    errors.InvalidPartError: Checker._other_parts,
    errors.TaskEndedError: Checker._task_ended,
    errors.BranchExistsError: Checker._exists,
    errors.HookRefusedError: Checker._refused_by_hooks,
}
if hasattr(errors, "BackpressureError"):
    _TRUTHS[errors.BackpressureError] = Checker._full
