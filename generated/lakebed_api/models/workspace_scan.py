# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WorkspaceScan")


@_attrs_define
class WorkspaceScan:
    """What a scan did.

    Attributes:
        registered (int): Objects that were new or had changed.
        vanished (int): Objects that are there no more.
        unchanged (int): Objects that are as they were.
    """

    registered: int
    vanished: int
    unchanged: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        registered = self.registered

        vanished = self.vanished

        unchanged = self.unchanged

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "registered": registered,
                "vanished": vanished,
                "unchanged": unchanged,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        registered = d.pop("registered")

        vanished = d.pop("vanished")

        unchanged = d.pop("unchanged")

        workspace_scan = cls(
            registered=registered,
            vanished=vanished,
            unchanged=unchanged,
        )

        workspace_scan.additional_properties = d
        return workspace_scan

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
