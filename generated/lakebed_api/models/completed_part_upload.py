# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CompletedPartUpload")


@_attrs_define
class CompletedPartUpload:
    """An object that was written in parts.

    Attributes:
        physical_address (str): The physical address to register the object with.
        etag (str): The ETag of the object in the store.
        size_bytes (int): The size in bytes.
    """

    physical_address: str
    etag: str
    size_bytes: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        physical_address = self.physical_address

        etag = self.etag

        size_bytes = self.size_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "physical_address": physical_address,
                "etag": etag,
                "size_bytes": size_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        physical_address = d.pop("physical_address")

        etag = d.pop("etag")

        size_bytes = d.pop("size_bytes")

        completed_part_upload = cls(
            physical_address=physical_address,
            etag=etag,
            size_bytes=size_bytes,
        )

        completed_part_upload.additional_properties = d
        return completed_part_upload

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
