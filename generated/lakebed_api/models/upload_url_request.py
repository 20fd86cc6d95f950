# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="UploadUrlRequest")


@_attrs_define
class UploadUrlRequest:
    """Objects to write.

    Attributes:
        paths (list[str]): The paths of the objects.
        size_bytes (int | Unset): The size in bytes of the largest object. The response is 501 if it is more than 5 GiB.
        content_type (str | Unset): The content type of the objects.
    """

    paths: list[str]
    size_bytes: int | Unset = UNSET
    content_type: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        paths = self.paths

        size_bytes = self.size_bytes

        content_type = self.content_type

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "paths": paths,
            }
        )
        if size_bytes is not UNSET:
            field_dict["size_bytes"] = size_bytes
        if content_type is not UNSET:
            field_dict["content_type"] = content_type

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        paths = cast(list[str], d.pop("paths"))

        size_bytes = d.pop("size_bytes", UNSET)

        content_type = d.pop("content_type", UNSET)

        upload_url_request = cls(
            paths=paths,
            size_bytes=size_bytes,
            content_type=content_type,
        )

        upload_url_request.additional_properties = d
        return upload_url_request

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
