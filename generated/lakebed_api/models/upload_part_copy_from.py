# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.copy_part_source import CopyPartSource


T = TypeVar("T", bound="UploadPartCopyFrom")


@_attrs_define
class UploadPartCopyFrom:
    """A part to copy from an object.

    Attributes:
        physical_address (str): The physical address of the upload.
        copy_source (CopyPartSource): An object to copy from.
    """

    physical_address: str
    copy_source: CopyPartSource
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        physical_address = self.physical_address

        copy_source = self.copy_source.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "physical_address": physical_address,
                "copy_source": copy_source,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.copy_part_source import CopyPartSource

        d = dict(src_dict)
        physical_address = d.pop("physical_address")

        copy_source = CopyPartSource.from_dict(d.pop("copy_source"))

        upload_part_copy_from = cls(
            physical_address=physical_address,
            copy_source=copy_source,
        )

        upload_part_copy_from.additional_properties = d
        return upload_part_copy_from

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
