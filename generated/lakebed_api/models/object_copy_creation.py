# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ObjectCopyCreation")


@_attrs_define
class ObjectCopyCreation:
    """What to copy.

    Attributes:
        src_path (str): The path to copy.
        src_ref (str | Unset): The reference to copy from. When absent or empty, the branch itself.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
        shallow (bool | Unset): Share the content instead of copying it. Not supported: the response is 501. Default:
            False.
    """

    src_path: str
    src_ref: str | Unset = UNSET
    force: bool | Unset = False
    shallow: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        src_path = self.src_path

        src_ref = self.src_ref

        force = self.force

        shallow = self.shallow

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "src_path": src_path,
            }
        )
        if src_ref is not UNSET:
            field_dict["src_ref"] = src_ref
        if force is not UNSET:
            field_dict["force"] = force
        if shallow is not UNSET:
            field_dict["shallow"] = shallow

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        src_path = d.pop("src_path")

        src_ref = d.pop("src_ref", UNSET)

        force = d.pop("force", UNSET)

        shallow = d.pop("shallow", UNSET)

        object_copy_creation = cls(
            src_path=src_path,
            src_ref=src_ref,
            force=force,
            shallow=shallow,
        )

        object_copy_creation.additional_properties = d
        return object_copy_creation

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
