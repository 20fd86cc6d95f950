# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.object_user_metadata import ObjectUserMetadata


T = TypeVar("T", bound="WorkspaceObject")


@_attrs_define
class WorkspaceObject:
    """An object that is already in the store.

    Attributes:
        path (str): The path of the object, 1 to 1024 bytes.
        physical_address (str): The physical address of the object: `storage_prefix` and a suffix.
        checksum (str): The MD5 in hexadecimal, or the ETag of the store.
        size_bytes (int): The size in bytes.
        mtime (int | Unset): Time of the last write (Unix seconds). The current time when absent.
        content_type (str | Unset): The content type. `application/octet-stream` when absent.
        metadata (ObjectUserMetadata | Unset): Keys and values of an object.
    """

    path: str
    physical_address: str
    checksum: str
    size_bytes: int
    mtime: int | Unset = UNSET
    content_type: str | Unset = UNSET
    metadata: ObjectUserMetadata | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        path = self.path

        physical_address = self.physical_address

        checksum = self.checksum

        size_bytes = self.size_bytes

        mtime = self.mtime

        content_type = self.content_type

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
                "physical_address": physical_address,
                "checksum": checksum,
                "size_bytes": size_bytes,
            }
        )
        if mtime is not UNSET:
            field_dict["mtime"] = mtime
        if content_type is not UNSET:
            field_dict["content_type"] = content_type
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.object_user_metadata import ObjectUserMetadata

        d = dict(src_dict)
        path = d.pop("path")

        physical_address = d.pop("physical_address")

        checksum = d.pop("checksum")

        size_bytes = d.pop("size_bytes")

        mtime = d.pop("mtime", UNSET)

        content_type = d.pop("content_type", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: ObjectUserMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = ObjectUserMetadata.from_dict(_metadata)

        workspace_object = cls(
            path=path,
            physical_address=physical_address,
            checksum=checksum,
            size_bytes=size_bytes,
            mtime=mtime,
            content_type=content_type,
            metadata=metadata,
        )

        workspace_object.additional_properties = d
        return workspace_object

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
