"""`%load_ext lakebed`: the command line in a notebook, with tables in place of text.

%lakebed log sales/main
%lakebed diff sales/main dev

%%lakebed
branch create sales/dev
status sales/dev
"""

from __future__ import annotations

import io
import shlex
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from typing import TYPE_CHECKING, Any

from lakebed.cli import main
from lakebed.cli.app import App

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.display import HTML


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magics `%lakebed` and `%%lakebed`. `%load_ext lakebed` calls it."""
    magics: Any = shell  # its decorator has no types
    magics.register_magic_function(lakebed_magic, "line_cell", "lakebed")


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Remove them. `%unload_ext lakebed` calls it."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("lakebed", None)


def lakebed_magic(line: str, cell: str | None = None) -> HTML:
    """Run a command of `lakebed`, or in a cell one in each line. Lines that begin with # are remarks.

    The words after `%%lakebed` are added to each line. An error stops the cell.

    %lakebed log sales/main -n 5
    """
    from IPython import display

    commands = [line] if cell is None else [f"{one} {line}" for one in cell.splitlines() if one.strip()]
    parts: list[str] = []
    for words in (shlex.split(one, comments=True) for one in commands):
        if words:
            run(words, parts)
    made: Any = display
    shown: HTML = made.HTML("".join(parts))
    return shown


def run(words: list[str], parts: list[str]) -> None:
    """Run one command line, and add its output as HTML. Raises IPython's UsageError with the message of the command."""
    from IPython.core.error import UsageError

    words = words[1:] if words[0] == "lakebed" else words
    out, error = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    app = App(html=parts)
    with redirect_stdout(out), redirect_stderr(error):
        code = main.run(words, app)
    out.seek(0)
    for text, style in ((out.read(), "pre"), ("" if code else error.getvalue(), "note")):
        if text.strip() and style == "pre":
            parts.append(f"<div class='lakebed'><pre>{escape(text.rstrip())}</pre></div>")
        elif text.strip():
            lines = "<br/>".join(map(escape, text.strip().splitlines()))
            parts.append(f"<div class='lakebed'><div class='lakebed-note'>{lines}</div></div>")
    if code:
        raise UsageError(error.getvalue().strip().removeprefix("lakebed: "))
