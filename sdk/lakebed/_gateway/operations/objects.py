"""Calls about objects. The generated client has no byte streams: this module builds their requests by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import Any, TypeVar

from lakebed._gateway import calls, convert, table_pages
from lakebed._gateway.calls import call, clean, reads, segment
from lakebed._values.signed import StoreAddress
from lakebed._values.wire import Answer, Call, Subject
from lakebed.errors import ObjectFailure
from lakebed.model import Commit, CommonPrefix, ObjectInfo, ObjectWriter, Page, TablePage

T = TypeVar("T")

META_HEADER = "X-Lakefs-Meta-"
_FOUND = 302


def stat(repository: str, ref: str, path: str) -> Call[ObjectInfo]:
    """Describe an object."""
    from lakebed_api.api.objects import stat_object

    kwargs = stat_object._get_kwargs(repository, ref, path=path)
    return call("statObject", kwargs, calls.parser(_described_row), Subject(repository, ref, path))


def _described_row(row: Mapping[str, Any]) -> ObjectInfo:
    found = convert.listed(row)
    if not isinstance(found, ObjectInfo):
        raise ValueError("the row is not an object")
    return found


def signed(repository: str, ref: str, path: str) -> Call[str]:
    """Return a presigned URL to read the object for a limited time."""
    from lakebed_api.api.objects import stat_object
    from lakebed_api.models import ObjectStats

    kwargs = stat_object._get_kwargs(repository, ref, path=path, presign=True)
    parse = reads(ObjectStats.from_dict, lambda found: convert.text(found.physical_address))
    return call("statObject", kwargs, parse, Subject(repository, ref, path))


def list_page(
    repository: str, ref: str, *, prefix: str, delimiter: str, after: str, amount: int
) -> Call[Page[ObjectInfo | CommonPrefix]]:
    """One page of objects."""
    from lakebed_api.api.objects import list_objects

    kwargs = list_objects._get_kwargs(
        repository, ref, **clean(prefix=prefix, delimiter=delimiter, after=after, amount=amount)
    )
    parse = calls.parser(partial(convert.listing, convert_row=convert.listed, after=after))
    return call("listObjects", kwargs, parse, Subject(repository, ref))


def search_page(
    repository: str, ref: str, text: str, *, prefix: str, after: str, amount: int
) -> Call[Page[ObjectInfo | CommonPrefix]]:
    """One page of the objects whose path contains a text. It may be empty although more follow."""
    from lakebed_api.api.objects import search_objects

    def read(body: Mapping[str, Any]) -> Page[ObjectInfo | CommonPrefix]:
        following = convert.following(body["pagination"], after)
        return Page(tuple(map(convert.listed, body["results"])), following)

    kwargs = search_objects._get_kwargs(repository, ref, q=text, **clean(prefix=prefix, after=after, amount=amount))
    return call("searchObjects", kwargs, calls.parser(read), Subject(repository, ref))


def writers_page(repository: str, ref: str, *, prefix: str, after: str, amount: int) -> Call[Page[ObjectWriter]]:
    """One page of objects with the commits that wrote them."""
    from lakebed_api.api.objects import list_object_writers
    from lakebed_api.models import Commit as WireCommit

    def read(row: Mapping[str, Any]) -> ObjectWriter:
        commit = row.get("commit")
        return ObjectWriter(
            path=convert.text(row["path"]),
            size=convert.number(row["size_bytes"]),
            mtime=convert.moment(row["mtime"]),
            uncommitted=bool(row["uncommitted"]),
            commit=None if commit is None else convert.commit(WireCommit.from_dict(commit)),
        )

    kwargs = list_object_writers._get_kwargs(repository, ref, **clean(prefix=prefix, after=after, amount=amount))
    parse = calls.parser(lambda body: convert.listing(body, read, after))
    return call("listObjectWriters", kwargs, parse, Subject(repository, ref))


def table_page(repository: str, ref: str, path: str, format: str | None, **asked: object) -> Call[TablePage]:
    """Rows of a table. `asked`: the other parameters of the operation. The empty ones are left out."""
    from lakebed_api.api.objects import read_table

    kwargs = read_table._get_kwargs(repository, ref, path=path, **clean(**asked))
    kwargs["params"] |= clean(format=format)  # the server refuses unknown words
    return call("readTable", kwargs, calls.parser(table_pages.page), Subject(repository, ref, path))


def delete(repository: str, branch: str, path: str, if_match: str | None = None) -> Call[None]:
    """Delete an object. A missing object is not an error, so the call may be repeated, unless it has a condition."""
    from lakebed_api.api.objects import delete_object

    kwargs = delete_object._get_kwargs(repository, branch, path=path, **clean(if_match=if_match and _etag(if_match)))
    subject = Subject(repository, branch, path)
    if if_match is not None:
        return call("deleteObject", kwargs, calls.nothing, subject, success=204)
    return call("deleteObject", kwargs, calls.nothing, subject, success=204, repeat="safe")


def _etag(if_match: str) -> str:
    """A checksum as a condition of HTTP: `"9a03"`. `*` matches every object, and has no quotes."""
    return if_match if if_match == "*" else f'"{if_match}"'


def check_write(repository: str, branch: str, path: str) -> Call[None]:
    """Check that the caller may write an object at a path. Raises PermissionDeniedError."""
    from lakebed_api.api.objects import upload_object_preflight

    kwargs = upload_object_preflight._get_kwargs(repository, branch, path=path)
    return call("uploadObjectPreflight", kwargs, calls.nothing, Subject(repository, branch, path), success=204)


def delete_many(repository: str, branch: str, paths: Sequence[str]) -> Call[tuple[ObjectFailure, ...]]:
    """Delete up to 1,000 objects. Returns the objects that the server could not delete."""
    from lakebed_api.api.objects import delete_objects
    from lakebed_api.models import ObjectErrorList, PathList

    return call(
        "deleteObjects",
        delete_objects._get_kwargs(repository, branch, body=PathList(paths=list(paths))),
        reads(ObjectErrorList.from_dict, convert.failures),
        Subject(repository, branch),
        repeat="safe",
    )


def copy(repository: str, branch: str, path: str, source_ref: str, source_path: str) -> Call[ObjectInfo]:
    """Copy an object to a path of a branch. A repeat has no effect."""
    from lakebed_api.api.objects import copy_object
    from lakebed_api.models import ObjectCopyCreation, ObjectStats

    body = ObjectCopyCreation(src_path=source_path, src_ref=source_ref)
    return call(
        "copyObject",
        copy_object._get_kwargs(repository, branch, body=body, dest_path=path),
        reads(ObjectStats.from_dict, convert.stored),
        Subject(repository, branch, path),
        success=201,
        repeat="safe",
    )


def read(repository: str, ref: str, path: str, start: int, length: int | None) -> Call[ObjectInfo]:
    """Read the bytes of an object: a range, or the whole object (`start` 0 and no length)."""
    if start == 0 and length is None:
        return _read(repository, ref, path, "", lambda answer: _described(answer, path))
    last = "" if length is None else str(start + length - 1)
    return _read(repository, ref, path, f"{start}-{last}", lambda answer: _described(answer, path))


def tail(repository: str, ref: str, path: str, length: int) -> Call[tuple[ObjectInfo, bytes]]:
    """Read the last bytes of an object into memory, with its properties. For files whose index is at the end."""
    return _read(repository, ref, path, f"-{length}", lambda answer: (_described(answer, path), answer.content))


def piece(repository: str, ref: str, path: str, start: int, length: int) -> Call[tuple[ObjectInfo, bytes]]:
    """Read a range of an object into memory, with the object's properties."""
    span = f"{start}-{start + length - 1}"
    return _read(repository, ref, path, span, lambda answer: (_described(answer, path), answer.content))


def _read(repository: str, ref: str, path: str, span: str, parse: Callable[[Answer], T]) -> Call[T]:
    headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
    if span:
        headers["Range"] = f"bytes={span}"
    kwargs = {"method": "get", "url": _objects_url(repository, ref), "params": {"path": path}, "headers": headers}
    return call("getObject", kwargs, parse, Subject(repository, ref, path), success=206 if span else 200)


def read_many(repository: str, ref: str, body: Mapping[str, Any]) -> Call[None]:
    """Read many objects as a stream of frames."""
    headers = {"Accept": "application/octet-stream", "Accept-Encoding": "identity"}
    kwargs = {"method": "post", "url": f"{_objects_url(repository, ref)}/batch", "json": body, "headers": headers}
    return call("getObjects", kwargs, calls.nothing, Subject(repository, ref), repeat="safe")


def archive(repository: str, ref: str, prefix: str, format: str) -> Call[None]:
    """Read a folder as one archive."""
    headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
    url = f"/repositories/{segment(repository)}/refs/{segment(ref)}/archive"
    kwargs = {"method": "get", "url": url, "params": clean(prefix=prefix, format=format), "headers": headers}
    return call("getArchive", kwargs, calls.nothing, Subject(repository, ref))


def read_elsewhere(
    repository: str, ref: str, path: str, start: int, length: int | None
) -> Call[ObjectInfo | StoreAddress]:
    """Like `read`, or return the presigned URL of the same range if the server sends one."""
    plain = read(repository, ref, path, start, length)

    def parse(answer: Answer) -> ObjectInfo | StoreAddress:
        if answer.status != _FOUND:
            return plain.parse(answer)
        return StoreAddress(
            answer.headers["location"],
            answer.headers["etag"].strip('"'),
            _moment(answer.headers["last-modified"]),
        )

    return Call(
        operation=plain.operation,
        method=plain.method,
        url=plain.url,
        parse=parse,
        success=(*plain.success, _FOUND),
        repeat=plain.repeat,
        subject=plain.subject,
        params={**plain.params, "may_presign": "true"},
        headers=plain.headers,
    )


def described_by(found: StoreAddress, answer: Answer, path: str) -> ObjectInfo:
    """Return the properties of the whole object, from the server and from the headers of the store's response."""
    total = answer.headers.get("content-range", "").rpartition("/")[2]
    size = int(total or answer.headers["content-length"])
    return ObjectInfo(path, size, found.checksum, found.mtime, found.content_type)


def list_addresses_page(
    repository: str,
    ref: str,
    *,
    prefix: str,
    after: str,
    amount: int,
    keep: Callable[[ObjectInfo, StoreAddress, int], None],
) -> Call[Page[ObjectInfo | CommonPrefix]]:
    """One page of objects. Calls `keep` with each presigned URL and its expiry (Unix seconds)."""
    from lakebed_api.api.objects import list_objects

    def listed(row: Mapping[str, Any]) -> ObjectInfo | CommonPrefix:
        ends = row.get("physical_address_expiry")
        if not isinstance(ends, int):
            return convert.listed(row)
        info = convert.listed({**row, "physical_address": ""})
        if isinstance(info, ObjectInfo):
            url = convert.text(row["physical_address"])
            keep(info, StoreAddress(url, info.checksum, info.mtime, info.content_type), ends)
        return info

    kwargs = list_objects._get_kwargs(
        repository, ref, **clean(prefix=prefix, after=after, amount=amount, may_presign=True)
    )
    parse = calls.parser(partial(convert.listing, convert_row=listed, after=after))
    return call("listObjects", kwargs, parse, Subject(repository, ref))


@lru_cache(1024)
def _objects_url(repository: str, ref: str) -> str:
    return f"/repositories/{segment(repository)}/refs/{segment(ref)}/objects"


def _described(answer: Answer, path: str) -> ObjectInfo:
    """Return the properties of the whole object from the headers of a download."""
    total = answer.headers.get("content-range", "").rpartition("/")[2]
    size = int(total or answer.headers["content-length"])
    return ObjectInfo(
        path=path,
        size=size,
        checksum=answer.headers["etag"].strip('"'),
        mtime=_moment(answer.headers["last-modified"]),
        content_type=answer.headers.get("content-type", ""),
    )


@lru_cache(1024)
def _moment(written: str) -> datetime:
    """The time of an HTTP date. Cached, because objects that were written together share it."""
    return parsedate_to_datetime(written)


def upload(
    repository: str,
    branch: str,
    path: str,
    *,
    content_type: str,
    metadata: Mapping[str, str],
    if_absent: bool,
    if_match: str | None,
) -> Call[ObjectInfo]:
    """Write an object. A repeat has no effect, unless there is a condition."""
    from lakebed_api.models import ObjectStats

    headers: dict[str, str | bytes] = {"Content-Type": content_type}
    headers |= {META_HEADER + key: value.encode() for key, value in metadata.items()}
    if if_absent:
        headers["If-None-Match"] = "*"
    if if_match is not None:
        headers["If-Match"] = _etag(if_match)
    kwargs = {
        "method": "post",
        "url": f"/repositories/{segment(repository)}/branches/{segment(branch)}/objects",
        "params": {"path": path},
        "headers": headers,
    }
    return call(
        "uploadObject",
        kwargs,
        reads(ObjectStats.from_dict, convert.stored),
        Subject(repository, branch, path),
        success=201,
        repeat="unsent" if if_absent or if_match is not None else "safe",
    )


def publish_part(
    *, message: str, metadata: Mapping[str, str], date: int | None, allow_empty: bool, idempotency_key: str
) -> bytes:
    """Return the part of a `publish` body that describes the commit."""
    from lakebed_api.models import PublishCreation, PublishCreationMetadata

    body = PublishCreation(
        message=message,
        metadata=PublishCreationMetadata.from_dict(metadata),
        allow_empty=allow_empty,
        idempotency_key=idempotency_key,
        **clean(date=date),
    )
    return json.dumps(body.to_dict()).encode()


def publish(
    repository: str, branch: str, boundary: str, compare: Callable[[Sequence[ObjectInfo]], None]
) -> Call[Commit]:
    """Commit several objects and deletions together. Sent again with the same key, it returns the first commit.

    The SDK calls `compare` with the stored objects. `compare` raises when they differ from the sent objects.
    """
    from lakebed_api.models import Commit as WireCommit
    from lakebed_api.models import ObjectBatchResult

    def read(result: ObjectBatchResult) -> Commit:
        if not isinstance(result.commit, WireCommit):
            raise ValueError("the response has no commit")
        compare([convert.stored(row) for row in result.results])
        return convert.commit(result.commit)

    return call(
        "uploadObjects",
        _batch(repository, branch, boundary),
        reads(ObjectBatchResult.from_dict, read),
        Subject(repository, branch),
        success=201,
        slow=True,
    )


def upload_many(repository: str, branch: str, boundary: str) -> Call[tuple[ObjectInfo, ...]]:
    """Write and delete several objects, all or nothing. A repeat has no effect."""
    from lakebed_api.models import ObjectBatchResult

    return call(
        "uploadObjects",
        _batch(repository, branch, boundary),
        reads(ObjectBatchResult.from_dict, lambda result: tuple(convert.stored(row) for row in result.results)),
        Subject(repository, branch),
        success=201,
        repeat="safe",
    )


def _batch(repository: str, branch: str, boundary: str) -> dict[str, Any]:
    return {
        "method": "post",
        "url": f"/repositories/{segment(repository)}/branches/{segment(branch)}/objects/batch",
        "headers": {"Content-Type": f"multipart/form-data; boundary={boundary}"},
    }
