"""Fixed answers for subresources that S3 has and Lakebed does not have, so that tools continue to work.

A missing bucket or object is still an error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from lakebed_server.http.responses import Reply
from lakebed_server.s3.operations.buckets import require
from lakebed_server.s3.operations.reading import stat
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.xml import OWNER
from lakebed_server.s3.vocabulary import S3Error, not_implemented

Answer = Callable[[S3Call], Awaitable[Reply]]

_FULL_CONTROL: Final = (
    f"{OWNER}<AccessControlList><Grant>"
    '<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">'
    "<ID>lakebed</ID><DisplayName>lakebed</DisplayName></Grantee>"
    "<Permission>FULL_CONTROL</Permission></Grant></AccessControlList>"
)

DOCUMENTS: Final[dict[str, tuple[str, str]]] = {
    "accelerate": ("AccelerateConfiguration", ""),
    "acl": ("AccessControlPolicy", _FULL_CONTROL),
    "logging": ("BucketLoggingStatus", ""),
    "notification": ("NotificationConfiguration", ""),
    "requestPayment": ("RequestPaymentConfiguration", "<Payer>BucketOwner</Payer>"),
    "versioning": ("VersioningConfiguration", ""),
}
"""Subresources of a bucket that answer with the default document: name -> root and inner XML."""

ABSENT: Final[dict[str, tuple[str, str]]] = {
    "cors": ("NoSuchCORSConfiguration", "The CORS configuration does not exist"),
    "encryption": (
        "ServerSideEncryptionConfigurationNotFoundError",
        "The server side encryption configuration was not found",
    ),
    "lifecycle": ("NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist"),
    "object-lock": (
        "ObjectLockConfigurationNotFoundError",
        "Object Lock configuration does not exist for this bucket",
    ),
    "ownershipControls": ("OwnershipControlsNotFoundError", "The bucket ownership controls were not found"),
    "policy": ("NoSuchBucketPolicy", "The bucket policy does not exist"),
    "policyStatus": ("NoSuchBucketPolicy", "The bucket policy does not exist"),
    "publicAccessBlock": (
        "NoSuchPublicAccessBlockConfiguration",
        "The public access block configuration was not found",
    ),
    "replication": ("ReplicationConfigurationNotFoundError", "The replication configuration was not found"),
    "tagging": ("NoSuchTagSet", "The TagSet does not exist"),
    "website": ("NoSuchWebsiteConfiguration", "The specified bucket does not have a website configuration"),
}
"""Subresources that never exist: name -> error code and message."""

OF_OBJECTS: Final[dict[str, tuple[str, str]]] = {
    "acl": ("AccessControlPolicy", _FULL_CONTROL),
    "tagging": ("Tagging", "<TagSet></TagSet>"),
}

NEVER: Final = (
    "analytics",
    "intelligent-tiering",
    "inventory",
    "legal-hold",
    "metrics",
    "restore",
    "retention",
    "select",
    "torrent",
)
"""Subresources that are not implemented."""


def document(root: str, inner: str) -> Answer:
    """Returns an operation on a bucket that always answers with this document."""

    async def answer(call: S3Call) -> Reply:
        await require(call)
        return xml.xml(root, inner)

    return answer


def absent(code: str, message: str) -> Answer:
    """Returns an operation on a bucket that always answers with this error."""

    async def answer(call: S3Call) -> Reply:
        await require(call)
        raise S3Error(code, message, details=(("BucketName", call.bucket),))

    return answer


def of_object(root: str, inner: str) -> Answer:
    """Returns an operation on an object that always answers with this document."""

    async def answer(call: S3Call) -> Reply:
        await stat(call)
        return xml.xml(root, inner)

    return answer


def never(subresource: str) -> Answer:
    """Returns an operation that is not implemented."""

    async def answer(call: S3Call) -> Reply:
        raise not_implemented(
            "A header or query you provided implies functionality that is not implemented: "
            f"{call.method} ?{subresource}."
        )

    return answer
