# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BranchCreation")


@_attrs_define
class BranchCreation:
    """A branch to create.

    Attributes:
        name (str): The name: letters, digits, underscores and hyphens.
        source (str): The reference to start at.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
        hidden (bool | Unset): Hide the branch from ordinary listings. Default: False.
    """

    name: str
    source: str
    force: bool | Unset = False
    hidden: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        source = self.source

        force = self.force

        hidden = self.hidden

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "source": source,
            }
        )
        if force is not UNSET:
            field_dict["force"] = force
        if hidden is not UNSET:
            field_dict["hidden"] = hidden

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        source = d.pop("source")

        force = d.pop("force", UNSET)

        hidden = d.pop("hidden", UNSET)

        branch_creation = cls(
            name=name,
            source=source,
            force=force,
            hidden=hidden,
        )

        branch_creation.additional_properties = d
        return branch_creation

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
