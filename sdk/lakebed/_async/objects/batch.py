"""Several objects and deletions in one request: a form that streams, and the comparison of all checksums at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

from lakebed import _checks
from lakebed._async.http.target import Target
from lakebed._async.objects.upload import Progress, checked_type, compare
from lakebed._compat.aio import stream
from lakebed._gateway.operations import objects
from lakebed._http.batch import MAX_PARTS, Batch, Part
from lakebed._http.retry import about
from lakebed._values.upload_source import Meter, source_of
from lakebed._values.wire import Call
from lakebed.errors import CorruptTransferError, InvalidRequestError
from lakebed.model import ObjectInfo

_COALESCED = 256 << 10
"""Bytes that are joined before they are sent: each piece that is sent costs a system call."""


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

    async def stream(self) -> AsyncIterator[bytes]:
        """The form, from the beginning."""
        for meter in self.meters:
            meter.undo()
        self.meters = []
        held = bytearray(self._batch.opening())
        for part in self._batch.parts:
            meter = Meter(self._progress)
            self.meters.append(meter)
            held += self._batch.head(part)
            async for chunk in stream(part.source.chunks(), meter):
                held += chunk
                if len(held) >= _COALESCED:
                    yield bytes(held)
                    held.clear()
            held += b"\r\n"
        held += self._batch.end()
        yield bytes(held)


async def upload_many(
    target: Target,
    items: Iterable[tuple[str, Any, str | None]],
    deletions: Iterable[str],
    progress: Progress = None,
) -> list[ObjectInfo]:
    """Write and delete several objects, all or nothing, and compare checksums."""
    batch = new_batch(items, deletions, advice="write fewer files, or in several batches")
    if not batch.parts and not batch.deletions:
        return []
    body = BatchBody(batch, progress)
    call = objects.upload_many(target.repository, target.ref, batch.boundary)
    stored = await target.transport.call(call, body)
    compare_all(call, stored, body)
    return list(stored)


def new_batch(
    items: Iterable[tuple[str, Any, str | None]], deletions: Iterable[str], *, advice: str, commit: bytes = b""
) -> Batch:
    """A batch, checked. `advice`: what to do instead when it is too large."""
    deleted = [_checks.check_path(path) for path in deletions]
    parts = [Part(_checks.check_path(path), source_of(data), checked_type(kind)) for path, data, kind in items]
    if len(parts) + len(deleted) > MAX_PARTS:
        raise InvalidRequestError(
            f"{len(parts)} objects and {len(deleted)} deletions are too many for one batch of at most {MAX_PARTS}; "
            f"{advice}"
        )
    return Batch(parts, deleted, commit)


def compare_all(call: Call[Any], stored: Sequence[ObjectInfo], body: BatchBody) -> None:
    """Raise CorruptTransferError unless a batch was stored as it was sent."""
    if len(stored) != len(body.meters):
        raise CorruptTransferError(
            f"sent {len(body.meters)} objects to {call.subject}, but the response contains {len(stored)}", **about(call)
        )
    for info, meter in zip(stored, body.meters, strict=True):
        compare(call, info, meter)
