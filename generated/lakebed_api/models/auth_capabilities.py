# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AuthCapabilities")


@_attrs_define
class AuthCapabilities:
    """What a user interface can offer.

    Attributes:
        invite_user (bool | Unset): Whether users can be invited.
        forgot_password (bool | Unset): Whether a forgotten password can be reset.
    """

    invite_user: bool | Unset = UNSET
    forgot_password: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        invite_user = self.invite_user

        forgot_password = self.forgot_password

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if invite_user is not UNSET:
            field_dict["invite_user"] = invite_user
        if forgot_password is not UNSET:
            field_dict["forgot_password"] = forgot_password

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        invite_user = d.pop("invite_user", UNSET)

        forgot_password = d.pop("forgot_password", UNSET)

        auth_capabilities = cls(
            invite_user=invite_user,
            forgot_password=forgot_password,
        )

        auth_capabilities.additional_properties = d
        return auth_capabilities

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
