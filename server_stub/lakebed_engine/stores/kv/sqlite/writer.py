"""The one thread that writes the SQLite KV store, many batches to a transaction (group commit).

An fsync costs about as much as a hundred small batches, so everything that arrives while one transaction commits shares
the next. Each batch of a group is all-or-nothing by its own checks: the thread reads them before it makes the first
change of the batch. A batch that fails therefore leaves nothing to undo, and the other batches continue. No other
process writes during the transaction, so checks of one row share one read until a batch changes that row. The thread
answers after COMMIT has returned. It splits many batches into two halves: callers of one half work while the other is
synced.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple

import apsw

from lakebed_engine.stores.kv.base import ABSENT, Batch
from lakebed_engine.stores.kv.sqlite.file import patience, store_error
from lakebed_engine.vocabulary.errors import OutcomeUnknownError, PredicateFailed, StoreError, StoreUnavailableError

_VERSION_OF: Final = "SELECT version FROM kv WHERE partition = ? AND key = ?"
_PUT: Final = (
    "INSERT INTO kv VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, version = excluded.version"
)
_DELETE: Final = "DELETE FROM kv WHERE partition = ? AND key = ?"
_TAKE_VERSIONS: Final = "UPDATE sequence SET version = version + ? RETURNING version"
_NTH_KEY: Final = "SELECT key FROM kv WHERE partition = ? ORDER BY key LIMIT 1 OFFSET ?"
_DROP_BELOW: Final = "DELETE FROM kv WHERE partition = ? AND key < ?"
_DROP_REST: Final = "DELETE FROM kv WHERE partition = ?"

_GROUP = 256  # batches to a transaction
_UNDIVIDED = 32  # batches that are not split into halves
_DROP_STEP = 10_000  # rows to a step of drop_partition
_PAUSE_SECONDS = 0.001  # longer than a waiting process sleeps before it tries the lock again
_PAUSE_EVERY = 4  # transactions
_POLITE = 64  # transactions, after another process was met


@dataclass(frozen=True, slots=True)
class DropStep:
    """Delete the first rows of a partition, at most 10,000. The result is 1 if rows remain, otherwise 0."""

    partition: str


class _Job(NamedTuple):
    work: Batch | DropStep
    future: asyncio.Future[int]


_Answers = list[int | Exception]

_Versions = dict[tuple[str, bytes], int]
"""Rows that checks read in this transaction and that have not changed since: most callers of a group check one
record."""


class Writer:
    """Owns the writing connection from start to close; `submit` may be called from any event loop."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._execute = connection.cursor().execute
        self._executemany = connection.cursor().executemany
        self._path = path
        self._identity = _identity_of(path)
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._gate = threading.Lock()  # nothing enters the queue after the None that ends it
        self._closed = False
        self._polite = 0
        self._turn = 0
        self._owed: tuple[Sequence[_Job], _Answers] = (), []
        connection.set_busy_handler(patience(self._met_another_process))
        self._thread = threading.Thread(target=self._run, name="lakebed-kv-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Batch | DropStep) -> asyncio.Future[int]:
        """Queue a batch for the next transaction. The future belongs to the running loop. Cancelling it has no effect.

        Raises StoreUnavailableError after `close`.
        """
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with self._gate:
            if self._closed:
                raise StoreUnavailableError(f"the KV store is closed; open a new one: {self._path}")
            self._queue.put(_Job(work, future))
        return future

    def close(self) -> None:
        """Finish accepted batches, close the connection and wait for the thread. Blocks. May be called twice."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    # Everything below runs in the thread.

    def _run(self) -> None:
        try:
            while (first := self._next()) is not None:
                jobs = [first]
                try:
                    self._refuse_moved()
                    self._execute("BEGIN IMMEDIATE")
                except Exception as error:
                    more = self._drain(jobs, _GROUP)  # each group would fail after the same long wait
                    refusal = error if isinstance(error, StoreError) else store_error(error, self._path)
                    answers: _Answers = [refusal for _ in jobs]
                else:
                    # after BEGIN, which may have waited: choosing late makes the group larger
                    more = self._drain(jobs, self._share())
                    answers = self._group_or_unknown(jobs)
                self._answer()
                self._owed = jobs, answers
                if not more:
                    break
                if self._polite:
                    self._answer()
                    self._polite -= 1
                    self._turn += 1  # a separate count, because _polite restarts whenever another process appears
                    if self._turn % _PAUSE_EVERY == 0:
                        time.sleep(_PAUSE_SECONDS)
        finally:
            self._answer()
            self._connection.close()

    def _next(self) -> _Job | None:
        try:
            return self._queue.get_nowait()
        except Empty:
            self._answer()
            return self._queue.get()

    def _answer(self) -> None:
        """Answer the callers of the finished transaction. If the next transaction is waiting, first make its changes.

        So one half of the callers works while the disk syncs the batches of the other half.
        """
        (jobs, answers), self._owed = self._owed, ((), [])
        _deliver(jobs, answers)

    def _refuse_moved(self) -> None:
        # SQLite would continue to write to a file that no longer has a name, and all of it would be lost
        if _identity_of(self._path) != self._identity:
            text = (
                "the KV store's file was moved, removed or replaced while it was in use, nothing was changed; put it "
                "back, or restart the server with the current file"
            )
            raise StoreUnavailableError(f"{text}: {self._path}", public_message=text)

    def _share(self) -> int:
        """The number of batches for the next transaction: half of them if there are many callers."""
        callers = 1 + self._queue.qsize() + len(self._owed[0])
        return min(_GROUP, max(_UNDIVIDED, -(-callers // 2)))

    def _drain(self, jobs: list[_Job], most: int) -> bool:
        """Take waiting items, until there are `most`. False if the end of the queue was among them."""
        try:
            while len(jobs) < most:
                if (job := self._queue.get_nowait()) is None:
                    return False
                jobs.append(job)
        except Empty:
            pass
        return True

    def _met_another_process(self) -> None:
        # The other process tries the lock about once a millisecond. Transactions without a pause would leave it a few
        # microseconds, so this thread pauses between transactions for a while. Two processes of 64 callers
        # each, medians of five interleaved runs: the slowest put took 5 to 6 ms instead of 21 to 35, for 7 % of the
        # throughput. A pause after every transaction cost 16 % and did not shorten it further.
        self._polite = _POLITE
        self._answer()

    def _group_or_unknown(self, jobs: Sequence[_Job]) -> _Answers:
        # An unexpected error would end this thread, and all callers would wait without end.
        try:
            return self._group(jobs)
        except Exception as error:
            self._roll_back()
            return [self._unknown(ABSENT, error) for _ in jobs]

    def _group(self, jobs: Sequence[_Job]) -> _Answers:
        """Finish a transaction that has begun, and return the answers in order. If it raises, the transaction has ended
        too."""
        try:
            answers, changed = self._make_changes(jobs)
        except Exception as error:
            self._roll_back()
            return self._one_by_one(jobs, error)
        if not changed:
            self._roll_back()
            return answers
        self._answer()
        try:
            self._execute("COMMIT")
        except (apsw.FullError, apsw.ReadOnlyError, apsw.BusyError) as error:
            self._roll_back()  # the commit frame was not written: nothing was applied
            return self._one_by_one(jobs, error)
        except Exception as error:
            self._roll_back()
            self._fence()
            return [self._unknown(answer, error) for answer in answers]
        return answers

    def _make_changes(self, jobs: Sequence[_Job]) -> tuple[_Answers, bool]:
        wanted = sum(1 for job in jobs if isinstance(job.work, Batch) and job.work.puts)
        version = self._execute(_TAKE_VERSIONS, (wanted,)).get - wanted if wanted else ABSENT
        answers: _Answers = []
        changed = False
        looked_up: _Versions = {}
        for job in jobs:
            work = job.work
            if isinstance(work, DropStep):
                looked_up.clear()
                self._answer()
                answers.append(self._drop(work.partition))
                changed = True
                continue
            if (broken := self._broken_check(work, looked_up)) is not None:
                answers.append(broken)
                continue
            if work.deletes:
                looked_up.clear()
                self._executemany(_DELETE, work.deletes)
                changed = True
            if not work.puts:
                answers.append(ABSENT)
                continue
            version += 1
            for partition, key, value in work.puts:
                self._execute(_PUT, (partition, key, value, version))
                looked_up.pop((partition, key), None)
            answers.append(version)
            changed = True
        return answers, changed

    def _broken_check(self, batch: Batch, looked_up: _Versions) -> PredicateFailed | None:
        for partition, key, expected in batch.checks:
            version = looked_up.get((partition, key))
            if version is None:
                version = self._execute(_VERSION_OF, (partition, key)).get or ABSENT
                looked_up[partition, key] = version
            if version != expected:
                return PredicateFailed(f"a row is no longer at the expected version: {key!r} in {partition!r}")
        return None

    def _drop(self, partition: str) -> int:
        bound = self._execute(_NTH_KEY, (partition, _DROP_STEP)).get
        if bound is None:
            self._execute(_DROP_REST, (partition,))
            return 0
        self._execute(_DROP_BELOW, (partition, bound))
        return 1

    def _one_by_one(self, jobs: Sequence[_Job], error: Exception) -> _Answers:
        """After a group failed and nothing was applied: apply each batch separately."""
        if len(jobs) == 1:
            return [store_error(error, self._path) if isinstance(error, apsw.Error) else error]
        answers: _Answers = []
        for job in jobs:
            try:
                self._execute("BEGIN IMMEDIATE")
            except Exception as refused:  # the rest would fail too, each after the same long wait
                return answers + [store_error(refused, self._path) for _ in jobs[len(answers) :]]
            answers += self._group([job])
        return answers

    def _unknown(self, answer: int | Exception, error: Exception) -> Exception:
        if isinstance(answer, Exception):  # its check may have failed on another batch's row that was rolled back
            return StoreUnavailableError(f"the KV store failed, nothing was changed; try again ({error}): {self._path}")
        return OutcomeUnknownError(
            f"the KV store failed while committing; read back what was written ({error}): {self._path}"
        )

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:  # some errors have already rolled back
                self._execute("ROLLBACK")
        except apsw.Error:
            pass  # the next BEGIN reports the error

    def _fence(self) -> None:
        # When the fsync of a COMMIT fails, the WAL has its frames. Readers do not see them, but recovery after a crash
        # would apply them. Another commit overwrites them, so that what a caller reads now stays true. If this commit
        # fails too, the next group tries again.
        try:
            self._execute("BEGIN IMMEDIATE")
            self._execute(_TAKE_VERSIONS, (1,)).get  # noqa: B018 - runs the statement to its end
            self._execute("COMMIT")
        except apsw.Error:
            self._roll_back()


def _identity_of(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file at a path; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _deliver(jobs: Sequence[_Job], answers: _Answers) -> None:
    """Wake the waiters of a group with one call for each event loop, not one for each waiter."""
    settled = [(job.future, answer) for job, answer in zip(jobs, answers, strict=True)]
    for loop in {future.get_loop() for future, _ in settled}:
        try:
            loop.call_soon_threadsafe(_settle, loop, settled)
        except RuntimeError:
            pass  # the loop is closed: no caller waits


def _settle(loop: asyncio.AbstractEventLoop, settled: Sequence[tuple[asyncio.Future[int], int | Exception]]) -> None:
    for future, answer in settled:
        if future.get_loop() is not loop or future.done():  # of another loop, or cancelled: no caller waits here
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
