"""CopyObject: copies only metadata within a repository, and the bytes between two repositories."""

from __future__ import annotations

from lakebed_engine.vocabulary.checksums import WHOLE, checksum_of, kept, shown
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import UploadRequest

from lakebed_server.http.responses import Reply
from lakebed_server.s3.requests import conditions, headers
from lakebed_server.s3.requests.addressing import Address, locate, unescape
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.xml import iso_date
from lakebed_server.s3.vocabulary import S3Error, invalid_argument

SOURCE = b"x-amz-copy-source"


async def copy_object(call: S3Call) -> Reply:
    """CopyObject."""
    if not call.path:
        raise invalid_argument("A key is <branch>/<path>: this one has no path.")
    source = source_of(call)
    found = await readable_source(call, source)
    replaced = _replacement(call)
    if replaced is None and source[2:5] == (call.repo, call.ref, call.path):
        raise S3Error(
            "InvalidRequest",
            "This copy request is illegal because it is trying to copy an object to itself without changing the "
            "object's metadata",
        )
    entry = await _copy(call, source, found, replaced)
    inner = f"<LastModified>{iso_date(entry.mtime)}</LastModified><ETag>&quot;{entry.etag}&quot;</ETag>"
    checksum = checksum_of(entry.metadata)
    return xml.xml("CopyObjectResult", inner + ("" if checksum is None else xml.checksum(checksum)))


def source_of(call: S3Call) -> Address:
    """The address in x-amz-copy-source. Raises S3Error: InvalidArgument, NoSuchVersion."""
    raw, _, version = call.headers[SOURCE].strip().partition(b"?")
    if version.startswith(b"versionId=") and version != b"versionId=null":
        raise S3Error("NoSuchVersion", "Versions of objects are commits here: copy <commit id>/<path> instead.")
    bucket, slash, key = unescape(raw).removeprefix("/").partition("/")
    if not (bucket and slash and key):
        raise invalid_argument("Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
    return locate(bucket, key, call.config)


async def readable_source(call: S3Call, source: Address) -> Entry:
    """The entry to copy, if its conditions hold. Raises S3Error: NoSuchKey, PreconditionFailed."""
    if not source.path:
        raise S3Error("NoSuchKey", "The specified key does not exist.", details=(("Key", source.key),))
    found = await call.engine.objects.stat(source.repo, source.ref, source.path)
    if conditions.check(call.headers, found, SOURCE + b"-") == "unchanged":
        raise S3Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
    return found


def _replacement(call: S3Call) -> tuple[str, dict[str, str]] | None:
    directive = call.header(b"x-amz-metadata-directive") or "COPY"
    if directive not in ("COPY", "REPLACE"):
        raise invalid_argument("Unknown metadata directive.")
    return headers.stored(call) if directive == "REPLACE" else None


def _kept(found: Entry, replaced: tuple[str, dict[str, str]] | None, *, same_bytes: bool) -> tuple[str, dict[str, str]]:
    """Type and metadata of the copy. In another repository it has no parts, so only a full checksum stays."""
    content_type, metadata = replaced or (found.content_type, found.metadata)
    checksum = checksum_of(found.metadata)
    own = kept(found.metadata) if same_bytes else {}
    if not same_bytes and checksum is not None and checksum.kind == WHOLE:
        own = checksum._replace(parts=()).metadata()
    return content_type, {**shown(metadata), **own}


async def _copy(call: S3Call, source: Address, found: Entry, replaced: tuple[str, dict[str, str]] | None) -> Entry:
    content_type, metadata = _kept(found, replaced, same_bytes=source.repo == call.repo)
    request = UploadRequest(
        path=call.path,
        content_type=content_type,
        metadata=metadata,
        **conditions.of_write(call.headers)._asdict(),
    )
    if source.repo != call.repo:
        async with call.engine.objects.open(source.repo, found) as chunks:
            return (await call.engine.objects.upload(call.repo, call.ref, request, chunks)).entry
    made = await call.engine.objects.copy_as(
        call.repo, call.ref, request, source.ref, source.path, source_etag=found.etag
    )
    return made.entry
