# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.statement import Statement


T = TypeVar("T", bound="TemporaryKeyCreation")


@_attrs_define
class TemporaryKeyCreation:
    """A temporary access key to create.

    Attributes:
        duration (int | Unset): Seconds until the key expires. 3600 when absent.
        statement (list[Statement] | Unset): A policy of at most 2 KiB that restricts the rights of the key.
    """

    duration: int | Unset = UNSET
    statement: list[Statement] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        duration = self.duration

        statement: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.statement, Unset):
            statement = []
            for statement_item_data in self.statement:
                statement_item = statement_item_data.to_dict()
                statement.append(statement_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if duration is not UNSET:
            field_dict["duration"] = duration
        if statement is not UNSET:
            field_dict["statement"] = statement

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.statement import Statement

        d = dict(src_dict)
        duration = d.pop("duration", UNSET)

        _statement = d.pop("statement", UNSET)
        statement: list[Statement] | Unset = UNSET
        if _statement is not UNSET:
            statement = []
            for statement_item_data in _statement:
                statement_item = Statement.from_dict(statement_item_data)

                statement.append(statement_item)

        temporary_key_creation = cls(
            duration=duration,
            statement=statement,
        )

        temporary_key_creation.additional_properties = d
        return temporary_key_creation

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
