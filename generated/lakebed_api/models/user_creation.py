# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="UserCreation")


@_attrs_define
class UserCreation:
    """A user to create.

    Attributes:
        id (str): The id: 1 to 256 bytes, without slashes, `%` or control characters.
        invite_user (bool | Unset): Send an invitation by e-mail. Not supported here.
        friendly_name (str | Unset): The display name. Lakebed only.
        email (str | Unset): The e-mail address. Lakebed only.
        service (bool | Unset): Whether the user is a program, not a person. Lakebed only.
    """

    id: str
    invite_user: bool | Unset = UNSET
    friendly_name: str | Unset = UNSET
    email: str | Unset = UNSET
    service: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        invite_user = self.invite_user

        friendly_name = self.friendly_name

        email = self.email

        service = self.service

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
            }
        )
        if invite_user is not UNSET:
            field_dict["invite_user"] = invite_user
        if friendly_name is not UNSET:
            field_dict["friendly_name"] = friendly_name
        if email is not UNSET:
            field_dict["email"] = email
        if service is not UNSET:
            field_dict["service"] = service

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        invite_user = d.pop("invite_user", UNSET)

        friendly_name = d.pop("friendly_name", UNSET)

        email = d.pop("email", UNSET)

        service = d.pop("service", UNSET)

        user_creation = cls(
            id=id,
            invite_user=invite_user,
            friendly_name=friendly_name,
            email=email,
            service=service,
        )

        user_creation.additional_properties = d
        return user_creation

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
