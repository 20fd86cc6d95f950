"""Calls about objects that are already in a store, and about the properties of stored objects."""

from __future__ import annotations

from collections.abc import Mapping

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, reads
from lakebed._values.wire import Call, Subject
from lakebed.model import ObjectInfo, StagedAddress


def address(repository: str, branch: str, path: str, *, sign: bool) -> Call[StagedAddress]:
    """Return an address to write the content of an object to. Each call returns a new one."""
    from lakebed_api.api.objects import get_physical_address
    from lakebed_api.models import StagingLocation

    def read(given: StagingLocation) -> StagedAddress:
        expires = given.presigned_url_expiry
        return StagedAddress(
            path,
            convert.text(given.physical_address),
            convert.text(given.presigned_url, ""),
            convert.moment(expires) if isinstance(expires, int) else None,
        )

    kwargs = get_physical_address._get_kwargs(repository, branch, path=path, **clean(presign=sign or None))
    parse = reads(StagingLocation.from_dict, read)
    return call("getPhysicalAddress", kwargs, parse, Subject(repository, branch, path))


def storage_class(repository: str, ref: str, path: str) -> Call[str | None]:
    """Return the storage class of an object."""
    from lakebed_api.api.objects import get_underlying_properties
    from lakebed_api.models import UnderlyingObjectProperties

    kwargs = get_underlying_properties._get_kwargs(repository, ref, path=path)
    parse = reads(UnderlyingObjectProperties.from_dict, lambda found: convert.text(found.storage_class, "") or None)
    return call("getUnderlyingProperties", kwargs, parse, Subject(repository, ref, path))


def link(
    repository: str,
    branch: str,
    path: str,
    physical_address: str,
    checksum: str,
    size: int,
    *,
    content_type: str,
    metadata: Mapping[str, str],
) -> Call[ObjectInfo]:
    """Add an object that is already in a store to a branch. A repeat has no effect."""
    from lakebed_api.api.objects import link_physical_address
    from lakebed_api.models import ObjectStats, ObjectUserMetadata, StagingLocation, StagingMetadata
    from lakebed_api.types import UNSET

    body = StagingMetadata(
        staging=StagingLocation(physical_address=physical_address),
        checksum=checksum,
        size_bytes=size,
        content_type=content_type or UNSET,
        user_metadata=ObjectUserMetadata.from_dict(metadata),
    )
    return call(
        "linkPhysicalAddress",
        link_physical_address._get_kwargs(repository, branch, body=body, path=path),
        reads(ObjectStats.from_dict, convert.stored),
        Subject(repository, branch, path),
        repeat="safe",
    )


def replace_metadata(repository: str, branch: str, path: str, metadata: Mapping[str, str]) -> Call[None]:
    """Replace the metadata of an object. A repeat has no effect."""
    from lakebed_api.api.objects import update_object_user_metadata
    from lakebed_api.models import ObjectUserMetadata, UpdateObjectUserMetadata

    body = UpdateObjectUserMetadata(set_=ObjectUserMetadata.from_dict(metadata))
    kwargs = update_object_user_metadata._get_kwargs(repository, branch, body=body, path=path)
    subject = Subject(repository, branch, path)
    return call("updateObjectUserMetadata", kwargs, calls.nothing, subject, success=204, repeat="safe")
