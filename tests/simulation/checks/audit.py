"""The audit: after every store effect, may the operation make the change of each branch's view?

Because it sees effects where they happen, linearization points are known, and the per-path register check of
`properties` is exact without a search. PROTOCOL.md 4 (invariants) and 7.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakebed_engine.operations.keys import workspace_id
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.vocabulary.records import Branch

from tests.simulation.checks import rules
from tests.simulation.checks.contents import MARKER, Contents, name_of, value_of
from tests.simulation.checks.event_log import EventLog
from tests.simulation.checks.history import History, Op, State, Value, Violation
from tests.simulation.checks.multiparts import COMPLETE, Uploads
from tests.simulation.world.scheduler import Scheduler

_BRANCH = b"branch/"
_STAGE = "stage/"
_LEDGER = "stage/scan-"
"""What scans have seen: no rows of a branch."""


def tokens_of(record: Branch) -> list[str]:
    """The staging tokens that a record names."""
    return [record.staging_token, *(layer.id for layer in record.layers if layer.kind == "kv")]


class Audit:
    """Follows the branches of one repository."""

    def __init__(self, contents: Contents, history: History, scheduler: Scheduler, grace: float) -> None:
        self.contents = contents
        self.history = history
        self._scheduler = scheduler
        self._grace = grace
        self.uploads = Uploads(contents, scheduler)
        self.events = EventLog(contents)
        self._named: dict[str, str] = {}  # token -> branch
        self._retired: dict[str, float] = {}  # token, layer or file -> when the last record that named it did
        self._leaving: set[str] = set()  # in the batch that is looked at: a stash moves layers between records
        for name in contents.branches():
            record = contents.branch(name)
            assert record is not None
            self._enter(name, contents.state(record))

    # reports of the stores

    def applied(self, batch: Batch, op: Op | None) -> None:
        """A KV batch took effect."""
        own = self.contents.partition
        changed = {name for part, key, value in batch.puts if part == own and (name := name_of(key, value))}
        changed |= {key[7:].decode() for part, key in batch.deletes if part == own and key.startswith(_BRANCH)}
        self._leaving = set()
        heads = self._heads(changed)
        for name in sorted(changed):  # a branch before its workspaces: it is judged by what they held
            self._record_changed(name, op)
        self.events.applied(batch, heads, self._heads(changed), self._scheduler.step, op)
        self.uploads.applied(batch, op)
        self._rows_changed(batch, op)

    def dropped(self, partition: str, op: Op | None) -> None:
        """A KV partition is about to be dropped."""
        if partition.startswith(_STAGE):
            self._unnamed(partition[len(_STAGE) :], "staging token")

    def deleted(self, keys: Sequence[str], op: Op | None) -> None:
        """Objects are about to be deleted."""
        self.uploads.deleted(keys, op)
        for key in keys:
            if key.startswith("_lakebed/layers/"):
                self._unnamed(key.removesuffix(".parquet").rsplit("/", 1)[1], "layer file")
            elif self._is_referenced(key):
                raise Violation(f"{op} deletes {key}, which is referenced")

    # records

    def _heads(self, names: set[str]) -> dict[str, str]:
        """The heads of branches. Workspaces are left out: their changes have no events."""
        states = {name: self.history.now(name) for name in names if workspace_id(name) is None}
        return {name: "" if state is None else state.record.commit_id for name, state in states.items()}

    def _record_changed(self, name: str, op: Op | None) -> None:
        old = self.history.now(name)
        record = self.contents.branch(name)
        new = None if record is None else self.contents.state(record)
        if old is not None:
            for one in _ids_of(old.record):
                self._named.pop(one, None)
                self._retired[one] = self._scheduler.time
                self._leaving.add(one)
        if new is not None:
            kept = set(_ids_of(old.record)) if old is not None else set()
            back = [one for one in _ids_of(new.record) if one not in kept | self._leaving and one in self._retired]
            if back:
                raise Violation(f"{op} names {back[0]} again, which had left a record")
        self._enter(name, new)
        if op is not None:
            op.effects.append((self._scheduler.step, "swap", (name, old, new)))
            rules.check_swap(self.contents, self.history, op, name, old, new)

    def _enter(self, name: str, state: State | None) -> None:
        self.history.note(name, self._scheduler.step, state)
        if state is not None:
            for one in _ids_of(state.record):
                self._named[one] = name
                self._retired.pop(one, None)

    def _unnamed(self, one: str, what: str) -> None:
        if one in self._named:
            raise Violation(f"{what} {one[-6:]} is deleted, and branch {self._named[one]!r} names it")
        since = self._scheduler.time - self._retired.get(one, float("-inf"))
        if since < self._grace:
            raise Violation(f"{what} {one[-6:]} is deleted {since:.3f} s after it was named last, before the grace")

    def _is_referenced(self, address: str) -> bool:
        views = [state.view for name in self.history.names() if (state := self.history.now(name)) is not None]
        views += [self.contents.tree(one.id) for one in self.contents.commits()]
        return any(value.address == address for view in views for value in view.values())

    # rows

    def _rows_changed(self, batch: Batch, op: Op | None) -> None:
        rows: dict[str, dict[str, Value | None]] = {}
        for partition, key, value in batch.puts:
            if partition.startswith(_STAGE) and key != MARKER and not partition.startswith(_LEDGER):
                rows.setdefault(partition[len(_STAGE) :], {})[key.decode()] = value_of(value)
        gone = [partition[len(_STAGE) :] for partition, _ in batch.deletes if partition.startswith(_STAGE)]
        for token in {*rows, *gone}:
            name = self._named.get(token)
            old = self.history.now(name) if name is not None else None
            if name is None or old is None:
                raise Violation(f"{op} stages under token {token[-6:]}, which no record names")
            if token != old.record.staging_token:
                raise Violation(f"{op} stages under token {token[-6:]}, which is sealed")
            new = (
                self.contents.state(old.record)
                if token in gone
                else old._replace(view=_put(old, rows[token]), live={**old.live, **rows[token]})
            )
            self.history.note(name, self._scheduler.step, new)
            if op is not None:
                op.effects.append((self._scheduler.step, "rows", (name, old, new)))
                self._check_rows(op, name, old, new, rows.get(token, {}))

    def _check_rows(self, op: Op, name: str, old: State, new: State, rows: dict[str, Value | None]) -> None:
        rules.check_rows(self.history, op, name, old, new, rows)
        if op.kind == COMPLETE:
            self.uploads.staged(op, rows)
        for path, value in rows.items():
            if value is not None and not self.contents.has(value.address):
                raise Violation(f"{op} stages {path!r}, whose data is not there")


def _put(state: State, rows: dict[str, Value | None]) -> dict[str, Value]:
    view = dict(state.view)
    for path, value in rows.items():
        if value is None:
            view.pop(path, None)
        else:
            view[path] = value
    return view


def _ids_of(record: Branch) -> list[str]:
    parts = [part.id for layer in record.layers for part in getattr(layer, "parts", ())]
    return [*tokens_of(record), *parts]
