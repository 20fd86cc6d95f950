"""Blocks of code of the pages about deployment, as they are on the page."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    """The blocks of one language, in order."""
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


def block(page: str, language: str, word: str) -> str:
    """The block of a language that has a word."""
    (found,) = [text for text in blocks(page, language) if word in text]
    return found


def replaced(text: str, **changes: str) -> str:
    """The text with each word of the page replaced. Fails when the page does not have one of them."""
    for old, new in changes.items():
        assert old in text, f"the page has no {old!r}"
        text = text.replace(old, new)
    return text
