# Generated from sdk/lakebed/_async/objects/upload.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The data plane: objects to files, and object bytes up, in chunks, with the checksum compared at the end."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from lakebed import _checks
from lakebed._compat.sync import run_in_thread
from lakebed._gateway.operations import objects
from lakebed._http.batch import MAX_PARTS, Batch, Part
from lakebed._http.retry import about
from lakebed._process.disk_full import is_full
from lakebed._sync.http.bodies import BatchBody, ObjectBody
from lakebed._sync.http.transport import Transport
from lakebed._sync.objects.download import Download
from lakebed._values.upload_source import CHUNK, Meter, source_of
from lakebed._values.wire import Call
from lakebed.errors import (
    CorruptTransferError,
    InvalidRequestError,
    ObjectExistsError,
    PreconditionFailedError,
)
from lakebed.model import ObjectInfo

OCTETS = "application/octet-stream"
_MD5 = re.compile(r"[0-9a-f]{32}")
_TOKEN = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_TEXT = re.compile(r"[^\x00-\x1f\x7f]*")

Progress = Callable[[int], None] | None


def download(source: Download, target: str | os.PathLike[str] | IO[bytes], progress: Progress) -> ObjectInfo:
    """Write a download to a file, or to a path at which it appears only when it is complete."""
    if hasattr(target, "write"):
        return _write(source, target, progress)
    final = Path(target)
    if run_in_thread(final.is_dir):  # said before the bytes travel
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(final))
    partial = final.with_name(f".{final.name[:100]}.{uuid4().hex}.part")
    try:
        with _begun(partial, final) as file:
            info = _write(source, file, progress)
        os.replace(partial, final)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink()
        if is_full(error):
            raise OSError(error.errno, error.strerror, str(final)) from error  # a write does not say which file it was
        raise
    return info


def _begun(partial: Path, final: Path) -> IO[bytes]:
    try:
        return partial.open("xb")
    except OSError as error:  # told of the name that was given, not of ours
        raise OSError(error.errno, error.strerror, str(final)) from None


def _write(source: Download, file: Any, progress: Progress) -> ObjectInfo:
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
        raise InvalidRequestError("nothing was asked for")
    return source.info


def upload(
    transport: Transport,
    repository: str,
    branch: str,
    path: str,
    data: Any,
    *,
    metadata: Mapping[str, str] | None = None,
    content_type: str | None = None,
    if_absent: bool = False,
    if_match: str | None = None,
    progress: Progress = None,
) -> ObjectInfo:
    """Write one object and compare checksums."""
    call = objects.upload(
        repository,
        branch,
        _checks.check_path(path),
        content_type=checked_type(content_type),
        metadata=checked_metadata(metadata),
        if_absent=if_absent,
        if_match=if_match,
    )
    body = ObjectBody(run_in_thread(source_of, data), progress)
    try:
        stored = transport.call(call, body)
    except PreconditionFailedError as error:
        if not if_absent:
            raise
        raise ObjectExistsError(
            f"{call.subject} exists already and was not replaced; leave that condition out to replace it",
            status=error.status,
            request_id=error.request_id,
            **about(call),
        ) from None
    compare(call, stored, body.meter)
    return stored


def upload_many(
    transport: Transport,
    repository: str,
    branch: str,
    items: Iterable[tuple[str, Any, str | None]],
    deletions: Iterable[str],
    progress: Progress = None,
) -> list[ObjectInfo]:
    """Write and delete several objects, all or nothing, and compare checksums."""
    batch = new_batch(items, deletions, advice="write fewer files, or in several batches")
    if not batch.parts and not batch.deletions:
        return []
    body = BatchBody(batch, progress)
    call = objects.upload_many(repository, branch, batch.boundary)
    stored = transport.call(call, body)
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
            f"{call.subject} answered {len(stored)} objects for {len(body.meters)} that were sent", **about(call)
        )
    for info, meter in zip(stored, body.meters, strict=True):
        compare(call, info, meter)


def compare(call: Call[Any], stored: ObjectInfo, meter: Meter) -> None:
    """Raises CorruptTransferError when something else is stored than what the meter has seen."""
    if _MD5.fullmatch(stored.checksum) and stored.checksum == meter.checksum:
        return
    if not _MD5.fullmatch(stored.checksum) and stored.size == meter.size:
        return  # a server with checksums of another kind
    raise CorruptTransferError(
        f"{call.subject}: the server stored {stored.path!r} with {stored.size} bytes and checksum {stored.checksum}, "
        f"but {meter.size} bytes with MD5 {meter.checksum} were sent; upload it again",
        **about(call),
    )


def checked_type(content_type: str | None) -> str:
    """A content type that can stand in a header."""
    if content_type is None:
        return OCTETS
    if not content_type or not content_type.isascii() or not content_type.isprintable():
        raise InvalidRequestError(f"not a content type: {content_type!r}")
    if content_type.lower().startswith("multipart/form-data"):
        raise InvalidRequestError("an object cannot have the content type multipart/form-data: it marks a form")
    return content_type


def checked_metadata(metadata: Mapping[str, str] | None) -> dict[str, str]:
    """Metadata travels in headers: names in lower case, values on one line without outer spaces."""
    checked = _checks.check_metadata(dict(metadata or {}), "object")
    for key, value in checked.items():
        if not _TOKEN.fullmatch(key):
            raise InvalidRequestError(
                f"object metadata key {key!r}: use lower-case ASCII letters, digits, `-`, `_` and `.`"
            )
        if not _HEADER_TEXT.fullmatch(value) or value != value.strip():
            raise InvalidRequestError(
                f"the object metadata value of {key!r} must be one line without spaces around it: {value!r}"
            )
    return checked
