"""Pages whose `sh` blocks are run too: how-tos of migrations, and recipes. Blocks with a title are files.

```yaml title="profiles.yml"
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^( *)```(\w+)(?: +title=\"([^\"]+)\")?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)

LINE = re.compile(r"^(?:\$ )?(lakebed [a-z][^\n]*)$|`(lakebed [^`\n]+)`", re.MULTILINE)
END = re.compile(r"\s#|\s\||\s&&|\s>|\s\.\.\.|[{(]")
"""Where the words of one command end: a comment, a pipe, or a part that is filled in later."""


class Fenced(NamedTuple):
    """A code block. `title` is the name of a file, or empty."""

    language: str
    title: str
    code: str
    line: int


def commands(text: str) -> Iterator[tuple[int, str]]:
    """The command lines of a text, each with the number of its line."""
    for found in LINE.finditer(text.replace("\\\n", "  ")):
        yield text.count("\n", 0, found.start()) + 1, END.split(found[1] or found[2])[0]


def fenced(page: Path) -> list[Fenced]:
    """Every code block of a page, also those in the steps of a list."""
    text = page.read_text("utf-8")
    return [
        Fenced(one[2], one[3] or "", textwrap.dedent(one[4]), text.count("\n", 0, one.start()) + 2)
        for one in _BLOCK.finditer(text)
    ]


def code_of(page: Path, language: str) -> list[str]:
    """The blocks of a language that are no files."""
    return [one.code for one in fenced(page) if one.language == language and not one.title]
