"""What a recording says that a disk must show: after an event, what each cell may hold, and what goes together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from tests.power.record import Cell, Operation, Record

KINDS = ("repository", "branch", "tag", "commit", "object", "key")


class Expected:
    """What the server had promised when the first `events` of a recording had happened.

    What was acknowledged must be there. Of what was under way, each operation may be there or not, as a whole. What was
    refused, and what was not yet asked for, must not.
    """

    def __init__(self, record: Record, events: int) -> None:
        self.under_way: list[Operation] = []
        self._surely: dict[Cell, bytes | None] = {}
        self._perhaps: dict[Cell, list[bytes | None]] = defaultdict(list)
        for one in record.operations:
            if one.begun < events and one.done:
                self._add(one, acknowledged=one.answered < events)
        self.acknowledged = [one for one in record.operations if one.done and one.answered < events]
        self._cells = {cell for one in record.operations for cell in one.effects}

    def _add(self, one: Operation, *, acknowledged: bool) -> None:
        if not acknowledged:
            self.under_way.append(one)
        for cell, value in one.effects.items():
            if acknowledged:
                self._surely[cell] = value
            else:
                self._perhaps[cell].append(value)

    def violations(self, seen: Mapping[Cell, bytes | None], kinds: Collection[str] = KINDS) -> Iterator[str]:
        """What is wrong with what a disk shows. `kinds`: of which cells everything was looked at."""
        for cell in sorted(one for one in self._cells | seen.keys() if one[0] in kinds):
            value = seen.get(cell)
            if value == self._surely.get(cell) or value in self._perhaps.get(cell, ()):
                continue
            must, is_known = self._surely.get(cell), cell in self._surely
            if must is not None:
                yield f"acknowledged, and not there: {_said(cell, must)}; there is {_said(cell, value)}"
            elif is_known:
                yield f"acknowledged as deleted, and there: {_said(cell, value)}"
            else:
                yield f"there, and never acknowledged: {_said(cell, value)}"
        for one in self.under_way:
            telling = [cell for cell in one.effects if cell[0] in kinds and self._tells(one, cell)]
            there = {cell: seen.get(cell) == one.effects[cell] for cell in telling}
            if len(set(there.values())) > 1:
                missing = [cell for cell, landed in there.items() if not landed]
                yield f"there in part: {one.what}; without {missing[:3]}"

    def _tells(self, one: Operation, cell: Cell) -> bool:
        """Whether the cell shows if this operation took effect, and no other."""
        return self._perhaps[cell] == [one.effects[cell]] and self._surely.get(cell) != one.effects[cell]


def _said(cell: Cell, value: bytes | None) -> str:
    what = "nothing" if value is None else f"{len(value)} bytes {value[:8].hex()}"
    return f"{' '.join(cell)} ({what})"
