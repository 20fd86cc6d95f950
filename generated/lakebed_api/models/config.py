# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.capabilities_config import CapabilitiesConfig
    from ..models.storage_config import StorageConfig
    from ..models.ui_config import UIConfig
    from ..models.version_config import VersionConfig


T = TypeVar("T", bound="Config")


@_attrs_define
class Config:
    """The settings of an installation.

    Attributes:
        version_config (VersionConfig | Unset): The version of the server.
        storage_config (StorageConfig | Unset): The features of the server's object store.
        storage_config_list (list[StorageConfig] | Unset): The stores, the default store first. Empty if there is only
            one store.
        ui_config (UIConfig | Unset): Settings for a user interface.
        capabilities_config (CapabilitiesConfig | Unset): Optional features of the server.
    """

    version_config: VersionConfig | Unset = UNSET
    storage_config: StorageConfig | Unset = UNSET
    storage_config_list: list[StorageConfig] | Unset = UNSET
    ui_config: UIConfig | Unset = UNSET
    capabilities_config: CapabilitiesConfig | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        version_config: dict[str, Any] | Unset = UNSET
        if not isinstance(self.version_config, Unset):
            version_config = self.version_config.to_dict()

        storage_config: dict[str, Any] | Unset = UNSET
        if not isinstance(self.storage_config, Unset):
            storage_config = self.storage_config.to_dict()

        storage_config_list: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.storage_config_list, Unset):
            storage_config_list = []
            for componentsschemas_storage_config_list_item_data in self.storage_config_list:
                componentsschemas_storage_config_list_item = componentsschemas_storage_config_list_item_data.to_dict()
                storage_config_list.append(componentsschemas_storage_config_list_item)

        ui_config: dict[str, Any] | Unset = UNSET
        if not isinstance(self.ui_config, Unset):
            ui_config = self.ui_config.to_dict()

        capabilities_config: dict[str, Any] | Unset = UNSET
        if not isinstance(self.capabilities_config, Unset):
            capabilities_config = self.capabilities_config.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if version_config is not UNSET:
            field_dict["version_config"] = version_config
        if storage_config is not UNSET:
            field_dict["storage_config"] = storage_config
        if storage_config_list is not UNSET:
            field_dict["storage_config_list"] = storage_config_list
        if ui_config is not UNSET:
            field_dict["ui_config"] = ui_config
        if capabilities_config is not UNSET:
            field_dict["capabilities_config"] = capabilities_config

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.capabilities_config import CapabilitiesConfig
        from ..models.storage_config import StorageConfig
        from ..models.ui_config import UIConfig
        from ..models.version_config import VersionConfig

        d = dict(src_dict)
        _version_config = d.pop("version_config", UNSET)
        version_config: VersionConfig | Unset
        if isinstance(_version_config, Unset):
            version_config = UNSET
        else:
            version_config = VersionConfig.from_dict(_version_config)

        _storage_config = d.pop("storage_config", UNSET)
        storage_config: StorageConfig | Unset
        if isinstance(_storage_config, Unset):
            storage_config = UNSET
        else:
            storage_config = StorageConfig.from_dict(_storage_config)

        _storage_config_list = d.pop("storage_config_list", UNSET)
        storage_config_list: list[StorageConfig] | Unset = UNSET
        if _storage_config_list is not UNSET:
            storage_config_list = []
            for componentsschemas_storage_config_list_item_data in _storage_config_list:
                componentsschemas_storage_config_list_item = StorageConfig.from_dict(
                    componentsschemas_storage_config_list_item_data
                )

                storage_config_list.append(componentsschemas_storage_config_list_item)

        _ui_config = d.pop("ui_config", UNSET)
        ui_config: UIConfig | Unset
        if isinstance(_ui_config, Unset):
            ui_config = UNSET
        else:
            ui_config = UIConfig.from_dict(_ui_config)

        _capabilities_config = d.pop("capabilities_config", UNSET)
        capabilities_config: CapabilitiesConfig | Unset
        if isinstance(_capabilities_config, Unset):
            capabilities_config = UNSET
        else:
            capabilities_config = CapabilitiesConfig.from_dict(_capabilities_config)

        config = cls(
            version_config=version_config,
            storage_config=storage_config,
            storage_config_list=storage_config_list,
            ui_config=ui_config,
            capabilities_config=capabilities_config,
        )

        config.additional_properties = d
        return config

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
