# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.statement import Statement


T = TypeVar("T", bound="Policy")


@_attrs_define
class Policy:
    """A named list of statements.

    Attributes:
        id (str): The id of the policy.
        creation_date (int): Creation time (Unix seconds).
        statement (list[Statement]): The statements.
    """

    id: str
    creation_date: int
    statement: list[Statement]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        creation_date = self.creation_date

        statement = []
        for statement_item_data in self.statement:
            statement_item = statement_item_data.to_dict()
            statement.append(statement_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "creation_date": creation_date,
                "statement": statement,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.statement import Statement

        d = dict(src_dict)
        id = d.pop("id")

        creation_date = d.pop("creation_date")

        statement = []
        _statement = d.pop("statement")
        for statement_item_data in _statement:
            statement_item = Statement.from_dict(statement_item_data)

            statement.append(statement_item)

        policy = cls(
            id=id,
            creation_date=creation_date,
            statement=statement,
        )

        policy.additional_properties = d
        return policy

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
