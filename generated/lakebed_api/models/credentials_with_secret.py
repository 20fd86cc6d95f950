# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.statement import Statement


T = TypeVar("T", bound="CredentialsWithSecret")


@_attrs_define
class CredentialsWithSecret:
    """An access key with its secret.

    Attributes:
        access_key_id (str): The id of the key.
        secret_access_key (str): The secret of the key.
        creation_date (int): Creation time (Unix seconds).
        name (str | Unset): What the key is for. Lakebed only.
        expiration (int | Unset): Time of expiry (Unix seconds). Absent if the key does not expire. Lakebed only.
        statement (list[Statement] | Unset): The policy of the key. Absent if the key has all rights of its user.
            Lakebed only.
    """

    access_key_id: str
    secret_access_key: str
    creation_date: int
    name: str | Unset = UNSET
    expiration: int | Unset = UNSET
    statement: list[Statement] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        access_key_id = self.access_key_id

        secret_access_key = self.secret_access_key

        creation_date = self.creation_date

        name = self.name

        expiration = self.expiration

        statement: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.statement, Unset):
            statement = []
            for statement_item_data in self.statement:
                statement_item = statement_item_data.to_dict()
                statement.append(statement_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "access_key_id": access_key_id,
                "secret_access_key": secret_access_key,
                "creation_date": creation_date,
            }
        )
        if name is not UNSET:
            field_dict["name"] = name
        if expiration is not UNSET:
            field_dict["expiration"] = expiration
        if statement is not UNSET:
            field_dict["statement"] = statement

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.statement import Statement

        d = dict(src_dict)
        access_key_id = d.pop("access_key_id")

        secret_access_key = d.pop("secret_access_key")

        creation_date = d.pop("creation_date")

        name = d.pop("name", UNSET)

        expiration = d.pop("expiration", UNSET)

        _statement = d.pop("statement", UNSET)
        statement: list[Statement] | Unset = UNSET
        if _statement is not UNSET:
            statement = []
            for statement_item_data in _statement:
                statement_item = Statement.from_dict(statement_item_data)

                statement.append(statement_item)

        credentials_with_secret = cls(
            access_key_id=access_key_id,
            secret_access_key=secret_access_key,
            creation_date=creation_date,
            name=name,
            expiration=expiration,
            statement=statement,
        )

        credentials_with_secret.additional_properties = d
        return credentials_with_secret

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
