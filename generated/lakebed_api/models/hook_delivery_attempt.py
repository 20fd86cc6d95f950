# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="HookDeliveryAttempt")


@_attrs_define
class HookDeliveryAttempt:
    """One attempt of a delivery.

    Attributes:
        time (datetime.datetime): When the server made the attempt.
        state (str): How a hook or a run ended: `passed`, `refused`, `error` (the hook failed before it could decide),
            `pending` (a check of the commit will report the result) or `skipped`. `running` until the hook or run ends.
        message (str): Why the attempt failed.
        run_id (str): The id of the run.
    """

    time: datetime.datetime
    state: str
    message: str
    run_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        time = self.time.isoformat()

        state = self.state

        message = self.message

        run_id = self.run_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "time": time,
                "state": state,
                "message": message,
                "run_id": run_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        time = datetime.datetime.fromisoformat(d.pop("time"))

        state = d.pop("state")

        message = d.pop("message")

        run_id = d.pop("run_id")

        hook_delivery_attempt = cls(
            time=time,
            state=state,
            message=message,
            run_id=run_id,
        )

        hook_delivery_attempt.additional_properties = d
        return hook_delivery_attempt

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
