# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.access_key_credentials import AccessKeyCredentials


T = TypeVar("T", bound="Setup")


@_attrs_define
class Setup:
    """The first administrator.

    Attributes:
        username (str): The name of the administrator.
        key (AccessKeyCredentials | Unset): An access key that the caller chooses.
    """

    username: str
    key: AccessKeyCredentials | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        username = self.username

        key: dict[str, Any] | Unset = UNSET
        if not isinstance(self.key, Unset):
            key = self.key.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "username": username,
            }
        )
        if key is not UNSET:
            field_dict["key"] = key

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.access_key_credentials import AccessKeyCredentials

        d = dict(src_dict)
        username = d.pop("username")

        _key = d.pop("key", UNSET)
        key: AccessKeyCredentials | Unset
        if isinstance(_key, Unset):
            key = UNSET
        else:
            key = AccessKeyCredentials.from_dict(_key)

        setup = cls(
            username=username,
            key=key,
        )

        setup.additional_properties = d
        return setup

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
