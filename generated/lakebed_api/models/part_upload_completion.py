# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.written_part import WrittenPart


T = TypeVar("T", bound="PartUploadCompletion")


@_attrs_define
class PartUploadCompletion:
    """A multipart upload to complete.

    Attributes:
        physical_address (str): The physical address of the upload.
        upload_id (str): The id of the upload in the store.
        size_bytes (int): The size of the whole object in bytes.
        parts (list[WrittenPart]): All parts, ordered by number.
    """

    physical_address: str
    upload_id: str
    size_bytes: int
    parts: list[WrittenPart]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        physical_address = self.physical_address

        upload_id = self.upload_id

        size_bytes = self.size_bytes

        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "physical_address": physical_address,
                "upload_id": upload_id,
                "size_bytes": size_bytes,
                "parts": parts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.written_part import WrittenPart

        d = dict(src_dict)
        physical_address = d.pop("physical_address")

        upload_id = d.pop("upload_id")

        size_bytes = d.pop("size_bytes")

        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = WrittenPart.from_dict(parts_item_data)

            parts.append(parts_item)

        part_upload_completion = cls(
            physical_address=physical_address,
            upload_id=upload_id,
            size_bytes=size_bytes,
            parts=parts,
        )

        part_upload_completion.additional_properties = d
        return part_upload_completion

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
