# Generated from sdk/lakebed/_async/http/bodies.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Request bodies that stream: one object, or a batch of them.

A body hashes what it sends, so that the server's checksum can be compared with it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from lakebed._compat.sync import stream
from lakebed._http.batch import Batch
from lakebed._values.upload_source import Meter, Source

_COALESCED = 256 << 10


class Body(Protocol):
    """What the transport needs to know of a body."""

    @property
    def size(self) -> int | None:
        """The length, when it is known beforehand."""
        ...

    @property
    def replayable(self) -> bool:
        """Whether it can be sent (again)."""
        ...

    def stream(self) -> Iterator[bytes]:
        """The bytes, from the beginning."""
        ...


class ObjectBody:
    """The content of one object. With `hashed` False it is not hashed again while it is sent."""

    def __init__(self, source: Source, progress: Callable[[int], None] | None, *, hashed: bool = True) -> None:
        self._source = source
        self._progress = progress
        self._hashed = hashed
        self.meter = Meter(progress, hashed=hashed)

    @property
    def size(self) -> int | None:
        """The length, when it is known beforehand."""
        return self._source.size

    @property
    def replayable(self) -> bool:
        """Whether it can be sent (again)."""
        return self._source.replayable

    def stream(self) -> Iterator[bytes]:
        """The content, from the beginning."""
        self.meter.undo()
        self.meter = Meter(self._progress, hashed=self._hashed)
        return stream(self._source.chunks(), self.meter)


class BatchBody:
    """A batch of objects and deletions as one form."""

    def __init__(self, batch: Batch, progress: Callable[[int], None] | None) -> None:
        self._batch = batch
        self._progress = progress
        self.meters: list[Meter] = []

    @property
    def size(self) -> int | None:
        """The length, when it is known beforehand."""
        return self._batch.size

    @property
    def replayable(self) -> bool:
        """Whether it can be sent (again)."""
        return self._batch.replayable

    def stream(self) -> Iterator[bytes]:
        """The form, from the beginning; small pieces are joined, since each one sent costs a system call."""
        for meter in self.meters:
            meter.undo()
        self.meters = []
        held = bytearray(self._batch.opening())
        for part in self._batch.parts:
            meter = Meter(self._progress)
            self.meters.append(meter)
            held += self._batch.head(part)
            for chunk in stream(part.source.chunks(), meter):
                held += chunk
                if len(held) >= _COALESCED:
                    yield bytes(held)
                    held.clear()
            held += b"\r\n"
        held += self._batch.end()
        yield bytes(held)
