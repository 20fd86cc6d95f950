# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PullRequestAutoMerge")


@_attrs_define
class PullRequestAutoMerge:
    """Auto-merge: the server merges the pull request on behalf of the user as soon as all requirements are met. Lakebed
    only.

        Attributes:
            enabled (bool | Unset): False turns auto-merge off. Default: True.
            strategy (str | Unset): The side that wins every conflict: `dest-wins` or `source-wins`. When empty or absent,
                conflicts are errors.
            message (str | Unset): The commit message.
            user (str | Unset): In a response, the user who turned auto-merge on.
    """

    enabled: bool | Unset = True
    strategy: str | Unset = UNSET
    message: str | Unset = UNSET
    user: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        enabled = self.enabled

        strategy = self.strategy

        message = self.message

        user = self.user

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if enabled is not UNSET:
            field_dict["enabled"] = enabled
        if strategy is not UNSET:
            field_dict["strategy"] = strategy
        if message is not UNSET:
            field_dict["message"] = message
        if user is not UNSET:
            field_dict["user"] = user

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        enabled = d.pop("enabled", UNSET)

        strategy = d.pop("strategy", UNSET)

        message = d.pop("message", UNSET)

        user = d.pop("user", UNSET)

        pull_request_auto_merge = cls(
            enabled=enabled,
            strategy=strategy,
            message=message,
            user=user,
        )

        pull_request_auto_merge.additional_properties = d
        return pull_request_auto_merge

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
