"""Batches for PostgreSQL: their locks, the batches that may share a transaction, and the result of each batch.

docs/decisions/0010-postgres-checks.md describes the scheme and why it is correct. In short: a transaction first takes
advisory locks, all transactions in the same order. It takes shared locks of the keys that it checks, exclusive locks of
the keys that it writes, and shared locks of their partitions. For many keys of a partition, it locks only the
partition, exclusively. So the result of a check stays true until COMMIT, stagings that check the same branch record do
not wait for each other, and there are no deadlocks.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lakebed_engine.stores.kv.base import ABSENT, Batch, Check
from lakebed_engine.stores.kv.postgres.batching import Item
from lakebed_engine.stores.kv.postgres.errors import (
    is_everybodys,
    is_lost,
    is_out_of_locks,
    is_unsent,
    is_worth_repeating,
    store_error,
)
from lakebed_engine.stores.kv.postgres.pool import Pool, cut
from lakebed_engine.stores.kv.postgres.schema import APPLY, lock_id
from lakebed_engine.vocabulary.errors import OutcomeUnknownError, PredicateFailed, StoreError

_Name = tuple[bytes, bytes]

_GROUP: Final = 64  # batches in a transaction, below NUMBERS
_GROUP_ROWS: Final = 1_000  # a larger batch has its own transaction
_FINE_LOCKS: Final = 128  # up to this number of keys in a partition, each key is locked. For more, the partition is
_TRIES: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A batch in the form that the statement needs: the last change of each key."""

    checks: Sequence[Check]
    checked: frozenset[_Name]
    deletes: frozenset[_Name]
    puts: dict[_Name, bytes]

    @property
    def rows(self) -> int:
        """The number of rows that the batch checks or changes."""
        return len(self.checks) + len(self.deletes) + len(self.puts)


def work_of(batch: Batch) -> Work:
    """The work of a batch. Raises TypeError for other types than text and bytes, before the work is queued."""
    puts = {_name(partition, key): bytes(memoryview(value)) for partition, key, value in batch.puts}
    deletes = {_name(partition, key) for partition, key in batch.deletes}
    checked = {_name(check.partition, check.key) for check in batch.checks}
    return Work(batch.checks, frozenset(checked), frozenset(deletes - puts.keys()), puts)


def partition_bytes(partition: str) -> bytes:
    """A partition as it is stored: PostgreSQL's text cannot hold every character."""
    return partition.encode("utf-8", "surrogatepass")


def _name(partition: str, key: bytes) -> _Name:
    return partition_bytes(partition), bytes(memoryview(key))


def choose(queue: deque[Item[Work, int]]) -> list[Item[Work, int]]:
    """Take batches that can share a transaction: none checks what another one changes. The others stay in the queue.

    Two kinds cannot join. The check of a key that an earlier batch writes would see the state before both. A delete of
    a key that an earlier batch puts would be made before that put.
    """
    group: list[Item[Work, int]] = []
    left: list[Item[Work, int]] = []
    put: set[_Name] = set()
    written: set[_Name] = set()
    rows = 0
    while queue and len(group) < _GROUP:
        item = queue.popleft()
        work = item.work
        fits = rows + work.rows <= _GROUP_ROWS and written.isdisjoint(work.checked) and put.isdisjoint(work.deletes)
        if group and not fits:
            left.append(item)
            continue
        group.append(item)
        put |= work.puts.keys()
        written |= work.puts.keys() | work.deletes
        rows += work.rows
    queue.extendleft(reversed(left))
    return group


def locks(works: Sequence[Work], schema: str, fine: int) -> tuple[list[int], list[bool]]:
    """The advisory locks of a transaction, in the common order, and which of them are exclusive."""
    by_partition: dict[bytes, dict[bytes, bool]] = {}
    for work in works:
        for partition, key in work.checked:
            by_partition.setdefault(partition, {}).setdefault(key, False)
        for names in (work.deletes, work.puts):
            for partition, key in names:
                by_partition.setdefault(partition, {})[key] = True
    wanted: dict[int, bool] = {}
    for partition, keys in by_partition.items():
        whole = lock_id(schema, partition)
        coarse = len(keys) > fine
        wanted[whole] = wanted.get(whole, False) or coarse
        if coarse:
            continue
        for key, exclusive in keys.items():
            one = lock_id(schema, partition, key)
            wanted[one] = wanted.get(one, False) or exclusive
    order = sorted(wanted)
    return order, [wanted[one] for one in order]


class Writer:
    """Applies groups of batches over a pool."""

    def __init__(self, pool: Pool, schema: str, place: str) -> None:
        self._pool = pool
        self._schema = schema
        self._place = place

    async def run(self, works: list[Work]) -> list[int | Exception]:
        """The results of a group, in order. A batch that cannot be stored does not make the others fail."""
        try:
            first, broken = await self._apply(works)
        except StoreError as error:
            return [error] * len(works)
        except Exception as error:
            if len(works) == 1 or is_everybodys(error):
                return [store_error(error, self._place) for _ in works]
            return [(await self.run([work]))[0] for work in works]
        return _answers(works, first, broken)

    async def _apply(self, works: list[Work]) -> tuple[int | None, list[int] | None]:
        """Repeat the statement until it was executed or refused. Raises asyncpg's errors when it was refused."""
        fine = _FINE_LOCKS
        for attempt in range(_TRIES):
            arguments = (*locks(works, self._schema, fine), *_columns(works))
            async with self._pool.lend() as connection:
                try:
                    row = await connection.fetchrow(APPLY, *arguments)
                    assert row is not None, "a function always answers"
                    return row["first_version"], row["broken"]
                except Exception as error:
                    last = attempt == _TRIES - 1
                    if is_lost(error):
                        cut(connection)
                        if last or not is_unsent(error):
                            raise self._unknown(error) from error
                    elif last or not is_worth_repeating(error):
                        raise
                    fine = 0 if is_out_of_locks(error) else fine
            await asyncio.sleep(_pause(attempt))
        raise AssertionError("the last try returns or raises")

    def _unknown(self, error: Exception) -> OutcomeUnknownError:
        return OutcomeUnknownError(
            f"the answer of the KV store was lost; read back what was written ({type(error).__name__}): {self._place}"
        )


def _columns(works: Sequence[Work]) -> list[list[object]]:
    checks = [
        (number, *_name(check.partition, check.key), check.version)
        for number, work in enumerate(works)
        for check in work.checks
    ]
    deletes = [(number, *name) for number, work in enumerate(works) for name in work.deletes]
    puts = [(number, *name, value) for number, work in enumerate(works) for name, value in work.puts.items()]
    return [*_turned(checks, 4), *_turned(deletes, 3), *_turned(puts, 4)]


def _turned(rows: Sequence[tuple[object, ...]], width: int) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]


def _answers(works: Sequence[Work], first: int | None, broken: Sequence[int] | None) -> list[int | Exception]:
    answers: list[int | Exception] = [
        (first or ABSENT) + number if work.puts else ABSENT for number, work in enumerate(works)
    ]
    if broken:
        checks = [(number, check) for number, work in enumerate(works) for check in work.checks]
        for spot in broken:
            number, (partition, key, _) = checks[spot - 1]
            answers[number] = PredicateFailed(f"a row is no longer at the expected version: {key!r} in {partition!r}")
    return answers


def _pause(attempt: int) -> float:
    """Seconds to wait. Longer for each attempt, and different between processes and attempts."""
    spread = (os.getpid() * 7919 + attempt * 104_729) % 1000 / 1000
    return min(0.005 * 2.0**attempt, 0.2) * (0.5 + spread)
