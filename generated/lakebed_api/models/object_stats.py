# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.object_user_metadata import ObjectUserMetadata


T = TypeVar("T", bound="ObjectStats")


@_attrs_define
class ObjectStats:
    """An object, or a common prefix of several.

    Attributes:
        path (str): The path or the common prefix.
        path_type (str): Whether the path is an object or a prefix.
        physical_address (str): The physical address of the content. Empty for a prefix.
        checksum (str): The checksum of the content. For objects that were uploaded through the server, the MD5 in
            hexadecimal. Empty for a prefix.
        mtime (int): Time of the last write (Unix seconds). 0 for a prefix.
        physical_address_expiry (int | Unset): Expiration time of the presigned URL (Unix seconds).
        size_bytes (int | Unset): The size in bytes. Absent for a prefix.
        metadata (ObjectUserMetadata | Unset): Keys and values of an object.
        content_type (str | Unset): The content type.
    """

    path: str
    path_type: str
    physical_address: str
    checksum: str
    mtime: int
    physical_address_expiry: int | Unset = UNSET
    size_bytes: int | Unset = UNSET
    metadata: ObjectUserMetadata | Unset = UNSET
    content_type: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        path = self.path

        path_type = self.path_type

        physical_address = self.physical_address

        checksum = self.checksum

        mtime = self.mtime

        physical_address_expiry = self.physical_address_expiry

        size_bytes = self.size_bytes

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        content_type = self.content_type

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
                "path_type": path_type,
                "physical_address": physical_address,
                "checksum": checksum,
                "mtime": mtime,
            }
        )
        if physical_address_expiry is not UNSET:
            field_dict["physical_address_expiry"] = physical_address_expiry
        if size_bytes is not UNSET:
            field_dict["size_bytes"] = size_bytes
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if content_type is not UNSET:
            field_dict["content_type"] = content_type

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.object_user_metadata import ObjectUserMetadata

        d = dict(src_dict)
        path = d.pop("path")

        path_type = d.pop("path_type")

        physical_address = d.pop("physical_address")

        checksum = d.pop("checksum")

        mtime = d.pop("mtime")

        physical_address_expiry = d.pop("physical_address_expiry", UNSET)

        size_bytes = d.pop("size_bytes", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: ObjectUserMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = ObjectUserMetadata.from_dict(_metadata)

        content_type = d.pop("content_type", UNSET)

        object_stats = cls(
            path=path,
            path_type=path_type,
            physical_address=physical_address,
            checksum=checksum,
            mtime=mtime,
            physical_address_expiry=physical_address_expiry,
            size_bytes=size_bytes,
            metadata=metadata,
            content_type=content_type,
        )

        object_stats.additional_properties = d
        return object_stats

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
