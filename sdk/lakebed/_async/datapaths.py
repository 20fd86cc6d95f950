"""How bytes get into the store: straight into it (`direct`), through signed addresses, or through the server.

Over the transport and the blocking writers, under the workspace handle. A sink stores a batch of objects, durably, and
tells where each one is; nothing shows them before they are registered. `proxied` has no sink: the server's own uploads
store and register in one.
"""

from __future__ import annotations

import os
import re
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, Protocol, TypeVar
from urllib.parse import quote
from uuid import uuid4

from lakebed import _checks
from lakebed._async.bodies import ObjectBody
from lakebed._async.outside import Expired, Outside, Taken
from lakebed._async.transfer import Progress, checked_type
from lakebed._async.transport import Transport
from lakebed._bulk.directory import Directory, Written
from lakebed._cloud import Bucket
from lakebed._compat.aio import gather, run_in_thread, stream
from lakebed._gateway import answers, workspaces
from lakebed._source import Meter, Source, source_of
from lakebed._wire import Call, Subject
from lakebed.errors import ConfigurationError, InvalidRequestError, LakebedError, UnsupportedOperationError
from lakebed.model import ObjectInfo, UploadUrl, WorkspaceInfo

T = TypeVar("T")

DIRECT, PRESIGNED, PROXIED = "direct", "presigned", "proxied"
DATA_PATHS = (DIRECT, PRESIGNED, PROXIED)
VARIABLE = "LAKEBED_DATA_PATH"

LARGEST_SIGNED = 5 << 30
"""What one PUT can take; the server signs no parts."""

AT_ONCE = 8
"""Objects of a batch that travel at the same time."""

_SPOOLED = 32 << 20
_GROUP = 50
"""Small objects that are written in one hop to a thread."""

_SMALL = 1 << 20
_FRESH = timedelta(seconds=30)
"""An address that ends sooner than this is not begun with."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One object on its way."""

    path: str
    source: Source
    content_type: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = None

    def stored(self, address: str, checksum: str, size: int) -> ObjectInfo:
        """What it has become."""
        now = datetime.fromtimestamp(int(time.time()), UTC)
        return ObjectInfo(self.path, size, checksum, now, self.content_type, dict(self.metadata), address)

    def moved(self, amount: int) -> None:
        """Tell how many bytes went."""
        if self.progress is not None:
            self.progress(amount)


def outgoing(
    path: str,
    data: Any,
    content_type: str | None = None,
    metadata: Mapping[str, str] | None = None,
    progress: Progress = None,
) -> Outgoing:
    """Check what was given. Raises InvalidRequestError."""
    checked = _checks.check_metadata(dict(metadata or {}), "object")
    return Outgoing(_checks.check_path(path), source_of(data), checked_type(content_type), checked, progress)


class Sink(Protocol):
    """A way into the store."""

    async def store(self, batch: Sequence[Outgoing]) -> list[ObjectInfo]:
        """Write objects, durably. Gives them in the same order. After an error nothing of it is registered."""
        ...


def choose(info: WorkspaceInfo, asked: str | None) -> str:
    """The best way that the server offers and this machine can go; or the one asked for, here or in the environment.

    `direct` into a cloud store is only taken when it is asked for: nobody but the caller knows whether the
    credentials of this machine are meant for that bucket. Raises ConfigurationError and UnsupportedOperationError.
    """
    wanted = asked or os.environ.get(VARIABLE, "").strip() or None
    if wanted is not None:
        if wanted not in DATA_PATHS:
            where = "data_path" if asked else VARIABLE
            raise ConfigurationError(f"{where} must be 'direct', 'presigned' or 'proxied', not {wanted!r}")
        if wanted != PROXIED and wanted not in info.data_paths:
            offered = ", ".join(info.data_paths) or "nothing else"
            raise UnsupportedOperationError(
                f"the server does not offer the data path {wanted!r} here; it has {offered}"
            )
        if wanted == DIRECT and not is_cloud(info) and not sees(info):
            raise UnsupportedOperationError(
                f"the directory of {info.storage_prefix} is not on this machine: leave data_path out"
            )
        return wanted
    if DIRECT in info.data_paths and sees(info):
        return DIRECT
    return PRESIGNED if PRESIGNED in info.data_paths else PROXIED


def is_cloud(info: WorkspaceInfo) -> bool:
    """Whether the workspace lies in a bucket."""
    return info.storage_prefix.partition("://")[0] in ("s3", "gs", "az")


def sees(info: WorkspaceInfo) -> bool:
    """Whether this machine has the directory that the server writes to: it must show the base commit.

    A copy of it would show that too; then the server does not find what is registered, and refuses it.
    """
    if not info.local_path:
        return False
    root = Path(info.local_path).parent.parent
    return (root / "_lakebed" / "commits" / f"{info.base_commit_id}.json").is_file() and os.access(root, os.W_OK)


def folder_for(info: WorkspaceInfo, path: str) -> str:
    """The file path of an object in a shared directory, whose folder is made so that any tool can write there."""
    place = os.path.join(info.local_path, path)
    os.makedirs(place if place.endswith("/") else os.path.dirname(place), exist_ok=True)
    return place


def windows(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Groups of so many."""
    source = iter(items)
    while window := list(islice(source, size)):
        yield window


def open_sink(name: str, info: WorkspaceInfo, transport: Transport, repository: str, outside: Outside) -> Sink | None:
    """The sink of a data path; None for `proxied`."""
    if name == DIRECT:
        return CloudSink(info.storage_prefix) if is_cloud(info) else LocalSink(info)
    return SignedSink(transport, repository, info, outside) if name == PRESIGNED else None


class LocalSink:
    """Into a directory that this machine shares with the server."""

    def __init__(self, info: WorkspaceInfo) -> None:
        self._prefix = info.storage_prefix
        self._folder = Directory(Path(info.local_path))
        weakref.finalize(self, self._folder.close)

    async def store(self, batch: Sequence[Outgoing]) -> list[ObjectInfo]:
        """Write temporary files, several at once, then sync them together and give them their names."""
        done: dict[int, Written] = {}
        try:
            await gather([partial(self._group, batch, group, done) for group in _groups(batch)], AT_ONCE)
            written = [done[index] for index in range(len(batch))]
            await run_in_thread(self._folder.publish, written)
        except BaseException:
            self._folder.discard(list(done.values()))
            raise
        return [
            item.stored(self._prefix + one.key, one.checksum, one.size)
            for item, one in zip(batch, written, strict=True)
        ]

    async def _group(self, batch: Sequence[Outgoing], group: list[int], done: dict[int, Written]) -> None:
        first = batch[group[0]]
        if first.source.is_async:
            with self._folder.begin(first.path) as writing:
                async for chunk in stream(first.source.chunks(), lambda _: None):
                    await run_in_thread(writing.feed, chunk)
                    first.moved(len(chunk))
            done[group[0]] = writing.written()
            return
        await run_in_thread(self._write, [(index, batch[index]) for index in group], done)

    def _write(self, items: list[tuple[int, Outgoing]], done: dict[int, Written]) -> None:
        for index, item in items:
            chunks: Any = item.source.chunks()
            done[index] = self._folder.write(item.path, chunks, item.moved)


def _groups(batch: Sequence[Outgoing]) -> list[list[int]]:
    """Small objects travel together, others alone."""
    groups: list[list[int]] = []
    small: list[int] = []
    for index, item in enumerate(batch):
        if item.source.size is None or item.source.size > _SMALL or item.source.is_async:
            groups.append([index])
        else:
            small.append(index)
    return groups + [small[start : start + _GROUP] for start in range(0, len(small), _GROUP)]


class CloudSink:
    """Into a bucket, with the credentials of this machine."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._bucket: Bucket | None = None
        self._process = 0

    def _open(self) -> Bucket:
        if self._bucket is None or self._process != os.getpid():  # its connections must not cross a fork
            self._bucket, self._process = Bucket(self._prefix), os.getpid()
        return self._bucket

    async def store(self, batch: Sequence[Outgoing]) -> list[ObjectInfo]:
        """Write each object, in parts where it is large."""
        bucket = await run_in_thread(self._open)
        return await gather([partial(self._one, bucket, item) for item in batch], AT_ONCE)

    async def _one(self, bucket: Bucket, item: Outgoing) -> ObjectInfo:
        with SpooledTemporaryFile(_SPOOLED) as file:
            source = await _readable(item.source, file) if item.source.is_async else item.source
            attributes = {"Content-Type": item.content_type, **_plain_metadata(item.metadata)}
            chunks: Any = source.chunks()
            write = partial(bucket.write, item.path, chunks, source.size, attributes, item.moved)
            key, checksum, size = await run_in_thread(write)
        return item.stored(self._prefix + key, checksum, size)


def _plain_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """What a store can keep beside an object; Lakebed keeps all of it anyway."""
    return {key: value for key, value in metadata.items() if re.fullmatch(r"[a-z0-9-]+", key) and value.isascii()}


class SignedSink:
    """Through addresses that the server signs, just before they are used."""

    def __init__(self, transport: Transport, repository: str, info: WorkspaceInfo, outside: Outside) -> None:
        self._transport = transport
        self._target = (repository, info.id)
        self._spelled = info.storage_prefix.startswith("az://")
        self._outside = outside

    async def store(self, batch: Sequence[Outgoing]) -> list[ObjectInfo]:
        """Sign for objects of one type together, then write them."""
        kinds: dict[str, list[int]] = {}
        for index, item in enumerate(batch):
            kinds.setdefault(item.content_type, []).append(index)
        stored: dict[int, ObjectInfo] = {}
        for kind, indexes in kinds.items():
            for start in range(0, len(indexes), 500):
                window = indexes[start : start + 500]
                items = [batch[index] for index in window]
                largest = max(item.source.size or 0 for item in items)
                urls = await self._sign([self._key(item.path) for item in items], largest, kind)
                jobs = [partial(self._one, item, url) for item, url in zip(items, urls, strict=True)]
                stored |= dict(zip(window, await gather(jobs, AT_ONCE), strict=True))
        return [stored[index] for index in range(len(batch))]

    def _key(self, path: str) -> str:
        """Azure refuses what is signed for a name that a URL spells in another way: such an object lies aside."""
        return _aside() if self._spelled and quote(path) != path else path

    async def _sign(self, paths: list[str], size: int, content_type: str) -> tuple[UploadUrl, ...]:
        _refuse_huge(size)
        return await self._transport.call(
            workspaces.upload_urls(*self._target, paths, size=size, content_type=content_type)
        )

    async def _one(self, item: Outgoing, url: UploadUrl) -> ObjectInfo:
        with SpooledTemporaryFile(_SPOOLED) as file:
            source = item.source
            if source.size is None or source.is_async or not source.rereadable:
                source = await _readable(source, file)
            meter = Meter()
            async for _ in stream(source.chunks(), meter):
                pass
            _refuse_huge(meter.size)
            signed = _Signed(url, lambda path: self._sign([path], meter.size, item.content_type))
            subject = Call(
                "upload", "PUT", "", answers.nothing, repeat="safe", subject=Subject(*self._target, item.path)
            )
            while True:
                body = ObjectBody(source, item.progress)
                try:
                    await self._outside.put(await signed.take(), body, meter.checksum, subject)
                    break
                except Expired as refused:
                    body.meter.undo()
                    signed.renew(refused.error)
                except Taken:
                    body.meter.undo()
                    signed.step_aside()
        return item.stored(signed.address, meter.checksum, meter.size)


def _refuse_huge(size: int) -> None:
    if size > LARGEST_SIGNED:
        raise InvalidRequestError(
            f"an object of {size} bytes is too large for one signed address (at most 5 GiB): use "
            "data_path='direct' with credentials of your own, or data_path='proxied'"
        )


def _aside() -> str:
    """A key below the prefix that nobody has."""
    return f"~/{uuid4().hex}"


class _Signed:
    """The address of one object: signed anew when it is too old, and once when the store refuses it."""

    def __init__(self, url: UploadUrl, sign: Callable[[str], Any]) -> None:
        self._url: UploadUrl | None = url
        self._sign = sign
        self._path = url.path
        self._renewed = False
        self.address = url.physical_address

    async def take(self) -> UploadUrl:
        """An address that is valid for a while."""
        if self._url is None or self._url.expires - datetime.now(UTC) < _FRESH:
            (self._url,) = await self._sign(self._path)
            self.address = self._url.physical_address
        return self._url

    def renew(self, error: LakebedError) -> None:
        """The store refused it. Raises `error` when it refused the one before as well."""
        if self._renewed:
            raise error
        self._url, self._renewed = None, True

    def step_aside(self) -> None:
        """Something is there: take a key that nobody has."""
        self._url, self._path = None, _aside()


async def _readable(source: Source, file: Any) -> Source:
    """The content of a source that can be read once, kept in a temporary file."""
    async for chunk in stream(source.chunks(), lambda _: None):
        await run_in_thread(file.write, chunk)
    file.seek(0)
    return source_of(file)
