# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.custom_viewer import CustomViewer


T = TypeVar("T", bound="UIConfig")


@_attrs_define
class UIConfig:
    """Settings for a user interface.

    Attributes:
        custom_viewers (list[CustomViewer] | Unset): The viewers.
    """

    custom_viewers: list[CustomViewer] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        custom_viewers: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.custom_viewers, Unset):
            custom_viewers = []
            for custom_viewers_item_data in self.custom_viewers:
                custom_viewers_item = custom_viewers_item_data.to_dict()
                custom_viewers.append(custom_viewers_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if custom_viewers is not UNSET:
            field_dict["custom_viewers"] = custom_viewers

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.custom_viewer import CustomViewer

        d = dict(src_dict)
        _custom_viewers = d.pop("custom_viewers", UNSET)
        custom_viewers: list[CustomViewer] | Unset = UNSET
        if _custom_viewers is not UNSET:
            custom_viewers = []
            for custom_viewers_item_data in _custom_viewers:
                custom_viewers_item = CustomViewer.from_dict(custom_viewers_item_data)

                custom_viewers.append(custom_viewers_item)

        ui_config = cls(
            custom_viewers=custom_viewers,
        )

        ui_config.additional_properties = d
        return ui_config

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
