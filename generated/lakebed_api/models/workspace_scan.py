# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.scan_refusal import ScanRefusal


T = TypeVar("T", bound="WorkspaceScan")


@_attrs_define
class WorkspaceScan:
    """The result of a scan.

    Attributes:
        registered (int): The number of new or changed objects that the server registered.
        vanished (int): The number of objects that no longer exist.
        unchanged (int): The number of unchanged objects.
        refused (int | Unset): The number of files that the server did not register, such as links.
        refusals (list[ScanRefusal] | Unset): The first files that the server did not register.
    """

    registered: int
    vanished: int
    unchanged: int
    refused: int | Unset = UNSET
    refusals: list[ScanRefusal] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        registered = self.registered

        vanished = self.vanished

        unchanged = self.unchanged

        refused = self.refused

        refusals: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.refusals, Unset):
            refusals = []
            for refusals_item_data in self.refusals:
                refusals_item = refusals_item_data.to_dict()
                refusals.append(refusals_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "registered": registered,
                "vanished": vanished,
                "unchanged": unchanged,
            }
        )
        if refused is not UNSET:
            field_dict["refused"] = refused
        if refusals is not UNSET:
            field_dict["refusals"] = refusals

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.scan_refusal import ScanRefusal

        d = dict(src_dict)
        registered = d.pop("registered")

        vanished = d.pop("vanished")

        unchanged = d.pop("unchanged")

        refused = d.pop("refused", UNSET)

        _refusals = d.pop("refusals", UNSET)
        refusals: list[ScanRefusal] | Unset = UNSET
        if _refusals is not UNSET:
            refusals = []
            for refusals_item_data in _refusals:
                refusals_item = ScanRefusal.from_dict(refusals_item_data)

                refusals.append(refusals_item)

        workspace_scan = cls(
            registered=registered,
            vanished=vanished,
            unchanged=unchanged,
            refused=refused,
            refusals=refusals,
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
