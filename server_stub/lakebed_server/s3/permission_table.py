"""The permissions that each S3 operation needs. The gateway refuses to start without a row for an operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from lakebed_auth import AllOf, Need, arn
from lakebed_auth.actions import Fs

from lakebed_server.access.asked import NOTHING, Asked, Row, Source
from lakebed_server.s3.operations.copying import SOURCE, source_of
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.vocabulary import StartError


def _by_handler(call: S3Call) -> Asked:
    """The handler checks each bucket or key, because its answer has a row for each."""
    return Asked(branch=call.ref)


def _bucket(action: str) -> Row:
    return Row(lambda call: Asked(Need(action, arn.repository(call.repo))), (action,))


def _create_bucket(call: S3Call) -> Asked:
    namespace = arn.namespace(f"{call.config.namespace.rstrip('/')}/{call.repo}")
    return Asked(
        AllOf(Need(Fs.CREATE_REPOSITORY, arn.repository(call.repo)), Need(Fs.ATTACH_STORAGE_NAMESPACE, namespace))
    )


def _list(call: S3Call) -> Asked:
    """A listing without a ref shows the branches as directories."""
    ref, slash, _ = call.query.get("prefix", "").partition("/")
    if call.address.bound:
        ref, slash = call.ref, "/"
    shows_branches = not slash and call.query.get("delimiter") == "/"
    action = Fs.LIST_BRANCHES if shows_branches else Fs.LIST_OBJECTS
    return Asked(Need(action, arn.repository(call.repo)), ref=ref if slash else "")


def _read(call: S3Call) -> Asked:
    return Asked(Need(Fs.READ_OBJECT, arn.object_(call.repo, call.path)), ref=call.ref)


def _write(call: S3Call) -> Asked:
    return Asked(Need(Fs.WRITE_OBJECT, arn.object_(call.repo, call.path)), branch=call.ref)


def _copy(call: S3Call) -> Asked:
    """A write that may have its content from another object, also of another repository."""
    if SOURCE not in call.headers:
        return _write(call)
    source = source_of(call)
    return _write(call)._replace(source=Source(source.repo, source.ref, source.path))


def _delete(call: S3Call) -> Asked:
    return Asked(Need(Fs.DELETE_OBJECT, arn.object_(call.repo, call.path)), branch=call.ref)


_NOTHING: Final = Row(lambda call: NOTHING)
_LISTED: Final = Row(_list, (Fs.LIST_OBJECTS, Fs.LIST_BRANCHES))
_READ: Final = Row(_read, (Fs.READ_OBJECT,))
_WRITTEN: Final = Row(_write, (Fs.WRITE_OBJECT,))
_COPIED: Final = Row(_copy)

PERMISSIONS: Final[Mapping[str, Row]] = {
    "ListBuckets": _NOTHING,
    "HeadBucket": _bucket(Fs.READ_REPOSITORY),
    "GetBucketLocation": _bucket(Fs.READ_REPOSITORY),
    "CreateBucket": Row(_create_bucket),
    "DeleteBucket": _bucket(Fs.DELETE_REPOSITORY),
    "ListObjects": _LISTED,
    "ListObjectsV2": _LISTED,
    "ListObjectVersions": _LISTED,
    "ListMultipartUploads": _LISTED,
    "GetObject": _READ,
    "HeadObject": _READ,
    "GetObjectAttributes": _READ,
    "PutObject": _WRITTEN,
    "PostObject": _WRITTEN,
    "CopyObject": _COPIED,
    "DeleteObject": Row(_delete, (Fs.DELETE_OBJECT,)),
    "DeleteObjects": Row(_by_handler),
    "CreateMultipartUpload": _WRITTEN,
    "UploadPart": _COPIED,
    "ListParts": _WRITTEN,
    "CompleteMultipartUpload": _WRITTEN,
    "AbortMultipartUpload": _WRITTEN,
}
"""The row of each operation by Amazon's name. Fixed answers about buckets and objects: `_FIXED`."""

_FIXED: Final[Mapping[str, Row]] = {
    "bucket": _bucket(Fs.READ_REPOSITORY),
    "object": Row(lambda call: _read(call) if call.path else NOTHING),
}
"""The row of subresources that this server does not store (`s3.operations.canned`), by level."""


def row(name: str, call: S3Call) -> Row:
    """The row of an operation, by its name and the level of its address."""
    return PERMISSIONS.get(name) or _FIXED[call.address.level]


def check(names: Iterable[str]) -> None:
    """Raise StartError unless each operation has a row. Names of fixed answers contain a colon."""
    missing = {name for name in names if ":" not in name} - PERMISSIONS.keys()
    if missing:
        raise StartError(f"S3 operations without permissions: {', '.join(sorted(missing))}; see s3.permission_table")
