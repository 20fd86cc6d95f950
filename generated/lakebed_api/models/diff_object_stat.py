# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.object_user_metadata import ObjectUserMetadata


T = TypeVar("T", bound="DiffObjectStat")


@_attrs_define
class DiffObjectStat:
    """The object on the right side of a changed path.

    Attributes:
        checksum (str): The checksum of the content.
        mtime (int): Time of the last write (Unix seconds).
        content_type (str): The content type.
        metadata (ObjectUserMetadata | Unset): Keys and values of an object.
    """

    checksum: str
    mtime: int
    content_type: str
    metadata: ObjectUserMetadata | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        checksum = self.checksum

        mtime = self.mtime

        content_type = self.content_type

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "checksum": checksum,
                "mtime": mtime,
                "content_type": content_type,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.object_user_metadata import ObjectUserMetadata

        d = dict(src_dict)
        checksum = d.pop("checksum")

        mtime = d.pop("mtime")

        content_type = d.pop("content_type")

        _metadata = d.pop("metadata", UNSET)
        metadata: ObjectUserMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = ObjectUserMetadata.from_dict(_metadata)

        diff_object_stat = cls(
            checksum=checksum,
            mtime=mtime,
            content_type=content_type,
            metadata=metadata,
        )

        diff_object_stat.additional_properties = d
        return diff_object_stat

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
