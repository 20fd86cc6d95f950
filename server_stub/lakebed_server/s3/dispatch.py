"""The table of S3 operations, by method, level (service, bucket, object) and subresource."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from lakebed_server.http.responses import Reply
from lakebed_server.s3.operations import (
    buckets,
    canned,
    copying,
    listing,
    multipart,
    multipart_listing,
    posting,
    reading,
    writing,
)
from lakebed_server.s3.operations.copying import SOURCE
from lakebed_server.s3.requests.addressing import Level
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.vocabulary import S3Error

Operation = Callable[[S3Call], Awaitable[Reply]]


class Route(NamedTuple):
    """An operation, with Amazon's name."""

    name: str
    run: Operation
    outlasts: bool = False
    """Whether its work can end after its response has begun. Then the operation itself acquires its place in the
    queue."""


ROUTES: Final[dict[tuple[str, Level, str], Route]] = {
    ("GET", "service", ""): Route("ListBuckets", buckets.list_buckets),
    ("HEAD", "bucket", ""): Route("HeadBucket", buckets.head_bucket),
    ("PUT", "bucket", ""): Route("CreateBucket", buckets.create_bucket),
    ("DELETE", "bucket", ""): Route("DeleteBucket", buckets.delete_bucket),
    ("GET", "bucket", ""): Route("ListObjects", listing.list_objects),
    ("GET", "bucket", "list-type"): Route("ListObjectsV2", listing.list_objects_v2),
    ("GET", "bucket", "versions"): Route("ListObjectVersions", listing.list_object_versions),
    ("GET", "bucket", "location"): Route("GetBucketLocation", buckets.get_location),
    ("POST", "bucket", "delete"): Route("DeleteObjects", writing.delete_objects),
    ("GET", "object", ""): Route("GetObject", reading.get_object),
    ("HEAD", "object", ""): Route("HeadObject", reading.head_object),
    ("GET", "object", "attributes"): Route("GetObjectAttributes", reading.get_object_attributes),
    ("PUT", "object", ""): Route("PutObject", writing.put_object),
    ("DELETE", "object", ""): Route("DeleteObject", writing.delete_object),
    ("GET", "bucket", "uploads"): Route("ListMultipartUploads", multipart_listing.list_multipart_uploads),
    ("POST", "object", "uploads"): Route("CreateMultipartUpload", multipart.create_multipart_upload),
    ("PUT", "object", "uploadId"): Route("UploadPart", multipart.upload_part),
    ("GET", "object", "uploadId"): Route("ListParts", multipart_listing.list_parts),
    ("POST", "object", "uploadId"): Route(
        "CompleteMultipartUpload", multipart.complete_multipart_upload, outlasts=True
    ),
    ("DELETE", "object", "uploadId"): Route("AbortMultipartUpload", multipart.abort_multipart_upload),
}
"""Routes by method, level and subresource."""

_COPY: Final = Route("CopyObject", copying.copy_object)
_POST: Final = Route("PostObject", posting.post_object)


def _add_fixed() -> None:
    """Add subresources that are not stored: reads get fixed answers, writes are refused."""
    for name, (root, inner) in canned.DOCUMENTS.items():
        ROUTES["GET", "bucket", name] = Route(f"GetBucket:{name}", canned.document(root, inner))
    for name, (code, message) in canned.ABSENT.items():
        ROUTES["GET", "bucket", name] = Route(f"GetBucket:{name}", canned.absent(code, message))
    for name, (root, inner) in canned.OF_OBJECTS.items():
        ROUTES["GET", "object", name] = Route(f"GetObject:{name}", canned.of_object(root, inner))
    levels: tuple[Level, ...] = ("bucket", "object")
    for name in (*canned.DOCUMENTS, *canned.ABSENT, *canned.OF_OBJECTS, *canned.NEVER):
        for level in levels:
            for method in ("GET", "PUT", "POST", "DELETE"):
                ROUTES.setdefault((method, level, name), Route(f"{method}:{name}", canned.never(name)))


_add_fixed()

SUBRESOURCES: Final = frozenset(subresource for _, _, subresource in ROUTES if subresource)


def find(call: S3Call) -> Route:
    """The operation of a request. Raises S3Error: MethodNotAllowed, NotImplemented."""
    if call.form is not None:
        return _POST
    subresource = next((name for name in call.query if name in SUBRESOURCES), "") if call.query else ""
    route = ROUTES.get((call.method, call.address.level, subresource))
    if route is None:
        raise S3Error("MethodNotAllowed", "The specified method is not allowed against this resource.")
    return _COPY if route.run is writing.put_object and SOURCE in call.headers else route
