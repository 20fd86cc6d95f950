"""Progress on standard error: bytes, files, speed and time left, or a count. The first second shows nothing. rich is
imported only when a bar is drawn. Without a request, a bar is drawn only on a terminal.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from lakebed._bulk.progress import Report, Tally
from lakebed._render.html import size_text
from lakebed.model import TransferProgress

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0
"""Seconds before a bar appears."""

_REDRAWN = 0.5
"""Seconds between two states of a text in a notebook."""

VARIABLE = "LAKEBED_PROGRESS"
"""`0` in the environment: no bars, unless asked for."""

_SCREEN = threading.Lock()
"""Held by the bar that is drawn: one at a time."""

Given = bool | Callable[[TransferProgress], None] | None
"""A bar, none, a callback; None: a bar when standard error is a terminal, and in a notebook."""


@contextmanager
def following(title: str, given: Given) -> Iterator[Report]:
    """The callback for progress: the given one, that of a bar, or None."""
    if callable(given):
        yield given
    elif given or (given is None and _on_terminal()):
        with Meter(title, enabled=True) as meter:
            yield meter.follow
    else:
        yield None


@contextmanager
def counting(title: str, given: Given) -> Iterator[Tally]:
    """The same, with the counting done."""
    with following(title, given) as report:
        tally = Tally(report)
        yield tally
        tally.end()


@contextmanager
def counted(title: str, unit: str) -> Iterator[Callable[[int], None]]:
    """The callback for a count with an unknown end, such as a listing. On a terminal it is shown."""
    if not _on_terminal():
        yield lambda count: None
        return
    with Meter(title, enabled=True, unit=unit) as meter:
        yield meter.reached


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows bars although its standard error is not a terminal."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    running = shell.get_ipython()
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"


def _on_terminal() -> bool:
    if os.environ.get(VARIABLE, "").strip().lower() in ("0", "no", "off", "false"):
        return False
    if in_notebook():
        return True
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


class _TextOutput:
    """A line of text in the output of a notebook's cell, where rich has no bar: it needs ipywidgets for one."""

    def __init__(self) -> None:
        self._title = ""
        self._text = ""
        self._shown = 0.0
        self._output: Any = None

    def add_task(self, title: str, **_: object) -> None:
        """Set the title."""
        self._title = title

    def start(self) -> None:
        """Show the line."""
        from IPython import display

        show: Any = display.display
        self._output = show(self._line, raw=True, display_id=True)

    def update(self, _: object, *, completed: int, total: int | None, files: str) -> None:
        """Set the counts. The line is drawn twice a second, so that notebooks stay small and fast."""
        moved = f", {size_text(completed)}" + (f" of {size_text(total)}" if total else "") if completed else ""
        self._text = f"{self._title}: {files}{moved}"
        if self._output is not None and time.monotonic() - self._shown >= _REDRAWN:
            self._shown = time.monotonic()
            self._output.update(self._line, raw=True)

    def stop(self) -> None:
        """Leave the last counts."""
        if self._output is not None:
            self._output.update(self._line, raw=True)

    @property
    def _line(self) -> dict[str, str]:
        return {"text/plain": self._text}


class Meter:
    """Counts bytes and files, or `unit`, from any thread, and draws a bar when `enabled`."""

    def __init__(self, title: str, *, enabled: bool, unit: str = "") -> None:
        self.bytes = 0
        self.files = 0
        self.bytes_expected = 0
        self.files_expected = 0
        self._title = title
        self._unit = unit
        self._all_known = False
        self._lock = threading.Lock()
        self._bar: Progress | _TextOutput | None = None
        self._task: Any = None
        self._timer = threading.Timer(PATIENCE, self._draw) if enabled else None

    def __enter__(self) -> Self:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            bar, self._bar, self._timer = self._bar, None, None
        if bar is not None:
            bar.stop()
            _SCREEN.release()

    def expect(self, size: int) -> None:
        """One more file is to be moved."""
        with self._lock:
            self.bytes_expected += size
            self.files_expected += 1
            self._update()

    def no_more(self) -> None:
        """Every file has been announced, so the time left is known."""
        with self._lock:
            self._all_known = True
            self._update()

    def moved(self, size: int) -> None:
        """`size` bytes were moved; negative when an attempt begins again."""
        with self._lock:
            self.bytes += size
            self._update()

    def finished(self) -> None:
        """One file is done."""
        with self._lock:
            self.files += 1
            self._update()

    def reached(self, count: int) -> None:
        """Set the count."""
        with self._lock:
            self.files = count
            self._update()

    def follow(self, now: TransferProgress) -> None:
        """Set all counts, from the reports of a bulk transfer."""
        with self._lock:
            self.bytes, self.bytes_expected = now.bytes, now.bytes_total
            self.files, self.files_expected = now.files, now.files_total
            self._all_known = now.complete
            self._update()

    def _update(self) -> None:
        if self._bar is not None:
            total = self.bytes_expected if self._all_known else None
            of_all = f"/{self.files_expected}{'' if self._all_known else '+'} files"
            counted = f"{self.files:,} {self._unit}" if self._unit else f"{self.files}{of_all}"
            self._bar.update(self._task, completed=self.bytes, total=total, files=counted)

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        if in_notebook() and find_spec("ipywidgets") is None:
            self._show(_TextOutput())
            return
        what, count = TextColumn("{task.description}"), TextColumn("{task.fields[files]}")
        columns: list[ProgressColumn] = [what, count, TimeElapsedColumn()]
        if not self._unit:
            columns = [what, BarColumn(), DownloadColumn(), count, TransferSpeedColumn(), TimeRemainingColumn()]
        self._show(Progress(*columns, console=Console(stderr=True), transient=True))

    def _show(self, bar: Progress | _TextOutput) -> None:
        with self._lock:
            if self._timer is None or not _SCREEN.acquire(blocking=False):
                return  # it has ended, or another bar is shown
            self._bar = bar
            self._task = bar.add_task(self._title, total=None, files="")
            self._update()
            bar.start()
