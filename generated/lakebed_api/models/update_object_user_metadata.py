# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.object_user_metadata import ObjectUserMetadata


T = TypeVar("T", bound="UpdateObjectUserMetadata")


@_attrs_define
class UpdateObjectUserMetadata:
    """The new metadata of an object.

    Attributes:
        set_ (ObjectUserMetadata): Keys and values of an object.
    """

    set_: ObjectUserMetadata
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        set_ = self.set_.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "set": set_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.object_user_metadata import ObjectUserMetadata

        d = dict(src_dict)
        set_ = ObjectUserMetadata.from_dict(d.pop("set"))

        update_object_user_metadata = cls(
            set_=set_,
        )

        update_object_user_metadata.additional_properties = d
        return update_object_user_metadata

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
