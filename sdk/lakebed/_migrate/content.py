"""Writes objects of the source to a branch, and checks that what is stored is what the source has.

It works in several threads, with a bounded number of items in memory.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from lakebed._bulk.hash_cache import is_md5
from lakebed._migrate.values import Report, SourceObject
from lakebed.errors import CorruptTransferError, LakebedError, NotFoundError, ObjectGoneError, ServerError

if TYPE_CHECKING:
    from lakebed import Branch, ObjectInfo
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

SMALL = 1 << 20
"""Objects up to this size travel in groups, unless they have metadata."""

GROUP_OBJECTS = 200
GROUP_BYTES = 8 << 20
ATTEMPTS = 4
"""Attempts for each object or group: a broken connection must not end a migration of days."""


class Shared(Protocol):
    """Finds content that was migrated before."""

    def find(self, identity: str) -> tuple[str, str] | None:
        """The commit and the path of an object with this identity."""
        ...


class ObjectCopier:
    """Copies objects with `jobs` threads.

    With `skip_missing`, an object that the source no longer has is reported as left out. Otherwise the copy fails.
    """

    def __init__(
        self,
        report: Report,
        shared: Shared,
        *,
        jobs: int,
        skip_missing: bool,
        moved: Callable[[int], None] = lambda _: None,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self._report = report
        self._shared = shared
        self._jobs = jobs
        self._skip_missing = skip_missing
        self._moved = moved
        self._sleep = sleep or time.sleep

    def put(self, branch: Branch, objects: Iterable[SourceObject], staged: Container[str] = ()) -> list[SourceObject]:
        """Write objects to a branch. `staged`: paths that an interrupted run may have written. Returns what is there.

        Raises CorruptTransferError, ServerError, and ObjectGoneError for an object that the source no longer has.
        """
        done: list[SourceObject] = []

        def work(group: list[SourceObject]) -> list[SourceObject]:
            return self._put_group(branch, group, staged)

        for group in in_order(self._jobs, _groups(objects), work):
            done += group
        return done

    def _put_group(self, branch: Branch, group: list[SourceObject], staged: Container[str]) -> list[SourceObject]:
        left = [one for one in group if not (one.path in staged and _is_there(branch, one))]
        left = [one for one in left if not self._put_shared(branch, one)]
        gone: set[str] = set()
        if len(left) > 1:
            gone = self._retried(lambda: self._put_together(branch, left))
        elif left:
            gone = self._retried(lambda: self._put_one(branch, left[0]))
        return [one for one in group if one.path not in gone]

    def _put_shared(self, branch: Branch, one: SourceObject) -> bool:
        place = self._shared.find(one.identity) if one.identity else None
        if place is None:
            return False
        try:
            info = branch.copy(place[1], one.path, place[0])
        except NotFoundError:
            return False  # the commit has been removed since
        if one.size is not None and info.size != one.size:
            return False
        self._report.shared += 1
        return True

    def _put_one(self, branch: Branch, one: SourceObject) -> set[str]:
        meter = _Moved(self._moved)
        try:
            # a generator that breaks off must not be taken for the end of the content: the error passes through `put`
            chunks = meter.follow(one.open())
            info = branch.put(one.path, chunks, metadata=one.metadata or None, content_type=one.content_type)
        except ObjectGoneError as error:
            return self._gone(branch, one, error)
        except BaseException:
            meter.undo()
            raise
        self._check(one, info)
        return set()

    def _put_together(self, branch: Branch, group: list[SourceObject]) -> set[str]:
        content: list[tuple[SourceObject, bytes]] = []
        gone: set[str] = set()
        for one in group:
            try:
                content.append((one, b"".join(one.open())))
            except ObjectGoneError as error:
                gone |= self._gone(branch, one, error)
        stored = branch._write_many([(one.path, data, one.content_type) for one, data in content], ())
        for (one, data), info in zip(content, stored, strict=True):
            self._check(one, info)
            self._moved(len(data))
        return gone

    def _gone(self, branch: Branch, one: SourceObject, error: LakebedError) -> set[str]:
        if not self._skip_missing:
            raise error
        branch.delete(one.path)  # what an earlier commit or an interrupted run has there is not this object
        self._report.leave_out("object", one.path, error.message)
        return {one.path}

    def _check(self, one: SourceObject, info: ObjectInfo) -> None:
        if one.size is not None and info.size != one.size:
            raise CorruptTransferError(
                f"object {one.path!r} has {info.size} bytes, but the source reports {one.size}; run the command again"
            )
        if info.checksum != one.checksum:
            if one.strict and is_md5(one.checksum):
                raise CorruptTransferError(
                    f"the content of object {one.path!r} has the MD5 {info.checksum}, but the source reports "
                    f"{one.checksum}: the source is damaged, or it changed while it was read"
                )
            self._read_again(one, info)
        self._report.objects += 1
        self._report.bytes += info.size

    def _read_again(self, one: SourceObject, info: ObjectInfo) -> None:
        """The source states no usable MD5, so a second read of the content is compared."""
        digest = hashlib.md5(usedforsecurity=False)
        for chunk in one.open():
            digest.update(chunk)
        if digest.hexdigest() != info.checksum:
            raise CorruptTransferError(f"two reads of object {one.path!r} differ; run the command again")
        self._report.read_twice += 1

    def _retried(self, work: Callable[[], set[str]]) -> set[str]:
        for attempt in range(1, ATTEMPTS):
            try:
                return work()
            except (CorruptTransferError, ServerError):
                self._sleep(2.0 ** (attempt - 1))
        return work()


class _Moved:
    """Counts what passes, and takes it back when the attempt failed."""

    def __init__(self, moved: Callable[[int], None]) -> None:
        self._moved = moved
        self._bytes = 0

    def follow(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._bytes += len(chunk)
            self._moved(len(chunk))
            yield chunk

    def undo(self) -> None:
        self._moved(-self._bytes)


def _groups(objects: Iterable[SourceObject]) -> Iterator[list[SourceObject]]:
    group: list[SourceObject] = []
    size = 0
    for one in objects:
        if one.size is None or one.size > SMALL or one.metadata:
            yield [one]
            continue
        group.append(one)
        size += one.size
        if len(group) >= GROUP_OBJECTS or size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _is_there(branch: Branch, one: SourceObject) -> bool:
    """Whether an interrupted run has stored exactly this object."""
    if not is_md5(one.checksum):
        return False
    try:
        info = branch.stat(one.path)
    except NotFoundError:
        return False
    return (info.checksum, info.size) == (one.checksum, one.size) and dict(info.metadata) == dict(one.metadata)


T = TypeVar("T")
R = TypeVar("R")


def in_order(jobs: int, items: Iterable[T], work: Callable[[T], R]) -> Iterator[R]:
    """The results of `work`, in the order of the items. At most `2 * jobs` items are begun ahead of the reader.

    Raises what `work` raises. Then no further item is begun.
    """
    with ThreadPoolExecutor(jobs) as pool:
        running: deque[Future[R]] = deque()
        try:
            for item in items:
                running.append(pool.submit(work, item))
                if len(running) >= 2 * jobs:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for one in running:
                one.cancel()
