# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ObjectHead")


@_attrs_define
class ObjectHead:
    """An object in the response of getObjects.

    Attributes:
        path (str): The path.
        size_bytes (int): The size of the content in bytes.
        checksum (str): The checksum of the content. It is also the entity tag.
        mtime (int): The time of the last write (Unix seconds).
        content_type (str): The content type.
        omitted (bool | Unset): The object is larger than `max_object_size`. No content follows.
    """

    path: str
    size_bytes: int
    checksum: str
    mtime: int
    content_type: str
    omitted: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        path = self.path

        size_bytes = self.size_bytes

        checksum = self.checksum

        mtime = self.mtime

        content_type = self.content_type

        omitted = self.omitted

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
                "size_bytes": size_bytes,
                "checksum": checksum,
                "mtime": mtime,
                "content_type": content_type,
            }
        )
        if omitted is not UNSET:
            field_dict["omitted"] = omitted

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        path = d.pop("path")

        size_bytes = d.pop("size_bytes")

        checksum = d.pop("checksum")

        mtime = d.pop("mtime")

        content_type = d.pop("content_type")

        omitted = d.pop("omitted", UNSET)

        object_head = cls(
            path=path,
            size_bytes=size_bytes,
            checksum=checksum,
            mtime=mtime,
            content_type=content_type,
            omitted=omitted,
        )

        object_head.additional_properties = d
        return object_head

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
