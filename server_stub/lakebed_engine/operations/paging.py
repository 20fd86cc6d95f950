"""Pages of listings are bounded in bytes, not only in rows: messages and user metadata have up to 64 KiB each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from lakebed_engine.vocabulary.records import Page

PAGE_BYTES: Final = 8 << 20
"""Bytes of text in one page. A page that reaches this size ends there, and reports that more follows."""

T = TypeVar("T")


def bounded(page: Page[T], size_of: Callable[[T], int]) -> Page[T]:
    """The first items of the page whose sizes in bytes add up to at most `PAGE_BYTES`. At least one item."""
    total = 0
    for number, item in enumerate(page.items):
        total += size_of(item)
        if total > PAGE_BYTES and number:
            return Page(page.items[:number], has_more=True)
    return page


def metadata_size(metadata: Mapping[str, str]) -> int:
    """The approximate size of user metadata in bytes."""
    return sum(len(key) + len(value) for key, value in metadata.items()) if metadata else 0
