"""The gateway's vocabulary: S3's error codes with their statuses, and the error class that has a code.

The codes are Amazon's, from the public list of error responses of the S3 API.
"""

from __future__ import annotations

from typing import Final

from lakebed_server.vocabulary import Header

Pair = tuple[bytes, bytes]
"""A name and a value."""

OWNER_ID: Final = "lakebed"
"""The owner of every bucket."""

STATUS: Final[dict[str, int]] = {
    "AccessControlListNotSupported": 400,
    "AccessDenied": 403,
    "AuthorizationHeaderMalformed": 400,
    "AuthorizationQueryParametersError": 400,
    "BadDigest": 400,
    "BucketAlreadyExists": 409,
    "BucketAlreadyOwnedByYou": 409,
    "BucketNotEmpty": 409,
    "EntityTooLarge": 400,
    "EntityTooSmall": 400,
    "ExpiredToken": 400,
    "IncompleteBody": 400,
    "InternalError": 500,
    "InvalidAccessKeyId": 403,
    "InvalidArgument": 400,
    "InvalidBucketName": 400,
    "InvalidChunkSizeError": 403,
    "InvalidDigest": 400,
    "InvalidPart": 400,
    "InvalidPartNumber": 416,
    "InvalidPartOrder": 400,
    "InvalidPolicyDocument": 400,
    "InvalidRange": 416,
    "InvalidRequest": 400,
    "InvalidStorageClass": 400,
    "InvalidToken": 400,
    "InvalidIdentityToken": 400,
    "IDPCommunicationError": 400,
    "InvalidURI": 400,
    "KeyTooLongError": 400,
    "MalformedTrailerError": 400,
    "MalformedXML": 400,
    "MaxPostPreDataLengthExceededError": 400,
    "MetadataTooLarge": 400,
    "MethodNotAllowed": 405,
    "MissingContentLength": 411,
    "NoSuchBucket": 404,
    "NoSuchBucketPolicy": 404,
    "NoSuchCORSConfiguration": 404,
    "NoSuchKey": 404,
    "NoSuchLifecycleConfiguration": 404,
    "NoSuchObjectLockConfiguration": 404,
    "NoSuchPublicAccessBlockConfiguration": 404,
    "NoSuchTagSet": 404,
    "NoSuchUpload": 404,
    "NoSuchVersion": 404,
    "NoSuchWebsiteConfiguration": 404,
    "NotImplemented": 501,
    "ObjectLockConfigurationNotFoundError": 404,
    "OperationAborted": 409,
    "OwnershipControlsNotFoundError": 404,
    "PreconditionFailed": 412,
    "ReplicationConfigurationNotFoundError": 404,
    "RequestTimeTooSkewed": 403,
    "ServerSideEncryptionConfigurationNotFoundError": 404,
    "ServiceUnavailable": 503,
    "SignatureDoesNotMatch": 403,
    "SlowDown": 503,
    "StorageFull": 507,  # not Amazon's, whose stores are never full: clients would retry Amazon's 5xx codes
    "XAmzContentSHA256Mismatch": 400,
}


class S3Error(Exception):
    """The gateway refuses a request. `code` is a key of STATUS. `details` are further elements of the answer."""

    def __init__(
        self, code: str, message: str, *, headers: tuple[Header, ...] = (), details: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.headers = headers
        self.details = details

    @property
    def status(self) -> int:
        """The HTTP status of its code."""
        return STATUS[self.code]


def invalid_argument(message: str) -> S3Error:
    """The error of an invalid parameter or header: 400."""
    return S3Error("InvalidArgument", message)


def not_implemented(message: str) -> S3Error:
    """The error of something that this gateway does not support: 501."""
    return S3Error("NotImplemented", message)
