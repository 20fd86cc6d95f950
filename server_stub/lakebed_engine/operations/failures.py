"""The failures of single repositories in a pass over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lakebed_engine.vocabulary.errors import StoreError


class Failures:
    """Keeps what stores raise for single repositories, so that a pass goes on with the others."""

    def __init__(self) -> None:
        self._first: StoreError | None = None

    @contextmanager
    def kept(self) -> Iterator[list[StoreError]]:
        """Keep the StoreError of this block. Yields a list, which then contains it."""
        here: list[StoreError] = []
        try:
            yield here
        except StoreError as error:
            here.append(error)
            self._first = self._first or error

    def raise_first(self) -> None:
        """Raise the first error of the pass, if there was one."""
        if self._first is not None:
            raise self._first
