# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Conflict")


@_attrs_define
class Conflict:
    """A path that both sides changed. If a side does not have the path, its field is absent.

    Attributes:
        path (str): The path.
        base (str | Unset): The checksum in the common ancestor, or the base of the workspace.
        ours (str | Unset): The checksum in the destination branch.
        theirs (str | Unset): The checksum in the source or in the workspace.
    """

    path: str
    base: str | Unset = UNSET
    ours: str | Unset = UNSET
    theirs: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        path = self.path

        base = self.base

        ours = self.ours

        theirs = self.theirs

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
            }
        )
        if base is not UNSET:
            field_dict["base"] = base
        if ours is not UNSET:
            field_dict["ours"] = ours
        if theirs is not UNSET:
            field_dict["theirs"] = theirs

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        path = d.pop("path")

        base = d.pop("base", UNSET)

        ours = d.pop("ours", UNSET)

        theirs = d.pop("theirs", UNSET)

        conflict = cls(
            path=path,
            base=base,
            ours=ours,
            theirs=theirs,
        )

        conflict.additional_properties = d
        return conflict

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
