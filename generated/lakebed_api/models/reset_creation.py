# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reset_type import ResetType
from ..types import UNSET, Unset

T = TypeVar("T", bound="ResetCreation")


@_attrs_define
class ResetCreation:
    """Which uncommitted changes to discard.

    Attributes:
        type_ (ResetType): `object` for one path, `common_prefix` for all paths below a prefix, `reset` for all changes.
        path (str | Unset): The path or the prefix. `reset` ignores it.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    type_: ResetType
    path: str | Unset = UNSET
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        path = self.path

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
            }
        )
        if path is not UNSET:
            field_dict["path"] = path
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = ResetType(d.pop("type"))

        path = d.pop("path", UNSET)

        force = d.pop("force", UNSET)

        reset_creation = cls(
            type_=type_,
            path=path,
            force=force,
        )

        reset_creation.additional_properties = d
        return reset_creation

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
