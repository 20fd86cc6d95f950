"""ListParts and ListMultipartUploads."""

from __future__ import annotations

from typing import Final

from lakebed_engine.vocabulary.multipart import ListedUpload, Upload, UploadedPart
from lakebed_engine.vocabulary.records import Page

from lakebed_server.http.responses import Reply
from lakebed_server.s3.operations.listing import encoding_of
from lakebed_server.s3.operations.multipart import target_of
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.xml import OWNER, iso_date, tag

MOST: Final = 1000
_INITIATOR: Final = OWNER.replace("Owner>", "Initiator>")


async def list_parts(call: S3Call) -> Reply:
    """ListParts."""
    amount, after = call.number("max-parts", MOST), call.number("part-number-marker", 0)
    upload, page = await call.engine.multipart.list_parts(
        call.repo, target_of(call), after=after, amount=min(max(amount, 1), MOST)
    )
    parts = page.items if amount else ()
    inner = tag("Bucket", call.bucket) + tag("Key", call.key) + tag("UploadId", upload.id)
    inner += f"{_INITIATOR}{OWNER}<StorageClass>STANDARD</StorageClass>"
    inner += f"<PartNumberMarker>{after}</PartNumberMarker>"
    inner += f"<NextPartNumberMarker>{parts[-1].number if parts else after}</NextPartNumberMarker>"
    inner += f"<MaxParts>{amount}</MaxParts><IsTruncated>{_truth(page.has_more and bool(amount))}</IsTruncated>"
    if upload.checksum:
        inner += tag("ChecksumAlgorithm", upload.checksum.upper())
        inner += tag("ChecksumType", "FULL_OBJECT" if upload.whole else "COMPOSITE")
    return xml.xml("ListPartsResult", inner + "".join(_part(upload, part) for part in parts))


async def list_multipart_uploads(call: S3Call) -> Reply:
    """ListMultipartUploads. In a bucket that is bound to a ref the keys are paths."""
    query, encode = call.query, encoding_of(call)
    start = f"{call.ref}/" if call.address.bound else ""
    amount = call.number("max-uploads", MOST)
    marker, id_marker = query.get("key-marker", ""), query.get("upload-id-marker", "")
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    page: Page[ListedUpload] = await call.engine.multipart.list(
        call.repo,
        prefix=start + prefix,
        delimiter=delimiter,
        after=(start + marker if marker else "", id_marker if marker else ""),
        amount=min(max(amount, 1), MOST),
    )
    rows = page.items if amount else ()
    inner = tag("Bucket", call.bucket) + tag("KeyMarker", encode(marker)) + tag("UploadIdMarker", id_marker)
    if rows and page.has_more:
        last = rows[-1]
        inner += tag("NextKeyMarker", encode(last.key[len(start) :]))
        inner += tag("NextUploadIdMarker", last.upload.id if last.upload else "")
    if delimiter:
        inner += tag("Delimiter", encode(delimiter))
    inner += tag("Prefix", encode(prefix)) + f"<MaxUploads>{amount}</MaxUploads>"
    if query.get("encoding-type") == "url":
        inner += "<EncodingType>url</EncodingType>"
    inner += f"<IsTruncated>{_truth(page.has_more and bool(amount))}</IsTruncated>"
    uploads = [_upload(row.upload, encode(row.key[len(start) :])) for row in rows if row.upload is not None]
    groups = [
        f"<CommonPrefixes>{tag('Prefix', encode(row.key[len(start) :]))}</CommonPrefixes>"
        for row in rows
        if row.upload is None
    ]
    return xml.xml("ListMultipartUploadsResult", inner + "".join(uploads + groups))


def _part(upload: Upload, part: UploadedPart) -> str:
    checksum = tag(f"Checksum{upload.checksum.upper()}", part.checksum) if part.checksum else ""
    return (
        f"<Part><PartNumber>{part.number}</PartNumber><LastModified>{iso_date(part.mtime)}</LastModified>"
        f"<ETag>&quot;{part.md5}&quot;</ETag><Size>{part.size}</Size>{checksum}</Part>"
    )


def _upload(upload: Upload, key: str) -> str:
    inner = tag("Key", key) + tag("UploadId", upload.id) + f"{_INITIATOR}{OWNER}<StorageClass>STANDARD</StorageClass>"
    if upload.checksum:
        inner += tag("ChecksumAlgorithm", upload.checksum.upper())
    return f"<Upload>{inner}<Initiated>{iso_date(upload.created)}</Initiated></Upload>"


def _truth(value: bool) -> str:
    return "true" if value else "false"
