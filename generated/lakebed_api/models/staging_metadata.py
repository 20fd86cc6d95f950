# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.object_user_metadata import ObjectUserMetadata
    from ..models.staging_location import StagingLocation


T = TypeVar("T", bound="StagingMetadata")


@_attrs_define
class StagingMetadata:
    """An object that was written to the store.

    Attributes:
        staging (StagingLocation): An address to write the content of an object to.
        checksum (str): The MD5 in hexadecimal, or the ETag of the store. The server ignores quotes.
        size_bytes (int): The size in bytes.
        user_metadata (ObjectUserMetadata | Unset): Keys and values of an object.
        content_type (str | Unset): The content type. `application/octet-stream` when absent.
        mtime (int | Unset): Time of the last write (Unix seconds). The current time when absent.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    staging: StagingLocation
    checksum: str
    size_bytes: int
    user_metadata: ObjectUserMetadata | Unset = UNSET
    content_type: str | Unset = UNSET
    mtime: int | Unset = UNSET
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        staging = self.staging.to_dict()

        checksum = self.checksum

        size_bytes = self.size_bytes

        user_metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.user_metadata, Unset):
            user_metadata = self.user_metadata.to_dict()

        content_type = self.content_type

        mtime = self.mtime

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "staging": staging,
                "checksum": checksum,
                "size_bytes": size_bytes,
            }
        )
        if user_metadata is not UNSET:
            field_dict["user_metadata"] = user_metadata
        if content_type is not UNSET:
            field_dict["content_type"] = content_type
        if mtime is not UNSET:
            field_dict["mtime"] = mtime
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.object_user_metadata import ObjectUserMetadata
        from ..models.staging_location import StagingLocation

        d = dict(src_dict)
        staging = StagingLocation.from_dict(d.pop("staging"))

        checksum = d.pop("checksum")

        size_bytes = d.pop("size_bytes")

        _user_metadata = d.pop("user_metadata", UNSET)
        user_metadata: ObjectUserMetadata | Unset
        if isinstance(_user_metadata, Unset):
            user_metadata = UNSET
        else:
            user_metadata = ObjectUserMetadata.from_dict(_user_metadata)

        content_type = d.pop("content_type", UNSET)

        mtime = d.pop("mtime", UNSET)

        force = d.pop("force", UNSET)

        staging_metadata = cls(
            staging=staging,
            checksum=checksum,
            size_bytes=size_bytes,
            user_metadata=user_metadata,
            content_type=content_type,
            mtime=mtime,
            force=force,
        )

        staging_metadata.additional_properties = d
        return staging_metadata

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
