# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.event_data import EventData


T = TypeVar("T", bound="Event")


@_attrs_define
class Event:
    """One event.

    Attributes:
        id (str): The unique id. If a client receives the same event twice, the id is the same.
        type_ (str): What happened, such as `branch.merged`. New types may be added.
        time (datetime.datetime): Time of the event (Unix milliseconds).
        repository (str): The name of the repository; empty for a change of rights.
        repository_uid (str): The unique id of the repository. A repository that is created again gets a new one.
        data (EventData): Fields that are specific to this type of event.
        logical_timestamp (str | Unset): The position among all events of the repository, as decimal digits. Absent for
            events of the last few seconds.
        branch (str | Unset): The branch, if the event is about one.
        gen (int | Unset): The sequence number of the change in the branch.
        user (str | Unset): The user who made the change. Absent if the server made it.
        request_id (str | Unset): The id of the request.
        commit_id (str | Unset): The commit that the event is about.
        before (str | Unset): The previous commit of the branch or tag.
        after (str | Unset): The new commit of the branch or tag.
    """

    id: str
    type_: str
    time: datetime.datetime
    repository: str
    repository_uid: str
    data: EventData
    logical_timestamp: str | Unset = UNSET
    branch: str | Unset = UNSET
    gen: int | Unset = UNSET
    user: str | Unset = UNSET
    request_id: str | Unset = UNSET
    commit_id: str | Unset = UNSET
    before: str | Unset = UNSET
    after: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        type_ = self.type_

        time = self.time.isoformat()

        repository = self.repository

        repository_uid = self.repository_uid

        data = self.data.to_dict()

        logical_timestamp = self.logical_timestamp

        branch = self.branch

        gen = self.gen

        user = self.user

        request_id = self.request_id

        commit_id = self.commit_id

        before = self.before

        after = self.after

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "type": type_,
                "time": time,
                "repository": repository,
                "repository_uid": repository_uid,
                "data": data,
            }
        )
        if logical_timestamp is not UNSET:
            field_dict["logical_timestamp"] = logical_timestamp
        if branch is not UNSET:
            field_dict["branch"] = branch
        if gen is not UNSET:
            field_dict["gen"] = gen
        if user is not UNSET:
            field_dict["user"] = user
        if request_id is not UNSET:
            field_dict["request_id"] = request_id
        if commit_id is not UNSET:
            field_dict["commit_id"] = commit_id
        if before is not UNSET:
            field_dict["before"] = before
        if after is not UNSET:
            field_dict["after"] = after

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.event_data import EventData

        d = dict(src_dict)
        id = d.pop("id")

        type_ = d.pop("type")

        time = datetime.datetime.fromisoformat(d.pop("time"))

        repository = d.pop("repository")

        repository_uid = d.pop("repository_uid")

        data = EventData.from_dict(d.pop("data"))

        logical_timestamp = d.pop("logical_timestamp", UNSET)

        branch = d.pop("branch", UNSET)

        gen = d.pop("gen", UNSET)

        user = d.pop("user", UNSET)

        request_id = d.pop("request_id", UNSET)

        commit_id = d.pop("commit_id", UNSET)

        before = d.pop("before", UNSET)

        after = d.pop("after", UNSET)

        event = cls(
            id=id,
            type_=type_,
            time=time,
            repository=repository,
            repository_uid=repository_uid,
            data=data,
            logical_timestamp=logical_timestamp,
            branch=branch,
            gen=gen,
            user=user,
            request_id=request_id,
            commit_id=commit_id,
            before=before,
            after=after,
        )

        event.additional_properties = d
        return event

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
