# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ActionRun")


@_attrs_define
class ActionRun:
    """A run of the actions of one event.

    Attributes:
        run_id (str): The id. Newer runs have smaller ids.
        branch (str): The branch; empty for an event of a tag.
        start_time (datetime.datetime): When the run began.
        event_type (str): The event, such as `pre-merge`.
        status (str): `completed` if all hooks passed. Otherwise `failed`, which is also the status of a run in
            progress.
        commit_id (str): The commit; empty if there is none yet.
        end_time (datetime.datetime | Unset): When the run ended.
        state (str | Unset): How a hook or a run ended: `passed`, `refused`, `error` (the hook failed before it could
            decide), `pending` (a check of the commit will report the result) or `skipped`. `running` until the hook or run
            ends.
        message (str | Unset): Why the run did not pass.
        tag (str | Unset): The tag, for an event of a tag.
        source_ref (str | Unset): The ref or commit that the hooks saw.
        user (str | Unset): The user who made the change or started the run.
        delivery_id (str | Unset): The delivery that this run attempted.
        rerun_of (str | Unset): The run that this one repeats.
    """

    run_id: str
    branch: str
    start_time: datetime.datetime
    event_type: str
    status: str
    commit_id: str
    end_time: datetime.datetime | Unset = UNSET
    state: str | Unset = UNSET
    message: str | Unset = UNSET
    tag: str | Unset = UNSET
    source_ref: str | Unset = UNSET
    user: str | Unset = UNSET
    delivery_id: str | Unset = UNSET
    rerun_of: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        run_id = self.run_id

        branch = self.branch

        start_time = self.start_time.isoformat()

        event_type = self.event_type

        status = self.status

        commit_id = self.commit_id

        end_time: str | Unset = UNSET
        if not isinstance(self.end_time, Unset):
            end_time = self.end_time.isoformat()

        state = self.state

        message = self.message

        tag = self.tag

        source_ref = self.source_ref

        user = self.user

        delivery_id = self.delivery_id

        rerun_of = self.rerun_of

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "run_id": run_id,
                "branch": branch,
                "start_time": start_time,
                "event_type": event_type,
                "status": status,
                "commit_id": commit_id,
            }
        )
        if end_time is not UNSET:
            field_dict["end_time"] = end_time
        if state is not UNSET:
            field_dict["state"] = state
        if message is not UNSET:
            field_dict["message"] = message
        if tag is not UNSET:
            field_dict["tag"] = tag
        if source_ref is not UNSET:
            field_dict["source_ref"] = source_ref
        if user is not UNSET:
            field_dict["user"] = user
        if delivery_id is not UNSET:
            field_dict["delivery_id"] = delivery_id
        if rerun_of is not UNSET:
            field_dict["rerun_of"] = rerun_of

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        run_id = d.pop("run_id")

        branch = d.pop("branch")

        start_time = datetime.datetime.fromisoformat(d.pop("start_time"))

        event_type = d.pop("event_type")

        status = d.pop("status")

        commit_id = d.pop("commit_id")

        _end_time = d.pop("end_time", UNSET)
        end_time: datetime.datetime | Unset
        if isinstance(_end_time, Unset):
            end_time = UNSET
        else:
            end_time = datetime.datetime.fromisoformat(_end_time)

        state = d.pop("state", UNSET)

        message = d.pop("message", UNSET)

        tag = d.pop("tag", UNSET)

        source_ref = d.pop("source_ref", UNSET)

        user = d.pop("user", UNSET)

        delivery_id = d.pop("delivery_id", UNSET)

        rerun_of = d.pop("rerun_of", UNSET)

        action_run = cls(
            run_id=run_id,
            branch=branch,
            start_time=start_time,
            event_type=event_type,
            status=status,
            commit_id=commit_id,
            end_time=end_time,
            state=state,
            message=message,
            tag=tag,
            source_ref=source_ref,
            user=user,
            delivery_id=delivery_id,
            rerun_of=rerun_of,
        )

        action_run.additional_properties = d
        return action_run

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
