# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="TableDiffRow")


@_attrs_define
class TableDiffRow:
    """A row that was added, removed or changed.

    Attributes:
        change (str): What happened to the row.
        columns (list[str] | Unset): For a changed row, the columns that differ.
        before (list[Any] | Unset): The old cells. Absent for an added row.
        after (list[Any] | Unset): The new cells. Absent for a removed row.
    """

    change: str
    columns: list[str] | Unset = UNSET
    before: list[Any] | Unset = UNSET
    after: list[Any] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        change = self.change

        columns: list[str] | Unset = UNSET
        if not isinstance(self.columns, Unset):
            columns = self.columns

        before: list[Any] | Unset = UNSET
        if not isinstance(self.before, Unset):
            before = self.before

        after: list[Any] | Unset = UNSET
        if not isinstance(self.after, Unset):
            after = self.after

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "change": change,
            }
        )
        if columns is not UNSET:
            field_dict["columns"] = columns
        if before is not UNSET:
            field_dict["before"] = before
        if after is not UNSET:
            field_dict["after"] = after

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        change = d.pop("change")

        columns = cast(list[str], d.pop("columns", UNSET))

        before = cast(list[Any], d.pop("before", UNSET))

        after = cast(list[Any], d.pop("after", UNSET))

        table_diff_row = cls(
            change=change,
            columns=columns,
            before=before,
            after=after,
        )

        table_diff_row.additional_properties = d
        return table_diff_row

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
