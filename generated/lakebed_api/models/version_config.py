# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="VersionConfig")


@_attrs_define
class VersionConfig:
    """The version of the server.

    Attributes:
        version (str | Unset): The API level that clients test, such as `1.80.0`.
        version_context (str | Unset): The edition. Always empty.
        latest_version (str | Unset): The newest release known to the server.
        upgrade_recommended (bool | Unset): Whether upgrading is recommended.
        upgrade_url (str | Unset): A page about the upgrade.
    """

    version: str | Unset = UNSET
    version_context: str | Unset = UNSET
    latest_version: str | Unset = UNSET
    upgrade_recommended: bool | Unset = UNSET
    upgrade_url: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        version = self.version

        version_context = self.version_context

        latest_version = self.latest_version

        upgrade_recommended = self.upgrade_recommended

        upgrade_url = self.upgrade_url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if version is not UNSET:
            field_dict["version"] = version
        if version_context is not UNSET:
            field_dict["version_context"] = version_context
        if latest_version is not UNSET:
            field_dict["latest_version"] = latest_version
        if upgrade_recommended is not UNSET:
            field_dict["upgrade_recommended"] = upgrade_recommended
        if upgrade_url is not UNSET:
            field_dict["upgrade_url"] = upgrade_url

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        version = d.pop("version", UNSET)

        version_context = d.pop("version_context", UNSET)

        latest_version = d.pop("latest_version", UNSET)

        upgrade_recommended = d.pop("upgrade_recommended", UNSET)

        upgrade_url = d.pop("upgrade_url", UNSET)

        version_config = cls(
            version=version,
            version_context=version_context,
            latest_version=latest_version,
            upgrade_recommended=upgrade_recommended,
            upgrade_url=upgrade_url,
        )

        version_config.additional_properties = d
        return version_config

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
