# Generated from sdk/lakebed/_async/objects/download.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Downloads object bytes in chunks, directly from the store where possible, and compares the checksum at the end.

A download that breaks off continues where it stopped. If the object changes during the download, it raises an error and
never mixes two contents.
"""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lakebed._compat.sync import run_in_thread, sleep
from lakebed._files import appearing
from lakebed._gateway.operations import objects
from lakebed._http.retry import Failed, about
from lakebed._sync.http.object_store import Expired, Unreachable
from lakebed._sync.http.target import Target
from lakebed._values.received import Received
from lakebed._values.upload_source import CHUNK, Meter
from lakebed._values.wire import Call
from lakebed.errors import CorruptTransferError, InvalidRequestError, PreconditionFailedError
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger("lakebed.transfer")

_MD5 = re.compile(r"[0-9a-f]{32}")


class Download:
    """The bytes of one object, or a range of them. Iterate once; `info` is set with the first chunk."""

    def __init__(
        self,
        target: Target,
        path: str,
        *,
        start: int = 0,
        length: int | None = None,
        checksum: str | None = None,
        known: str | None = None,
        proxied: bool = False,
    ) -> None:
        """`checksum`: raise when the object has another one. `known`: its checksum, if the caller has it.

        `proxied`: all bytes come through the server, also where the store could send them.
        """
        if start < 0 or (length is not None and length < 0):
            raise InvalidRequestError(f"start and length must not be negative: {start}, {length}")
        self.info: ObjectInfo | None = None
        self._transport = target.transport
        self._where = (target.repository, target.ref, path)
        self._start = start
        self._length = length
        self._checksum = checksum
        self._known = checksum or known
        self._proxied = proxied
        self._refused = False
        self._position = start

    def __iter__(self) -> Iterator[bytes]:
        meter = Meter(hashed=self._is_whole)
        for chunk in self._pieces():
            meter(chunk)
            yield chunk
        self._verify(meter)

    def read(self) -> bytes:
        """All the bytes, in one block of memory."""
        received: Received | None = None
        try:
            for chunk in self._pieces():
                if received is None:  # the size is known with the first chunk
                    received = Received(self._end() - self._start, hashed=self._is_whole)
                received.add(chunk)
            received = received or Received(0, hashed=self._is_whole)
            if received.is_hashing:
                run_in_thread(received.wait)
            self._verify(received)
            return received.content()
        finally:
            if received is not None:
                received.close()

    def _pieces(self) -> Iterator[bytes]:
        """The bytes as they arrive, not compared with the checksum."""
        if self._length == 0:
            return
        failures = 0
        while True:
            reached = self._position
            try:
                with self._open() as (head, chunks):
                    self._same_object(head)
                    for chunk in chunks:
                        self._position += len(chunk)
                        yield chunk
                break
            except Expired as refused:  # the store refused the address: try a new one, then the server
                self._proxied = self._refused
                self._refused = True
                log.debug("%s", refused.error)
            except Unreachable:
                self._proxied = True
            except Failed as failure:
                failures = 1 if self._position > reached else failures + 1
                if failures >= self._transport.policy.attempts:
                    raise failure.error from None
                if self._position > self._start and self._position == self._end():
                    break  # everything has arrived; only the end of the answer is missing
                sleep(min(self._transport.policy.base * failures, self._transport.policy.cap))

    @contextmanager
    def _open(self) -> Iterator[tuple[ObjectInfo, Iterator[bytes]]]:
        """Return the bytes from here on: from the store where possible, else from the server."""
        addresses = self._transport.addresses
        if self._proxied or not addresses.reachable:
            with self._transport.stream(self._call()) as opened:
                yield opened
            return
        key = (*self._where, self._known or "")
        found = addresses.get(key) if self._known else None
        if found is None:
            with self._transport.stream(objects.read_elsewhere(*self._where, *self._rest())) as (head, chunks):
                if isinstance(head, ObjectInfo):
                    yield head, chunks
                    return
                found = head
            if found.checksum == self._known:
                addresses.keep(key, found)
        call = self._call()
        try:
            with self._transport.outside.read(found.url, _ranged(call), call) as (answer, chunks):
                yield objects.described_by(found, answer, self._where[2]), chunks
        except Unreachable:
            addresses.unreachable()
            raise
        except Expired:
            addresses.drop(key)
            raise

    def _rest(self) -> tuple[int, int | None]:
        """Return where to continue, and how many bytes are left."""
        done = self._position - self._start
        return self._position, None if self._length is None else self._length - done

    def _call(self) -> Call[ObjectInfo]:
        return objects.read(*self._where, *self._rest())

    def _end(self) -> int:
        size = self.info.size if self.info else 0
        return size if self._length is None else min(self._start + self._length, size)

    def _same_object(self, head: ObjectInfo) -> None:
        expected = self._checksum if self.info is None else self.info.checksum
        if expected is not None and head.checksum != expected:
            call = self._call()
            raise PreconditionFailedError(
                f"{call.subject} changed while it was being read; read it again, or from a commit", **about(call)
            )
        self.info = head

    @property
    def _is_whole(self) -> bool:
        """Whether this is the whole object. Only then does its checksum apply to the bytes."""
        return self._start == 0 and self._length is None

    def _verify(self, meter: Meter | Received) -> None:
        info = self.info
        if info is None:
            return
        damaged = self._is_whole and _MD5.fullmatch(info.checksum) and meter.checksum != info.checksum
        if damaged or self._position != self._end():
            call = self._call()
            arrived, expected = f"{meter.size} bytes", f"{self._end() - self._start} bytes"
            if self._is_whole:
                arrived, expected = f"{arrived} with MD5 {meter.checksum}", f"{expected} and {info.checksum}"
            raise CorruptTransferError(
                f"{call.subject} arrived damaged: {arrived}, expected {expected}; read it again", **about(call)
            )


def read_buffer(source: Download, length: int, moved: Callable[[int], None] | None = None) -> pa.Buffer:
    """Read a range of this length into an Arrow buffer. Calls `moved` with the number of bytes that just arrived."""
    import pyarrow as pa

    buffer = pa.allocate_buffer(length)
    view, at = memoryview(buffer).cast("B"), 0  # chunks that were joined first would take twice the memory
    for chunk in source:
        view[at : at + len(chunk)] = chunk
        at += len(chunk)
        if moved is not None:
            moved(len(chunk))
    return buffer


def _ranged(call: Call[Any]) -> Mapping[str, str]:
    """Return the headers of a request to a store. They contain nothing that is for the server."""
    return {name: str(value) for name, value in call.headers.items() if name in ("Range", "Accept-Encoding")}


def save(
    source: Download,
    target: str | os.PathLike[str] | IO[bytes],
    progress: Callable[[int], None] | None,
    mtime_ns: int | None = None,
) -> ObjectInfo:
    """Write a download to a file, or to a path where it appears only when it is complete, with this time of change."""
    if hasattr(target, "write"):
        return _write(source, target, progress)
    final = Path(target)
    if run_in_thread(final.is_dir):  # raise before the transfer begins
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(final))
    with appearing(final, mtime_ns) as file:
        return _write(source, file, progress)


def _write(source: Download, file: Any, progress: Callable[[int], None] | None) -> ObjectInfo:
    held = bytearray()
    for chunk in source:
        held += chunk
        if len(held) >= CHUNK:
            run_in_thread(file.write, bytes(held))
            held.clear()
        if progress is not None:
            progress(len(chunk))
    if held:
        run_in_thread(file.write, bytes(held))
    if source.info is None:
        raise InvalidRequestError("no data was requested")
    return source.info
