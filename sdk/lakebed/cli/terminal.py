"""What a terminal shows: colours, and a pager for long output. Neither where the output goes to a pipe or a file."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import subprocess

_CODES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35", "cyan": "36", "bold": "1"}
_SIGNS = {"+": "green", "-": "red", "~": "yellow", "!": "magenta"}
_ID = re.compile(r"\b[0-9a-f]{12}\b")
_painted = [False]
"""Whether standard output has colours: of the process, because each line asks for it."""


class Options(Protocol):
    """The global options that matter here."""

    as_json: bool
    no_pager: bool


def begin(choice: str) -> None:
    """Decide for this run whether standard output has colours. `choice` is that of `--color`."""
    _painted[0] = is_coloured(choice, sys.stdout)


def is_coloured(choice: str, stream: IO[str]) -> bool:
    """Whether output to a stream has colours: `--color`, else NO_COLOR, else whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return _is_terminal(stream)


def paint(text: str, colour: str) -> str:
    """A text in a colour, when standard output has colours."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if _painted[0] and text else text


def signed(line: str) -> str:
    """A line of a diff in the colour of its sign."""
    return paint(line, _SIGNS[line[0]]) if line[:1] in _SIGNS else line


def graph_line(line: str) -> str:
    """A line of a drawn history, with the id of its commit in colour."""
    return _ID.sub(lambda found: paint(found[0], "yellow"), line, count=1)


@contextmanager
def paged(app: Options) -> Iterator[None]:
    """Show what is written to standard output in a pager, on a terminal. It ends by itself when one screen is enough.

    The user may quit it at any time: then the rest is not read.
    """
    command = _pager(app)
    if not command:
        yield
        return
    import subprocess

    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    sys.stdout.flush()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    assert process.stdin is not None
    before, sys.stdout = sys.stdout, io.TextIOWrapper(process.stdin, "utf-8", "backslashreplace")
    pipe = sys.stdout
    try:
        yield
    except BrokenPipeError:
        pass  # the user has seen enough
    finally:
        sys.stdout = before
        with suppress(OSError, ValueError):
            pipe.close()
        _wait(process)


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of the pager. Ctrl-C is for the pager."""
    while True:
        try:
            process.wait()
        except KeyboardInterrupt:
            continue
        return


def _pager(app: Options) -> list[str]:
    """The command of the pager; none without a terminal, with `--json` or `--no-pager`."""
    if app.no_pager or app.as_json or not _is_terminal(sys.stdout):
        return []
    import shlex
    import shutil

    wanted = next((os.environ[name] for name in ("LAKEBED_PAGER", "PAGER") if name in os.environ), "less")
    words = shlex.split(wanted)
    if not words or words == ["cat"] or shutil.which(words[0]) is None:
        return []
    return words


def _is_terminal(stream: IO[str]) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False
