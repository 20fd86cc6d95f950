# Generated from sdk/lakebed/_async/objects/sinks.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""How bytes get into the store: straight into it (`direct`), to signed addresses (`signed`), or through the server.

A sink stores a batch of objects, durably, and returns their addresses. Nothing shows them before they are registered.
`proxied` has no sink: the server's own uploads store and register in one.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, Protocol, TypeVar

from lakebed._compat.sync import gather, run_in_thread, stream
from lakebed._direct.cloud import Bucket
from lakebed._direct.directory import Directory, Written, check_room
from lakebed._sync.http.target import Target
from lakebed._sync.objects.presigned import SignedSink
from lakebed._sync.objects.upload_item import Outgoing, outgoing
from lakebed._values.signed import DIRECT, PRESIGNED, PROXIED, wanted_path
from lakebed._values.upload_source import Source, source_of
from lakebed.errors import StoreFullError, UnsupportedOperationError
from lakebed.model import ObjectInfo, WorkspaceInfo

__all__ = [
    "DIRECT", "PRESIGNED", "PROXIED", "CloudSink", "LocalSink", "Outgoing", "SignedSink", "Sink",
    "choose", "folder_for", "is_cloud", "open_sink", "outgoing", "sees", "windows",
]  # fmt: skip

T = TypeVar("T")

AT_ONCE = 8
"""Objects of a batch that travel at the same time."""

_SPOOLED = 32 << 20
_GROUP = 50
"""Small objects that are written in one hop to a thread."""

_SMALL = 1 << 20


class Sink(Protocol):
    """A way into the store."""

    def store(self, batch: Sequence[Outgoing]) -> list[ObjectInfo]:
        """Write objects, durably. Gives them in the same order. After an error nothing of it is registered."""
        ...


def choose(info: WorkspaceInfo, asked: str | None) -> str:
    """The best way that the server offers and this machine can go; or the one asked for, here or in the environment.

    `direct` into a cloud store is only taken when it is asked for: only the caller knows whether the
    credentials of this machine are meant for that bucket. Raises ConfigurationError and UnsupportedOperationError.
    """
    wanted = wanted_path(asked)
    if wanted is not None:
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
    """Whether the workspace is in a bucket."""
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
    """Groups of at most `size` items."""
    source = iter(items)
    while window := list(islice(source, size)):
        yield window


def open_sink(name: str, info: WorkspaceInfo, target: Target) -> Sink | None:
    """The sink of a data path; None for `proxied`."""
    if name == DIRECT:
        return CloudSink(info.storage_prefix) if is_cloud(info) else LocalSink(info, target.repository)
    return SignedSink(target.at(info.id)) if name == PRESIGNED else None


class LocalSink:
    """Into a directory that this machine shares with the server."""

    def __init__(self, info: WorkspaceInfo, repository: str) -> None:
        self._repository, self._ref = repository, info.name
        self._prefix = info.storage_prefix
        self._path = info.local_path
        self._folder = Directory(Path(info.local_path))
        weakref.finalize(self, self._folder.close)

    def store(self, batch: Sequence[Outgoing]) -> list[ObjectInfo]:
        """Write temporary files, several at a time, then sync them together and give them their names."""
        done: dict[int, Written] = {}
        try:
            gather([partial(self._group, batch, group, done) for group in _groups(batch)], AT_ONCE)
            written = [done[index] for index in range(len(batch))]
            run_in_thread(self._folder.publish, written)
        except BaseException as error:
            self._folder.discard(list(done.values()))
            if isinstance(error, OSError):
                self._raise_full(error)
            raise
        return [
            item.stored(self._prefix + one.key, one.checksum, one.size)
            for item, one in zip(batch, written, strict=True)
        ]

    def _raise_full(self, error: OSError) -> None:
        """Raises StoreFullError, which names the workspace, for a disk that is full."""
        try:
            check_room(error, self._path)
        except StoreFullError as full:
            error = full
        if isinstance(error, StoreFullError):
            error.message = f"lakebed://{self._repository}/{self._ref}: {error.message}"
            error.repository, error.ref = self._repository, self._ref
            raise error

    def _group(self, batch: Sequence[Outgoing], group: list[int], done: dict[int, Written]) -> None:
        first = batch[group[0]]
        if first.source.is_async:
            with self._folder.begin(first.path) as writing:
                for chunk in stream(first.source.chunks(), lambda _: None):
                    run_in_thread(writing.feed, chunk)
                    first.moved(len(chunk))
            done[group[0]] = writing.written()
            return
        run_in_thread(self._write, [(index, batch[index]) for index in group], done)

    def _write(self, items: list[tuple[int, Outgoing]], done: dict[int, Written]) -> None:
        for index, item in items:
            written = None if item.given is None else self._folder.adopt(item.path, item.given, item.moved)
            chunks: Any = item.source.chunks() if written is None else ()
            done[index] = written or self._folder.write(item.path, chunks, item.moved)


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

    def store(self, batch: Sequence[Outgoing]) -> list[ObjectInfo]:
        """Write each object, in parts where it is large."""
        bucket = run_in_thread(self._open)
        return gather([partial(self._one, bucket, item) for item in batch], AT_ONCE)

    def _one(self, bucket: Bucket, item: Outgoing) -> ObjectInfo:
        with SpooledTemporaryFile(_SPOOLED) as file:
            source = _readable(item.source, file) if item.source.is_async else item.source
            attributes = {"Content-Type": item.content_type, **_plain_metadata(item.metadata)}
            chunks: Any = source.chunks()
            write = partial(bucket.write, item.path, chunks, source.size, attributes, item.moved)
            key, checksum, size = run_in_thread(write)
        return item.stored(self._prefix + key, checksum, size)


def _plain_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """The metadata that a store can keep with an object; Lakebed keeps all of it."""
    return {key: value for key, value in metadata.items() if re.fullmatch(r"[a-z0-9-]+", key) and value.isascii()}


def _readable(source: Source, file: Any) -> Source:
    """The content of a source that can be read once, kept in a temporary file."""
    for chunk in stream(source.chunks(), lambda _: None):
        run_in_thread(file.write, chunk)
    file.seek(0)
    return source_of(file)
