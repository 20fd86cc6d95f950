# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.hook_settings_actions import HookSettingsActions


T = TypeVar("T", bound="HookSettings")


@_attrs_define
class HookSettings:
    """The action files of the settings of a repository.

    Attributes:
        actions (HookSettingsActions): The YAML text of each action file, by name. At most 100 files.
    """

    actions: HookSettingsActions
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        actions = self.actions.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "actions": actions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.hook_settings_actions import HookSettingsActions

        d = dict(src_dict)
        actions = HookSettingsActions.from_dict(d.pop("actions"))

        hook_settings = cls(
            actions=actions,
        )

        hook_settings.additional_properties = d
        return hook_settings

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
