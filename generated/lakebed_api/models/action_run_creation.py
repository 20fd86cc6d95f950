# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ActionRunCreation")


@_attrs_define
class ActionRunCreation:
    """A run to start.

    Attributes:
        event (str): The event, such as `pre-merge`.
        ref (str): The branch, tag or commit.
        action (str | Unset): The action to run. All when absent.
        branch (str | Unset): The branch of the event. The rules of its head apply, as for a merge of `ref` into it, and
            the hooks compare `ref` with its head. Not for events of tags. When absent, the rules of `ref` apply.
    """

    event: str
    ref: str
    action: str | Unset = UNSET
    branch: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event

        ref = self.ref

        action = self.action

        branch = self.branch

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "ref": ref,
            }
        )
        if action is not UNSET:
            field_dict["action"] = action
        if branch is not UNSET:
            field_dict["branch"] = branch

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        event = d.pop("event")

        ref = d.pop("ref")

        action = d.pop("action", UNSET)

        branch = d.pop("branch", UNSET)

        action_run_creation = cls(
            event=event,
            ref=ref,
            action=action,
            branch=branch,
        )

        action_run_creation.additional_properties = d
        return action_run_creation

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
