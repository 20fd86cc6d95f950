# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.hook_detail import HookDetail


T = TypeVar("T", bound="HookRun")


@_attrs_define
class HookRun:
    """A hook of a run.

    Attributes:
        hook_run_id (str): The id of the hook in its run, such as `0000_0001`.
        action (str): The name of the action.
        hook_id (str): The id of the hook in its action.
        start_time (datetime.datetime): When the hook began. For a skipped hook, when the run began.
        status (str): `completed` if the hook passed, `skipped` if it was not called. Otherwise `failed`, which is also
            the status of a hook in progress.
        end_time (datetime.datetime | Unset): When the hook ended.
        type_ (str | Unset): The type, such as `webhook`.
        state (str | Unset): How a hook or a run ended: `passed`, `refused`, `error` (the hook failed before it could
            decide), `pending` (a check of the commit will report the result) or `skipped`. `running` until the hook or run
            ends.
        message (str | Unset): Why the hook did not pass.
        details (list[HookDetail] | Unset): Detailed results, for example one for each file and check of a contract.
    """

    hook_run_id: str
    action: str
    hook_id: str
    start_time: datetime.datetime
    status: str
    end_time: datetime.datetime | Unset = UNSET
    type_: str | Unset = UNSET
    state: str | Unset = UNSET
    message: str | Unset = UNSET
    details: list[HookDetail] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        hook_run_id = self.hook_run_id

        action = self.action

        hook_id = self.hook_id

        start_time = self.start_time.isoformat()

        status = self.status

        end_time: str | Unset = UNSET
        if not isinstance(self.end_time, Unset):
            end_time = self.end_time.isoformat()

        type_ = self.type_

        state = self.state

        message = self.message

        details: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.details, Unset):
            details = []
            for details_item_data in self.details:
                details_item = details_item_data.to_dict()
                details.append(details_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "hook_run_id": hook_run_id,
                "action": action,
                "hook_id": hook_id,
                "start_time": start_time,
                "status": status,
            }
        )
        if end_time is not UNSET:
            field_dict["end_time"] = end_time
        if type_ is not UNSET:
            field_dict["type"] = type_
        if state is not UNSET:
            field_dict["state"] = state
        if message is not UNSET:
            field_dict["message"] = message
        if details is not UNSET:
            field_dict["details"] = details

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.hook_detail import HookDetail

        d = dict(src_dict)
        hook_run_id = d.pop("hook_run_id")

        action = d.pop("action")

        hook_id = d.pop("hook_id")

        start_time = datetime.datetime.fromisoformat(d.pop("start_time"))

        status = d.pop("status")

        _end_time = d.pop("end_time", UNSET)
        end_time: datetime.datetime | Unset
        if isinstance(_end_time, Unset):
            end_time = UNSET
        else:
            end_time = datetime.datetime.fromisoformat(_end_time)

        type_ = d.pop("type", UNSET)

        state = d.pop("state", UNSET)

        message = d.pop("message", UNSET)

        _details = d.pop("details", UNSET)
        details: list[HookDetail] | Unset = UNSET
        if _details is not UNSET:
            details = []
            for details_item_data in _details:
                details_item = HookDetail.from_dict(details_item_data)

                details.append(details_item)

        hook_run = cls(
            hook_run_id=hook_run_id,
            action=action,
            hook_id=hook_id,
            start_time=start_time,
            status=status,
            end_time=end_time,
            type_=type_,
            state=state,
            message=message,
            details=details,
        )

        hook_run.additional_properties = d
        return hook_run

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
