"""Headers that the gateway cannot honour. It refuses them by name: to ignore one would break a promise. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakebed_server.s3.vocabulary import OWNER_ID, S3Error, not_implemented

_ENCRYPTION: Final = (b"x-amz-server-side-encryption", b"x-amz-copy-source-server-side-encryption")
_REFUSED: Final = (
    b"x-amz-object-lock-",
    b"x-amz-tagging",
    b"x-amz-website-redirect",
    b"x-amz-write-offset-bytes",  # appends to an object, where a plain write would replace it
)
_PRIVATE: Final = frozenset((b"private", b"bucket-owner-full-control"))
_READABLE_CLASSES: Final = frozenset(
    b"STANDARD REDUCED_REDUNDANCY STANDARD_IA ONEZONE_IA INTELLIGENT_TIERING GLACIER_IR EXPRESS_ONEZONE".split()
)
"""Classes of objects that can be read at any time, as all objects here. They only differ in price."""
_OWNERS: Final = (b"x-amz-expected-bucket-owner", b"x-amz-source-expected-bucket-owner")
_ONLY: Final[Mapping[bytes, bytes]] = {
    b"x-amz-object-ownership": b"BucketOwnerEnforced",
    b"x-amz-bucket-object-lock-enabled": b"false",
}
"""The one value of a header that describes what every bucket is."""


def refuse_unsupported(headers: Mapping[bytes, bytes]) -> None:
    """Raises S3Error, which names the header. The headers without a value must be gone (`S3Call.read_payload`)."""
    for name, value in headers.items():
        if name.startswith(b"x-amz-"):
            _refuse(name, name.decode("latin-1"), value.strip())


def _refuse(name: bytes, text: str, value: bytes) -> None:
    if name.startswith(_ENCRYPTION):
        raise not_implemented(f"{text}: the object store handles encryption: configure it there, and omit this header.")
    if name.startswith(_REFUSED) or (name in _ONLY and value.lower() != _ONLY[name].lower()):
        raise not_implemented(f"{text} is not supported: leave it out.")
    if name.startswith(b"x-amz-grant-") or (name == b"x-amz-acl" and value not in _PRIVATE):
        raise S3Error("AccessControlListNotSupported", f"The bucket does not allow ACLs ({text})")
    if name == b"x-amz-storage-class" and value not in _READABLE_CLASSES:
        raise S3Error(
            "InvalidStorageClass",
            f"{text}: the storage class you specified is not valid here. The class of objects is a setting of their "
            "store: leave the header out.",
        )
    if name in _OWNERS and value != OWNER_ID.encode():
        raise S3Error("AccessDenied", f"{text}: every bucket of this server has the owner {OWNER_ID}.")
