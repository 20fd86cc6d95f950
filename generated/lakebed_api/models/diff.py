# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.diff_object_stat import DiffObjectStat


T = TypeVar("T", bound="Diff")


@_attrs_define
class Diff:
    """One path that differs.

    Attributes:
        type_ (str): The kind of change; `prefix_changed` is a change of a group of paths.
        path (str): The path or the common prefix.
        path_type (str): Whether the path is an object or a prefix.
        size_bytes (int | Unset): The size on the right side. For a removed path, the size on the left side, or 0 in
            `diffBranch`. Absent for a prefix.
        former_size_bytes (int | Unset): The former size of a removed object. Absent for other changes and for a prefix.
        right (DiffObjectStat | Unset): The object on the right side of a changed path.
    """

    type_: str
    path: str
    path_type: str
    size_bytes: int | Unset = UNSET
    former_size_bytes: int | Unset = UNSET
    right: DiffObjectStat | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        path = self.path

        path_type = self.path_type

        size_bytes = self.size_bytes

        former_size_bytes = self.former_size_bytes

        right: dict[str, Any] | Unset = UNSET
        if not isinstance(self.right, Unset):
            right = self.right.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "path": path,
                "path_type": path_type,
            }
        )
        if size_bytes is not UNSET:
            field_dict["size_bytes"] = size_bytes
        if former_size_bytes is not UNSET:
            field_dict["former_size_bytes"] = former_size_bytes
        if right is not UNSET:
            field_dict["right"] = right

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.diff_object_stat import DiffObjectStat

        d = dict(src_dict)
        type_ = d.pop("type")

        path = d.pop("path")

        path_type = d.pop("path_type")

        size_bytes = d.pop("size_bytes", UNSET)

        former_size_bytes = d.pop("former_size_bytes", UNSET)

        _right = d.pop("right", UNSET)
        right: DiffObjectStat | Unset
        if isinstance(_right, Unset):
            right = UNSET
        else:
            right = DiffObjectStat.from_dict(_right)

        diff = cls(
            type_=type_,
            path=path,
            path_type=path_type,
            size_bytes=size_bytes,
            former_size_bytes=former_size_bytes,
            right=right,
        )

        diff.additional_properties = d
        return diff

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
