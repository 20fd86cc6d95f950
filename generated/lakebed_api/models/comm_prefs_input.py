# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CommPrefsInput")


@_attrs_define
class CommPrefsInput:
    """E-mail preferences.

    Attributes:
        feature_updates (bool): Whether to send news of features.
        security_updates (bool): Whether to send security notices.
        email (str | Unset): The e-mail address.
    """

    feature_updates: bool
    security_updates: bool
    email: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        feature_updates = self.feature_updates

        security_updates = self.security_updates

        email = self.email

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "featureUpdates": feature_updates,
                "securityUpdates": security_updates,
            }
        )
        if email is not UNSET:
            field_dict["email"] = email

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        feature_updates = d.pop("featureUpdates")

        security_updates = d.pop("securityUpdates")

        email = d.pop("email", UNSET)

        comm_prefs_input = cls(
            feature_updates=feature_updates,
            security_updates=security_updates,
            email=email,
        )

        comm_prefs_input.additional_properties = d
        return comm_prefs_input

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
