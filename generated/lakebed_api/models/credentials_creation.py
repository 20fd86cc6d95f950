# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.statement import Statement


T = TypeVar("T", bound="CredentialsCreation")


@_attrs_define
class CredentialsCreation:
    """An access key to create. Lakebed only.

    Attributes:
        name (str | Unset): What the key is for.
        expires_in (int | Unset): Seconds until the key expires. When absent, the key does not expire.
        statement (list[Statement] | Unset): The policy of the key, at most 10 KiB. The key has only the rights that
            both this policy and the policies of the user allow.
    """

    name: str | Unset = UNSET
    expires_in: int | Unset = UNSET
    statement: list[Statement] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        expires_in = self.expires_in

        statement: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.statement, Unset):
            statement = []
            for statement_item_data in self.statement:
                statement_item = statement_item_data.to_dict()
                statement.append(statement_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if expires_in is not UNSET:
            field_dict["expires_in"] = expires_in
        if statement is not UNSET:
            field_dict["statement"] = statement

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.statement import Statement

        d = dict(src_dict)
        name = d.pop("name", UNSET)

        expires_in = d.pop("expires_in", UNSET)

        _statement = d.pop("statement", UNSET)
        statement: list[Statement] | Unset = UNSET
        if _statement is not UNSET:
            statement = []
            for statement_item_data in _statement:
                statement_item = Statement.from_dict(statement_item_data)

                statement.append(statement_item)

        credentials_creation = cls(
            name=name,
            expires_in=expires_in,
            statement=statement,
        )

        credentials_creation.additional_properties = d
        return credentials_creation

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
