"""Pages of listings are bounded in bytes, not only in rows: messages and user metadata have up to 64 KiB each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from lakebed_engine.vocabulary.records import Page

PAGE_BYTES: Final = 8 << 20
"""Bytes of text in one page. A page that reaches it ends there, and says that more follows."""

T = TypeVar("T")


def bounded(page: Page[T], size_of: Callable[[T], int]) -> Page[T]:
    """The page, or the first items of it whose sizes in bytes add up to `PAGE_BYTES` at most; one at least."""
    total = 0
    for number, item in enumerate(page.items):
        total += size_of(item)
        if total > PAGE_BYTES and number:
            return Page(page.items[:number], has_more=True)
    return page


def metadata_size(metadata: Mapping[str, str]) -> int:
    """About how many bytes user metadata has."""
    return sum(len(key) + len(value) for key, value in metadata.items()) if metadata else 0
