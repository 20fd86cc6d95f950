# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.workspace_object import WorkspaceObject


T = TypeVar("T", bound="ObjectRegistration")


@_attrs_define
class ObjectRegistration:
    """Objects to register and paths to delete.

    Attributes:
        objects (list[WorkspaceObject] | Unset): The objects.
        deletes (list[str] | Unset): Paths to delete.
    """

    objects: list[WorkspaceObject] | Unset = UNSET
    deletes: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        objects: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.objects, Unset):
            objects = []
            for objects_item_data in self.objects:
                objects_item = objects_item_data.to_dict()
                objects.append(objects_item)

        deletes: list[str] | Unset = UNSET
        if not isinstance(self.deletes, Unset):
            deletes = self.deletes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if objects is not UNSET:
            field_dict["objects"] = objects
        if deletes is not UNSET:
            field_dict["deletes"] = deletes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.workspace_object import WorkspaceObject

        d = dict(src_dict)
        _objects = d.pop("objects", UNSET)
        objects: list[WorkspaceObject] | Unset = UNSET
        if _objects is not UNSET:
            objects = []
            for objects_item_data in _objects:
                objects_item = WorkspaceObject.from_dict(objects_item_data)

                objects.append(objects_item)

        deletes = cast(list[str], d.pop("deletes", UNSET))

        object_registration = cls(
            objects=objects,
            deletes=deletes,
        )

        object_registration.additional_properties = d
        return object_registration

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
