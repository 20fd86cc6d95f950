"""The progress of a bulk transfer: counted from any thread, reported a few times in a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from lakebed.model import TransferProgress

INTERVAL = 0.1
"""Seconds between two reports."""

JOBS = 8
"""Transfers at the same time."""

Report = Callable[[TransferProgress], None] | None


class Stopped(Exception):
    """Ends the work of a thread, because the transfer has failed or was interrupted in another one."""


class Tally:
    """Counts what a transfer expects and has done, and calls `report` at most every INTERVAL seconds, and at the end.

    What `report` raises ends the transfer.
    """

    def __init__(self, report: Report, clock: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._clock = clock
        self._start = clock()
        self._reported = self._start
        self._lock = threading.Lock()
        self._reporting = threading.Lock()
        self._files = self._files_total = self._bytes = self._bytes_total = self._skipped = 0
        self._complete = False
        self._stopped = False
        self._announced = False
        self._seen = self._seen_bytes = self._skipped_bytes = 0

    def stop(self) -> None:
        """End the transfer in all threads: `moved` raises Stopped from now on."""
        self._stopped = True

    def announce(self, files: int, size: int) -> None:
        """Set the totals before the first file, as they were counted."""
        with self._lock:
            self._files_total, self._bytes_total = files, size
            self._announced = self._complete = True

    def expect(self, size: int) -> None:
        """One more file of `size` bytes is to be moved."""
        with self._lock:
            self._seen += 1
            self._seen_bytes += size
            if not self._announced:
                self._files_total += 1
                self._bytes_total += size

    def no_more(self) -> None:
        """All files have been expected: from now on the totals are exact, also when files came or went since."""
        with self._lock:
            self._complete = True
            self._files_total, self._bytes_total = self._seen, self._seen_bytes - self._skipped_bytes

    def moved(self, size: int) -> None:
        """`size` bytes were moved; negative when an attempt begins again. Raises Stopped after `stop`."""
        if self._stopped:
            raise Stopped
        with self._lock:
            self._bytes += size
        self._report_if_due()

    def done(self, files: int) -> None:
        """`files` more files are done."""
        with self._lock:
            self._files += files
        self._report_if_due()

    def skip(self, size: int) -> None:
        """A file was done before: it counts as moved, in files only."""
        with self._lock:
            self._files += 1
            self._skipped += 1
            self._skipped_bytes += size
            self._bytes_total -= size

    def now(self) -> TransferProgress:
        """As it is."""
        with self._lock:
            return TransferProgress(
                files=self._files,
                files_total=self._files_total,
                bytes=self._bytes,
                bytes_total=self._bytes_total,
                seconds=self._clock() - self._start,
                complete=self._complete,
                skipped=self._skipped,
            )

    def end(self) -> None:
        """Report the last state."""
        if self._report is not None:
            with self._reporting:
                self._call()

    def _report_if_due(self) -> None:
        if self._report is None:
            return
        moment = self._clock()
        with self._lock:
            due = moment - self._reported >= INTERVAL
            if due:
                self._reported = moment
        if due and self._reporting.acquire(blocking=False):  # one at a time: callbacks need not think of threads
            try:
                self._call()
            finally:
                self._reporting.release()

    def _call(self) -> None:
        report, self._report = self._report, None  # a callback that raises is not called again
        if report is not None:
            report(self.now())
            self._report = report
