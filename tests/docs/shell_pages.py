"""Pages whose `sh` blocks are run too: how-tos of migrations, and recipes. Blocks with a title are files.

```yaml title="profiles.yml"
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^( *)```(\w+)(?: +title=\"([^\"]+)\")?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Fenced(NamedTuple):
    """A code block. `title` is the name of a file, or empty."""

    language: str
    title: str
    code: str
    line: int


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
