# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="User")


@_attrs_define
class User:
    """A user.

    Attributes:
        id (str): The id of the user.
        creation_date (int): Creation time (Unix seconds).
        friendly_name (str | Unset): The display name.
        email (str | Unset): The e-mail address. Commits record it as the committer.
        disabled (bool | Unset): Whether the server refuses the user. False when absent. Lakebed only.
        service (bool | Unset): Whether the user is a program, not a person. False when absent. Lakebed only.
    """

    id: str
    creation_date: int
    friendly_name: str | Unset = UNSET
    email: str | Unset = UNSET
    disabled: bool | Unset = UNSET
    service: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        creation_date = self.creation_date

        friendly_name = self.friendly_name

        email = self.email

        disabled = self.disabled

        service = self.service

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "creation_date": creation_date,
            }
        )
        if friendly_name is not UNSET:
            field_dict["friendly_name"] = friendly_name
        if email is not UNSET:
            field_dict["email"] = email
        if disabled is not UNSET:
            field_dict["disabled"] = disabled
        if service is not UNSET:
            field_dict["service"] = service

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        creation_date = d.pop("creation_date")

        friendly_name = d.pop("friendly_name", UNSET)

        email = d.pop("email", UNSET)

        disabled = d.pop("disabled", UNSET)

        service = d.pop("service", UNSET)

        user = cls(
            id=id,
            creation_date=creation_date,
            friendly_name=friendly_name,
            email=email,
            disabled=disabled,
            service=service,
        )

        user.additional_properties = d
        return user

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
