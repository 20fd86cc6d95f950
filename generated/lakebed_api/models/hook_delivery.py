# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.hook_delivery_attempt import HookDeliveryAttempt


T = TypeVar("T", bound="HookDelivery")


@_attrs_define
class HookDelivery:
    """A delivery: a call of one action after a change.

    Attributes:
        id (str): The id, which is the same for all attempts.
        state (str): `waiting`, or `failed` permanently.
        action (str): The name of the action.
        event_type (str): The event, such as `post-merge`.
        attempts (list[HookDeliveryAttempt]): The last attempts, oldest first.
        event_id (str | Unset): The id of the event in the list of events.
        branch (str | Unset): The branch of the event.
        commit_id (str | Unset): The commit of the event.
        due (datetime.datetime | Unset): For a waiting delivery, when the server makes the next attempt.
    """

    id: str
    state: str
    action: str
    event_type: str
    attempts: list[HookDeliveryAttempt]
    event_id: str | Unset = UNSET
    branch: str | Unset = UNSET
    commit_id: str | Unset = UNSET
    due: datetime.datetime | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        state = self.state

        action = self.action

        event_type = self.event_type

        attempts = []
        for attempts_item_data in self.attempts:
            attempts_item = attempts_item_data.to_dict()
            attempts.append(attempts_item)

        event_id = self.event_id

        branch = self.branch

        commit_id = self.commit_id

        due: str | Unset = UNSET
        if not isinstance(self.due, Unset):
            due = self.due.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "state": state,
                "action": action,
                "event_type": event_type,
                "attempts": attempts,
            }
        )
        if event_id is not UNSET:
            field_dict["event_id"] = event_id
        if branch is not UNSET:
            field_dict["branch"] = branch
        if commit_id is not UNSET:
            field_dict["commit_id"] = commit_id
        if due is not UNSET:
            field_dict["due"] = due

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.hook_delivery_attempt import HookDeliveryAttempt

        d = dict(src_dict)
        id = d.pop("id")

        state = d.pop("state")

        action = d.pop("action")

        event_type = d.pop("event_type")

        attempts = []
        _attempts = d.pop("attempts")
        for attempts_item_data in _attempts:
            attempts_item = HookDeliveryAttempt.from_dict(attempts_item_data)

            attempts.append(attempts_item)

        event_id = d.pop("event_id", UNSET)

        branch = d.pop("branch", UNSET)

        commit_id = d.pop("commit_id", UNSET)

        _due = d.pop("due", UNSET)
        due: datetime.datetime | Unset
        if isinstance(_due, Unset):
            due = UNSET
        else:
            due = datetime.datetime.fromisoformat(_due)

        hook_delivery = cls(
            id=id,
            state=state,
            action=action,
            event_type=event_type,
            attempts=attempts,
            event_id=event_id,
            branch=branch,
            commit_id=commit_id,
            due=due,
        )

        hook_delivery.additional_properties = d
        return hook_delivery

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
