# Generated from sdk/lakebed/_async/objects/presigned.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The path `presigned`: objects go to addresses that the server signs just before they are used.

Every address is for a key of its own, so nothing is ever replaced. Its answer has the address to register the
object with. Large objects go in parts where the server signs those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Any

from lakebed._compat.sync import Lock, gather, run_in_thread, stream
from lakebed._gateway import calls
from lakebed._gateway.operations import workspaces
from lakebed._sync.http.object_store import Expired, Taken
from lakebed._sync.http.target import Target
from lakebed._sync.objects.multipart import PartsUpload, Pieces, part_size
from lakebed._sync.objects.upload import ObjectBody
from lakebed._sync.objects.upload_item import Outgoing
from lakebed._values.upload_source import CHUNK, Meter, Source, source_of
from lakebed._values.wire import Call, Subject
from lakebed.errors import InvalidRequestError, LakebedError, ServerUnavailableError, UnsupportedOperationError
from lakebed.model import ObjectInfo, UploadUrl

LARGEST_SIGNED = 5 << 30
"""What one PUT can take."""

LARGE = 16 << 20
"""Bytes above which an object goes in parts."""

AT_ONCE = 8
"""Objects of a batch that travel at the same time; of large ones one, whose parts do."""

_SIGNED_AT_ONCE = 500
_SPOOLED = 8 << 20
_FRESH = timedelta(seconds=30)
"""An address that ends sooner than this is not begun with."""

_TRIES = 4
"""How often a store may say that something is at an address that is ours alone: an answer was lost, and again."""


class SignedSink:
    """Into one workspace."""

    def __init__(self, target: Target) -> None:
        """`target` is the workspace, by its id."""
        self._target = target
        self._workspace = (target.repository, target.ref)
        self._parts = True  # until the server says that it signs none
        self._large = Lock()

    def store(self, batch: Sequence[Outgoing]) -> list[ObjectInfo]:
        """Sign for small objects of one type together; what is large, or of unknown size, is signed for by itself."""
        kinds: dict[str, list[int]] = {}
        for index, item in enumerate(batch):
            kinds.setdefault(item.content_type, []).append(index)
        stored: dict[int, ObjectInfo] = {}
        for indexes in kinds.values():
            for start in range(0, len(indexes), _SIGNED_AT_ONCE):
                window = indexes[start : start + _SIGNED_AT_ONCE]
                jobs = self._jobs([batch[index] for index in window])
                stored |= dict(zip(window, gather(jobs, AT_ONCE), strict=True))
        return [stored[index] for index in range(len(batch))]

    def _jobs(self, items: Sequence[Outgoing]) -> list[Callable[[], Any]]:
        sizes = [item.source.size for item in items]
        small = [item for item, size in zip(items, sizes, strict=True) if size is not None and size <= LARGE]
        urls: dict[int, UploadUrl] = {}
        if small:
            largest = max(item.source.size or 0 for item in small)
            signed = self._sign([item.path for item in small], largest, small[0].content_type)
            urls = {id(item): url for item, url in zip(small, signed, strict=True)}
        return [partial(self._one, item, urls.get(id(item))) for item in items]

    def _sign(self, paths: list[str], size: int, content_type: str) -> tuple[UploadUrl, ...]:
        _refuse_huge(size)
        return self._target.transport.call(
            workspaces.upload_urls(
                self._target.repository, self._target.ref, paths, size=size, content_type=content_type
            )
        )

    def _one(self, item: Outgoing, url: UploadUrl | None) -> ObjectInfo:
        source = item.source
        with SpooledTemporaryFile(_SPOOLED) as file:
            if source.size is None or source.is_async or not source.rereadable:
                rest = stream(source.chunks(), lambda _: None)
                if not _filled(file, rest, LARGE):
                    chunks = _chained(file, rest)
                    if (stored := self._in_parts(item, chunks, source.size)) is not None:
                        return stored
                    file.seek(0, 2)
                    _filled(file, rest, None)
                file.seek(0)
                source = source_of(file)
            elif source.size > LARGE:
                chunks = stream(source.chunks(), lambda _: None)
                if (stored := self._in_parts(item, chunks, source.size)) is not None:
                    return stored
            return self._whole(item, source, url)

    def _in_parts(self, item: Outgoing, chunks: Iterator[bytes], size: int | None) -> ObjectInfo | None:
        """None where the server signs no parts; then no chunk has been taken."""
        with self._large:
            if not self._parts:
                return None
            upload = PartsUpload(self._target, item.path, item.content_type, item.progress)
            try:
                upload.begin()
            except UnsupportedOperationError:
                self._parts = False
                return None
            return item.stored(*upload.run(Pieces(chunks, part_size(size))))

    def _whole(self, item: Outgoing, source: Source, url: UploadUrl | None) -> ObjectInfo:
        meter = Meter()
        for _ in stream(source.chunks(), meter):
            pass
        _refuse_huge(meter.size)
        signed = _Signed(url, lambda: self._sign([item.path], meter.size, item.content_type))
        subject: Call[None] = Call(
            "upload",
            "PUT",
            "",
            calls.nothing,
            repeat="safe",
            subject=Subject(*self._workspace, item.path),
        )
        for _ in range(_TRIES):
            body = ObjectBody(source, item.progress)
            try:
                target = signed.take()
                self._target.transport.outside.put(target, body, meter.checksum, subject)
                return item.stored(target.physical_address, meter.checksum, meter.size)
            except Expired as refused:
                body.meter.undo()
                signed.renew(refused.error)
            except Taken:  # the first answer was lost, most likely; what came of it is nothing until it is registered
                body.meter.undo()
                signed.forget()
        raise ServerUnavailableError(
            f"the object store says that an object exists at each of {_TRIES} new addresses for {subject.subject}; "
            "try again, or use data_path='proxied'",
            path=item.path,
        )


def _refuse_huge(size: int) -> None:
    if size > LARGEST_SIGNED:
        raise InvalidRequestError(
            f"an object of {size} bytes is too large for one signed address (at most 5 GiB), and this server signs no "
            "parts: use data_path='direct' with credentials of your own, or data_path='proxied'"
        )


class _Signed:
    """The address of one object: signed when it is needed, again when it is too old, and once when it is refused."""

    def __init__(self, url: UploadUrl | None, sign: Callable[[], Any]) -> None:
        self._url = url
        self._sign = sign
        self._renewed = False

    def take(self) -> UploadUrl:
        """An address that is valid for a while."""
        if self._url is None or self._url.expires - datetime.now(UTC) < _FRESH:
            (self._url,) = self._sign()
        return self._url

    def renew(self, error: LakebedError) -> None:
        """The store refused it. Raises `error` when it refused the one before as well."""
        if self._renewed:
            raise error
        self._renewed = True
        self.forget()

    def forget(self) -> None:
        """Take another one the next time."""
        self._url = None


def _filled(file: Any, chunks: Iterator[bytes], most: int | None) -> bool:
    """Append content to a file until it is longer than `most`. Whether it has all of it."""
    size = 0
    for chunk in chunks:
        run_in_thread(file.write, chunk)
        size += len(chunk)
        if most is not None and size > most:
            return False
    return True


def _chained(file: Any, rest: Iterator[bytes]) -> Iterator[bytes]:
    """What a file has, from its beginning, then the rest."""
    file.seek(0)
    while chunk := run_in_thread(file.read, CHUNK):
        yield chunk
    for chunk in rest:
        yield chunk
