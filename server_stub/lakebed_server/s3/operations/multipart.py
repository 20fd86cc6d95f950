"""Multipart uploads: CreateMultipartUpload, UploadPart, UploadPartCopy, CompleteMultipartUpload, AbortMultipartUpload.

The engine has the rules for parts and their completion.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Final
from xml.etree.ElementTree import Element

from lakebed_engine.vocabulary.direct_writes import SentPart
from lakebed_engine.vocabulary.errors import InvalidRequestError
from lakebed_engine.vocabulary.multipart import Completed, Target, Upload
from lakebed_engine.vocabulary.requests import UploadRequest

from lakebed_server.http.responses import Reply, empty
from lakebed_server.s3.operations.copying import readable_source, source_of
from lakebed_server.s3.requests import conditions, headers, xml_parse
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.requests.checksums import ALGORITHMS, PREFIX, Checksum, encoded
from lakebed_server.s3.requests.headers import MOST_PARTS
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.keep_alive import patiently
from lakebed_server.s3.responses.xml import iso_date, tag
from lakebed_server.s3.vocabulary import S3Error, invalid_argument
from lakebed_server.vocabulary import Header

LIMIT: Final = 8 << 20
"""The largest size in bytes of the list of parts: 10,000 parts, each with its ETag and a checksum."""

_SPAN = re.compile(r"bytes=(\d{1,15})-(\d{1,15})", re.ASCII)
_WHOLE, _COMPOSITE = "FULL_OBJECT", "COMPOSITE"
_CRCS = ("crc32", "crc32c", "crc64nvme")


async def create_multipart_upload(call: S3Call) -> Reply:
    """CreateMultipartUpload."""
    if not call.path:
        raise invalid_argument("A key is <branch>/<path>: this one has no path.")
    content_type, metadata = headers.stored(call)
    algorithm, whole = _checksum_of(call)
    upload = await call.engine.multipart.create(
        call.repo,
        call.ref,
        UploadRequest(path=call.path, content_type=content_type, metadata=metadata),
        creator=call.user,
        checksum=algorithm,
        whole=whole,
    )
    inner = tag("Bucket", call.bucket) + tag("Key", call.key) + tag("UploadId", upload.id)
    return xml.xml("InitiateMultipartUploadResult", inner, headers=_declared_checksum(upload))


async def upload_part(call: S3Call) -> Reply:
    """UploadPart, or UploadPartCopy if the request names a source."""
    if b"x-amz-copy-source" in call.headers:
        return await upload_part_copy(call)
    number, size = _part_number(call), _length(call)
    target = target_of(call)
    upload = await call.engine.multipart.get(call.repo, target)
    found: dict[str, str] = {}
    part = await call.engine.multipart.put_part(
        call.repo, target, number, size, _summed(call, upload, found), lambda: found.get(upload.checksum, "")
    )
    return Reply(200, headers=((b"etag", f'"{part.md5}"'.encode()), *_checksum_headers(found)))


async def upload_part_copy(call: S3Call) -> Reply:
    """UploadPartCopy."""
    number, target = _part_number(call), target_of(call)
    source = source_of(call)
    entry = await readable_source(call, source)
    part = await call.engine.multipart.copy_part(
        call.repo, target, number, source.repo, entry, _span(call.header(b"x-amz-copy-source-range"), entry.size)
    )
    inner = f"<LastModified>{iso_date(part.mtime)}</LastModified><ETag>&quot;{part.md5}&quot;</ETag>"
    return xml.xml("CopyPartResult", inner)


async def complete_multipart_upload(call: S3Call) -> Reply:
    """CompleteMultipartUpload. If it takes long, the response begins before its end, so that the client waits."""
    parts = await xml_parse.read(await call.whole(LIMIT), "CompleteMultipartUpload", _parts_of)
    wanted = conditions.of_write(call.headers)
    job = call.engine.multipart.complete(
        call.repo,
        target_of(call),
        parts,
        **wanted._asdict(),
        checksum=_object_sum(call),
        size=_object_size(call),
    )
    return await patiently(call, _with_amazon_error(job), lambda done: _completed(call, done))


async def abort_multipart_upload(call: S3Call) -> Reply:
    """AbortMultipartUpload."""
    await call.engine.multipart.abort(call.repo, target_of(call))
    return empty(204)


def target_of(call: S3Call) -> Target:
    """The upload that a request names."""
    return Target(call.ref, call.path, call.query["uploadId"])


async def _with_amazon_error(job: Coroutine[Any, Any, Completed]) -> Completed:
    try:
        return await job
    except InvalidRequestError as error:
        if type(error) is InvalidRequestError:  # the object has another size than x-amz-mp-object-size says
            raise S3Error("InvalidRequest", error.message) from None
        raise


def _completed(call: S3Call, done: Completed) -> tuple[str, str]:
    inner = tag("Location", f"/{call.bucket}/{call.key}") + tag("Bucket", call.bucket) + tag("Key", call.key)
    inner += tag("ETag", f'"{done.entry.etag}"')
    if done.checksum:
        inner += tag(f"Checksum{done.algorithm.upper()}", done.checksum)
        inner += tag("ChecksumType", _COMPOSITE if "-" in done.checksum else _WHOLE)
    return "CompleteMultipartUploadResult", inner


def _parts_of(document: Element) -> list[SentPart]:
    found = xml_parse.children(document, "Part")
    if not 1 <= len(found) <= MOST_PARTS:
        raise xml_parse.malformed(f"from 1 to {MOST_PARTS} parts, got {len(found)}")
    parts = [_part_of(element) for element in found]
    # a part that was sent again may be named again: as other servers, take the last one
    return [
        one for one, after in zip(parts, [*parts[1:], None], strict=True) if after is None or after.number != one.number
    ]


def _part_of(element: Element) -> SentPart:
    number, etag = xml_parse.text_of(element, "PartNumber") or "", xml_parse.text_of(element, "ETag")
    if etag is None or not (number.strip().isascii() and number.strip().isdigit() and len(number.strip()) <= 5):
        raise xml_parse.malformed("a Part needs a PartNumber and an ETag")
    sums = [text for name in ALGORITHMS if (text := xml_parse.text_of(element, f"Checksum{name.upper()}"))]
    return SentPart(int(number), conditions.etag_of(etag), sums[0].strip() if sums else "")


def _checksum_of(call: S3Call) -> tuple[str, bool]:
    """The algorithm of the parts' checksums, and whether the checksum of the object is a full-object checksum."""
    algorithm, kind = call.header(b"x-amz-checksum-algorithm").lower(), call.header(b"x-amz-checksum-type").upper()
    if algorithm and algorithm not in ALGORITHMS:
        raise S3Error("InvalidRequest", "Checksum algorithm provided is unsupported.")
    kind = kind or (_WHOLE if algorithm == "crc64nvme" else _COMPOSITE)
    fits = (kind == _COMPOSITE and algorithm != "crc64nvme") or (kind == _WHOLE and algorithm in _CRCS)
    if algorithm and not fits:
        raise S3Error("InvalidRequest", f"The {kind} checksum type cannot be used with the {algorithm} algorithm.")
    return algorithm, kind == _WHOLE


def _declared_checksum(upload: Upload) -> tuple[Header, ...]:
    if not upload.checksum:
        return ()
    kind = _WHOLE if upload.whole else _COMPOSITE
    return (
        (b"x-amz-checksum-algorithm", upload.checksum.upper().encode()),
        (b"x-amz-checksum-type", kind.encode()),
    )


def _checksum_headers(found: dict[str, str]) -> list[Header]:
    return [((PREFIX + algorithm).encode(), value.encode()) for algorithm, value in found.items()]


async def _summed(call: S3Call, upload: Upload, found: dict[str, str]) -> AsyncIterator[bytes]:
    """The bytes of the part. At the end, `found` gets the sent checksums, or else the one for the upload."""
    own: Checksum | None = None
    if upload.checksum and not call.payload.promises(upload.checksum):
        own = ALGORITHMS[upload.checksum]()
    async for chunk in call.chunks():
        if own is not None:
            own.update(chunk)
        yield chunk
    found.update(call.payload.checksums)
    if own is not None:
        found[upload.checksum] = encoded(own.digest())


def _part_number(call: S3Call) -> int:
    text = call.query.get("partNumber", "")
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= MOST_PARTS):
        raise invalid_argument(f"Part number must be an integer between 1 and {MOST_PARTS}, inclusive")
    return int(text)


def _length(call: S3Call) -> int:
    length = call.payload.length
    if length is not None:
        return length
    text = call.header(b"content-length")
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise S3Error("MissingContentLength", "You must provide the Content-Length HTTP header.")
    return int(text)


def _span(text: str, size: int) -> tuple[int, int]:
    """The first byte and the length of a part of the source."""
    if not text:
        return 0, size
    found = _SPAN.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise invalid_argument("The x-amz-copy-source-range value must be of the form bytes=first-last")
    if int(found[2]) >= size:
        raise invalid_argument(f"Range specified is not valid for source object of size: {size}")
    return int(found[1]), int(found[2]) - int(found[1]) + 1


def _object_sum(call: S3Call) -> str:
    """The checksum of the whole object, if the request has it."""
    sums = [text for name in ALGORITHMS if (text := call.header((PREFIX + name).encode()))]
    return sums[0] if sums else ""


def _object_size(call: S3Call) -> int | None:
    text = call.header(b"x-amz-mp-object-size")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise invalid_argument("x-amz-mp-object-size must be a number of bytes.")
    return int(text)
