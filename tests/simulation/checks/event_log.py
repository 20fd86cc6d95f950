"""The event log: each batch that moves a branch has the events of the move, and no event is lost or made up.

The audit sees every batch as it takes effect, so there is no moment between an event and its effect that it misses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from lakebed_engine.operations.keys import JOURNAL
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.vocabulary.events import Event
from lakebed_format.journal import decode_journal, journal_number
from lakebed_format.keys import JOURNAL as FILES

from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import Op, Violation
from tests.simulation.world.hooking import HookLog

Heads = Mapping[str, str]
"""The commits of branches; empty: there is no such branch."""

_decode = msgspec.json.Decoder(Event).decode
_files: dict[bytes, Sequence[str]] = {}


class EventLog:
    """Follows the events of one repository."""

    def __init__(self, contents: Contents) -> None:
        self.hooks = HookLog()
        self._contents = contents
        self._recorded: dict[str, int] = {key[len(JOURNAL) :].decode(): -1 for key in self._rows()}  # id -> step

    def applied(self, batch: Batch, before: Heads, after: Heads, step: int, op: Op | None) -> None:
        """A KV batch took effect. `before` and `after`: the branches whose records it changed."""
        own = self._contents.partition
        events = [_decode(value) for part, key, value in batch.puts if part == own and key.startswith(JOURNAL)]
        for event in events:
            if event.id in self._recorded:
                raise Violation(f"{op} records event {event.id} twice")
            self._recorded[event.id] = step
            if event.branch and event.branch not in before:
                raise Violation(f"{op} records {event.type} of branch {event.branch!r}, which it does not change")
        for name, old in before.items():
            _check_chain(op, name, old, after[name], [event for event in events if event.branch == name])
        self.hooks.applied(batch, events, op)
        gone = [key[len(JOURNAL) :].decode() for part, key in batch.deletes if part == own and key.startswith(JOURNAL)]
        lost = set(gone) - set(self._in_files()) if gone else ()
        if lost:
            raise Violation(f"{op} removes event {min(lost)}, which is in no file")

    def check_page(self, op: Op) -> None:
        """A page of all events: it has each event that was there before the call, and none twice."""
        ids = [event.id for event in op.answer.items]
        if len(set(ids)) != len(ids):
            raise Violation(f"{op} has an event twice")
        missing = {one for one, step in self._recorded.items() if step < op.invoked} - set(ids)
        if missing:
            raise Violation(f"{op} misses event {min(missing)}")
        if set(ids) - self._recorded.keys():
            raise Violation(f"{op} has an event that nothing recorded")

    def check_end(self) -> None:
        """After the last drain: each event is in one file, and no row is left."""
        ids = self._in_files()
        if len(set(ids)) != len(ids):
            raise Violation("an event is in two files")
        if set(ids) != self._recorded.keys():
            raise Violation(f"{len(self._recorded.keys() - set(ids))} events are in no file")
        if self._rows():
            raise Violation("rows of events are left")
        self.hooks.check_end()

    def _rows(self) -> list[bytes]:
        return [key for key in self._contents.rows(self._contents.partition) if key.startswith(JOURNAL)]

    def _in_files(self) -> list[str]:
        """The ids of the events in all files, in order."""
        found: list[str] = []
        for name in sorted(self._contents.blobs._blobs):
            if name.startswith(FILES) and journal_number(name) is not None:
                data = self._contents.need(name)
                if data not in _files:
                    _files[data] = [event["id"] for _, event in decode_journal(data)]
                found += _files[data]
        return found


def _check_chain(op: Op | None, name: str, old: str, new: str, events: Sequence[Event]) -> None:
    """The events lead from the old head to the new one, each from where the one before has ended."""
    at = old
    for event in events:
        if event.before != at:
            raise Violation(f"{op} records {event.type} of {name!r} from {event.before[:8]}, and it was at {at[:8]}")
        at = event.after
    if at != new:
        raise Violation(f"{op} moves {name!r} from {old[:8]} to {new[:8]}, and records a move to {at[:8]}")
