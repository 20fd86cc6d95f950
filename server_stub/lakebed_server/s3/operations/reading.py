"""GetObject, HeadObject, GetObjectAttributes. They read uncommitted changes too, like all reads of a branch.

The key `<ref>/` is a directory that exists while the ref exists. It is never stored.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from lakebed_engine.vocabulary.checksums import SIZES, ObjectChecksum, checksum_of
from lakebed_engine.vocabulary.errors import InvalidRangeError
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import ReadableEntry

from lakebed_server.http import responses
from lakebed_server.http.ranges import Slice, parse_range
from lakebed_server.http.responses import Reply, StreamReply, last_modified
from lakebed_server.s3.requests import conditions, headers
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.requests.checksums import as_headers
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.xml import tag
from lakebed_server.s3.vocabulary import S3Error, invalid_argument
from lakebed_server.vocabulary import Header

SMALL: Final = 64 << 10
"""Bytes up to which an object is read as a whole: setting up a stream takes longer than reading it."""

_RANGE = re.compile(r"bytes=(?:(\d+)-(\d*)|-(\d+))", re.ASCII)
_MOST_LISTED: Final = 1000
"""The largest number of parts in one answer of GetObjectAttributes."""
_LONGEST_PARTS: Final = 1 << 18
"""The largest number of characters of the metadata with part sizes. 10,000 parts need fewer."""


class Part(NamedTuple):
    """The requested part: the status, the bytes, and the headers that describe it."""

    status: int
    slice: Slice
    headers: tuple[Header, ...] = ()


async def get_object(call: S3Call) -> Reply:
    """GetObject."""
    found = None if is_root(call) else await _find(call)
    entry = await stat(call) if found is None else found.entry
    reply, part = _answer(call, entry)
    if part is None or part.slice.length == 0 or found is None:
        return reply
    start, length = part.slice
    if length <= SMALL:
        return Reply(reply.status, await found.read(start, length), reply.headers)
    source = call.engine.objects.open(call.repo, entry, start, length)
    return StreamReply(reply.status, source, length, reply.headers)


async def head_object(call: S3Call) -> Reply:
    """HeadObject."""
    reply, part = _answer(call, await stat(call))
    if part is not None:
        reply.length = part.slice.length
    return reply


async def get_object_attributes(call: S3Call) -> Reply:
    """GetObjectAttributes."""
    entry = await stat(call)
    asked = {one.strip() for one in call.header(b"x-amz-object-attributes").split(",")}
    inner = tag("ETag", entry.etag) if "ETag" in asked else ""
    checksum = checksum_of(entry.metadata)
    if "Checksum" in asked and checksum is not None:
        inner += f"<Checksum>{xml.checksum(checksum)}</Checksum>"
    if "ObjectParts" in asked and entry.parts:
        inner += f"<ObjectParts>{_parts(call, entry, checksum)}</ObjectParts>"
    if "StorageClass" in asked:
        inner += "<StorageClass>STANDARD</StorageClass>"
    if "ObjectSize" in asked:
        inner += f"<ObjectSize>{entry.size}</ObjectSize>"
    return xml.xml("GetObjectAttributesResponse", inner, headers=(last_modified(entry.mtime),))


def _parts(call: S3Call, entry: Entry, checksum: ObjectChecksum | None) -> str:
    """The parts of an object. As Amazon, without a list of them if they have no checksums."""
    inner = f"<PartsCount>{entry.parts}</PartsCount>"
    sizes = _sizes(entry)
    if checksum is None or not len(checksum.parts) == len(sizes) == entry.parts:
        return inner
    after, most = _marker(call, b"x-amz-part-number-marker", 0), _marker(call, b"x-amz-max-parts", _MOST_LISTED)
    numbers = range(after + 1, min(after + min(most, _MOST_LISTED), entry.parts) + 1)
    last = numbers[-1] if numbers else after
    inner += f"<PartNumberMarker>{after}</PartNumberMarker><NextPartNumberMarker>{last}</NextPartNumberMarker>"
    inner += f"<MaxParts>{most}</MaxParts><IsTruncated>{'true' if last < entry.parts else 'false'}</IsTruncated>"
    for number in numbers:
        value = tag(f"Checksum{checksum.algorithm.upper()}", checksum.parts[number - 1])
        inner += f"<Part><PartNumber>{number}</PartNumber><Size>{sizes[number - 1]}</Size>{value}</Part>"
    return inner


def _marker(call: S3Call, name: bytes, default: int) -> int:
    text = call.header(name)
    if text and not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise invalid_argument(f"{name.decode()} must be a whole number.")
    return int(text) if text else default


async def stat(call: S3Call) -> Entry:
    """The entry of a key. Raises S3Error: NoSuchKey, or NoSuchVersion for a version."""
    if is_root(call):
        refuse_versions(call)
        return await root(call)
    return (await _find(call)).entry


async def _find(call: S3Call) -> ReadableEntry:
    refuse_versions(call)
    if not call.path:
        raise S3Error("NoSuchKey", "The specified key does not exist.", details=(("Key", call.key),))
    return await call.engine.objects.find(call.repo, call.ref, call.path)


def refuse_versions(call: S3Call) -> None:
    """Raises S3Error for a version. Clients read old data with a commit id in the place of the branch."""
    if call.query.get("versionId", "null") not in ("null", ""):
        raise S3Error("NoSuchVersion", "Versions of objects are commits here: read <commit id>/<path> instead.")


def _answer(call: S3Call, entry: Entry) -> tuple[Reply, Part | None]:
    """The answer without its content, and the requested part of the content, or None."""
    validators = (_etag(entry), last_modified(entry.mtime))
    if conditions.check(call.headers, entry) == "unchanged":
        return Reply(304, headers=(*validators, responses.cache_control(call.ref))), None
    part = _part(call, entry)
    found = headers.of_entry(entry)
    if call.query:
        found |= headers.overrides(call)
    headers.make_safe(found, call.ref)
    if call.header(b"x-amz-checksum-mode").upper() == "ENABLED":
        found |= _checksum(call, entry)
    reply = Reply(part.status, headers=(*validators, *found.items(), (b"accept-ranges", b"bytes"), *part.headers))
    return reply, part


def _checksum(call: S3Call, entry: Entry) -> dict[bytes, bytes]:
    """The headers of the checksum of what is read: the object or a numbered part. A range has none."""
    found = checksum_of(entry.metadata)
    if found is None or b"range" in call.headers:
        return {}
    number = call.number("partNumber", 0)
    if not number or (number == 1 and not entry.parts):
        return dict(as_headers(found))
    return dict(as_headers(found, found.parts[number - 1])) if number <= len(found.parts) else {}


def _part(call: S3Call, entry: Entry) -> Part:
    number = call.query.get("partNumber")
    asked = call.headers.get(b"range")
    if number is not None:
        if asked is not None:
            raise S3Error("InvalidRequest", "Cannot specify both Range header and partNumber query parameter")
        return _numbered(call.number("partNumber", 0), entry)
    if asked is None or not conditions.range_is_for(call.headers, entry):
        return Part(200, Slice(0, entry.size))
    text = asked.decode("latin-1")
    found = _RANGE.fullmatch(text)
    if found is None or (found[2] and int(found[2][:20]) < int(found[1][:20])):
        return Part(200, Slice(0, entry.size))  # S3 ignores a header that is not a single range
    try:
        part = parse_range(text, entry.size)
    except InvalidRangeError:
        raise S3Error(
            "InvalidRange",
            "The requested range is not satisfiable",
            headers=((b"content-range", b"bytes */%d" % entry.size),),
            details=(("RangeRequested", text), ("ActualObjectSize", str(entry.size))),
        ) from None
    return Part(206, part, (_content_range(part, entry.size),))


def _numbered(number: int, entry: Entry) -> Part:
    if number < 1:
        raise invalid_argument("Part number must be an integer between 1 and 10000, inclusive")
    sizes = _sizes(entry)
    if number > len(sizes):
        raise S3Error("InvalidPartNumber", "The requested partnumber is not satisfiable")
    part = Slice(sum(sizes[: number - 1]), sizes[number - 1])
    count: tuple[Header, ...] = ((b"x-amz-mp-parts-count", b"%d" % len(sizes)),) if entry.parts else ()
    if not part.length:
        return Part(200, part, count)
    return Part(206, part, (_content_range(part, entry.size), *count))


def _sizes(entry: Entry) -> list[int]:
    """The sizes of the object's parts. One size if it was written in one part, or not through this server."""
    text = entry.metadata.get(SIZES, "")
    sizes: list[int] = []
    for run in text.split(",") if len(text) <= _LONGEST_PARTS else ():
        count, _, size = run.partition("x")
        if not (_is_number(count, 5) and _is_number(size, 15)) or len(sizes) + int(count) > headers.MOST_PARTS:
            return [entry.size]  # clients of the REST API may write any metadata
        sizes += [int(size)] * int(count)
    return sizes if sizes and sum(sizes) == entry.size else [entry.size]


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= digits


def _content_range(part: Slice, size: int) -> Header:
    return (b"content-range", b"bytes %d-%d/%d" % (part.start, part.start + part.length - 1, size))


def _etag(entry: Entry) -> Header:
    return (b"etag", f'"{entry.etag}"'.encode("ascii", "replace"))


_EMPTY_MD5 = "d41d8cd98f00b204e9800998ecf8427e"


def is_root(call: S3Call) -> bool:
    """Whether the key is `<ref>/`."""
    return not call.address.bound and not call.path and call.key.endswith("/")


async def root(call: S3Call) -> Entry:
    """The directory of a ref, as an empty object. Raises the error of a missing ref."""
    await call.engine.objects.list(call.repo, call.ref, amount=1)
    return Entry("", _EMPTY_MD5, 0, 0, 0, "application/x-directory", {}, b"")


async def write_root(call: S3Call) -> Entry:
    """Handle a write to the key of a directory, or to a key without a path. Stores nothing."""
    if not is_root(call):
        raise invalid_argument("A key is <branch>/<path>: this one has no path.")
    async for _ in call.chunks():
        raise invalid_argument("A key is <branch>/<path>: this one has no path, so it cannot have content.")
    return await root(call)
