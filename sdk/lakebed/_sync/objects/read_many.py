# Generated from sdk/lakebed/_async/objects/read_many.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Many small objects of one ref in one response. A stream that breaks off goes on with the objects that are missing.

`save_archive` writes a folder of a commit as one archive. The server makes it, and breaks off when it cannot read an
object.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from lakebed import _checks
from lakebed._bulk.batches import SMALL, failure, of_one_file, partial_failure
from lakebed._bulk.progress import JOBS
from lakebed._compat.sync import gather, run_in_thread, sleep
from lakebed._files import appearing
from lakebed._gateway.operations import objects
from lakebed._http.object_frames import ObjectFrames, ObjectRead
from lakebed._http.retry import Failed, unreachable
from lakebed._sync.http.target import Target
from lakebed._sync.objects.interfaces import ObjectReader
from lakebed.errors import InvalidRequestError, LakebedError, ObjectFailure, ProtocolError, UnsupportedOperationError
from lakebed.model import ObjectInfo

_MOST = 5_000
"""Paths of one request. The server takes 10,000, and a body of 10 MiB."""

_ALONE = 64
"""Objects that are read before they are returned, from a server without batches."""

OnError = Callable[[str, LakebedError], None] | None


class Wanted:
    """The objects that have not arrived yet: paths, or all with a prefix."""

    def __init__(self, paths: Sequence[str] | None, prefix: str = "") -> None:
        self._paths = paths
        self._arrived = 0
        self._prefix = prefix
        self._after = ""
        self.is_complete = paths is not None and not paths

    def body(self) -> dict[str, Any]:
        """The request for the next of them."""
        size = {"max_object_size": SMALL}
        if self._paths is not None:
            return {"paths": self._paths[self._arrived : self._arrived + _MOST], **size}
        after = {"after": self._after} if self._after else {}
        return {"prefix": self._prefix, **after, **size}

    def arrived(self, path: str) -> None:
        """Note the next object. Raises ProtocolError when it is not the next one."""
        if self._paths is None:
            self._after = path
            return
        if self.is_complete or path != self._paths[self._arrived]:
            raise ProtocolError(f"the server sent {path!r}, which is not the next object of the request")
        self._arrived += 1
        self.is_complete = self._arrived == len(self._paths)

    def ended(self, has_more: bool) -> None:
        """Note the end of a response."""
        if self._paths is None:
            self.is_complete = not has_more


def read_batches(target: Target, wanted: Wanted) -> Iterator[ObjectRead]:
    """Objects of up to 1 MiB with their data, and larger ones without, in the order of the server.

    Raises UnsupportedOperationError when the server has no batches, and errors that are not about one object.
    """
    failures = 0
    policy = target.transport.policy
    while not wanted.is_complete:
        call = objects.read_many(target.repository, target.ref, wanted.body())
        frames = ObjectFrames(call)
        try:
            with target.transport.stream(call) as (_, chunks):
                for chunk in chunks:
                    for read in frames.feed(chunk):
                        wanted.arrived(read.path)
                        failures = 0
                        yield read
            if frames.has_more is None:
                raise Failed(unreachable(call, f"the response to {call.action!r} ended early; try again"), again=True)
            wanted.ended(frames.has_more)
        except Failed as failed:
            failures += 1
            if failures >= policy.attempts:
                raise failed.error from None
            sleep(min(policy.base * failures, policy.cap))


def read_many(
    ref: ObjectReader, paths: Iterable[str] | None, prefix: str | None, on_error: OnError
) -> Iterator[tuple[str, bytes]]:
    """Paths and contents, in order. Raises PartialFailureError at the end, unless `on_error` takes the errors."""
    if (paths is None) == (prefix is None):
        raise InvalidRequestError("give either paths or prefix")
    if prefix is not None:
        _checks.check_text(prefix, "prefix")
    several = None if paths is None else list(dict.fromkeys(map(_checks.check_path, paths)))
    failures: list[ObjectFailure] = []
    count = 0
    for found in _reads(ref, several, prefix or ""):
        count += 1
        read = _alone(ref, found.path) if found.alone else found
        if read.error is None:
            yield read.path, read.data
        elif on_error is not None:
            on_error(read.path, read.error)
        else:
            failures.append(failure(read.path, read.error))
    if failures:
        raise partial_failure(f"of {ref._target.ref} could not be read", failures, count)


def _reads(ref: ObjectReader, paths: Sequence[str] | None, prefix: str) -> Iterator[ObjectRead]:
    """All objects by batches, or one by one from a server without them."""
    try:
        for read in read_batches(ref._target, Wanted(paths, prefix)):
            yield read
        return
    except UnsupportedOperationError:
        pass
    if paths is None:
        paths = [one.path for one in ref.list(prefix) if isinstance(one, ObjectInfo)]
    for start in range(0, len(paths), _ALONE):
        group = paths[start : start + _ALONE]
        for read in gather([partial(_alone, ref, path) for path in group], JOBS):
            yield read


def _alone(ref: ObjectReader, path: str) -> ObjectRead:
    """One object by a request of its own. Raises errors that are not about this object."""
    source = ref._download(path, 0, None)
    try:
        data = source.read()
    except LakebedError as error:
        if not of_one_file(error):
            raise
        return ObjectRead(path, error=error)
    return ObjectRead(path, source.info, data)


def save_archive(target: Target, prefix: str, format: str, to: str | os.PathLike[str] | IO[bytes]) -> int:
    """Write the archive to a path, which appears when it is complete, or into a file. Returns its size in bytes."""
    if hasattr(to, "write"):
        return _write(target, prefix, format, to)
    final = Path(to)
    if run_in_thread(final.is_dir):  # raise before the transfer begins
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(final))
    with appearing(final) as file:
        return _write(target, prefix, format, file)


def _write(target: Target, prefix: str, format: str, file: Any) -> int:
    written = 0
    try:
        with target.transport.stream(objects.archive(target.repository, target.ref, prefix, format)) as opened:
            for chunk in opened[1]:
                run_in_thread(file.write, chunk)
                written += len(chunk)
    except Failed as failure:  # an archive cannot continue in the middle
        raise failure.error from None
    return written
