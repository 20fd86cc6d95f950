# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CapabilitiesConfig")


@_attrs_define
class CapabilitiesConfig:
    """Optional features of the server.

    Attributes:
        workspaces (bool | Unset): Whether the server supports workspaces.
        presigned_uploads (bool | Unset): Whether `createUploadUrls` works for stores that can sign.
    """

    workspaces: bool | Unset = UNSET
    presigned_uploads: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        workspaces = self.workspaces

        presigned_uploads = self.presigned_uploads

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if workspaces is not UNSET:
            field_dict["workspaces"] = workspaces
        if presigned_uploads is not UNSET:
            field_dict["presigned_uploads"] = presigned_uploads

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        workspaces = d.pop("workspaces", UNSET)

        presigned_uploads = d.pop("presigned_uploads", UNSET)

        capabilities_config = cls(
            workspaces=workspaces,
            presigned_uploads=presigned_uploads,
        )

        capabilities_config.additional_properties = d
        return capabilities_config

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
