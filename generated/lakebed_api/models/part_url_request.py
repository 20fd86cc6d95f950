# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PartUrlRequest")


@_attrs_define
class PartUrlRequest:
    """Parts to write.

    Attributes:
        physical_address (str): The physical address of the upload.
        upload_id (str): The id of the upload in the store.
        parts (list[int]): The numbers of the parts.
    """

    physical_address: str
    upload_id: str
    parts: list[int]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        physical_address = self.physical_address

        upload_id = self.upload_id

        parts = self.parts

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "physical_address": physical_address,
                "upload_id": upload_id,
                "parts": parts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        physical_address = d.pop("physical_address")

        upload_id = d.pop("upload_id")

        parts = cast(list[int], d.pop("parts"))

        part_url_request = cls(
            physical_address=physical_address,
            upload_id=upload_id,
            parts=parts,
        )

        part_url_request.additional_properties = d
        return part_url_request

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
