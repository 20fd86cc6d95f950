# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.import_type import ImportType

T = TypeVar("T", bound="ImportLocation")


@_attrs_define
class ImportLocation:
    """Objects to import, and their destination.

    Attributes:
        type_ (ImportType): `common_prefix` for a folder with all objects below it, `object` for one object.
        path (str): The address of the object, or the prefix of keys such as `s3://bucket/folder/`. The paths in the
            destination begin after the last slash of the prefix.
        destination (str): The path of the imported object, or the folder of the imported objects.
    """

    type_: ImportType
    path: str
    destination: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        path = self.path

        destination = self.destination

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "path": path,
                "destination": destination,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = ImportType(d.pop("type"))

        path = d.pop("path")

        destination = d.pop("destination")

        import_location = cls(
            type_=type_,
            path=path,
            destination=destination,
        )

        import_location.additional_properties = d
        return import_location

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
