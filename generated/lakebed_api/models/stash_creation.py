# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="StashCreation")


@_attrs_define
class StashCreation:
    """The workspace to create from the changes of a branch.

    Attributes:
        message (str | Unset): The default commit message.
        expires_in (int | Unset): Seconds until the workspace expires. Renewing the workspace extends this time. A week
            when absent.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    message: str | Unset = UNSET
    expires_in: int | Unset = UNSET
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        expires_in = self.expires_in

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if message is not UNSET:
            field_dict["message"] = message
        if expires_in is not UNSET:
            field_dict["expires_in"] = expires_in
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        message = d.pop("message", UNSET)

        expires_in = d.pop("expires_in", UNSET)

        force = d.pop("force", UNSET)

        stash_creation = cls(
            message=message,
            expires_in=expires_in,
            force=force,
        )

        stash_creation.additional_properties = d
        return stash_creation

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
