# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit import Commit
    from ..models.error import Error


T = TypeVar("T", bound="Task")


@_attrs_define
class Task:
    """An operation that the server runs in the background.

    Attributes:
        id (str): The id of the task.
        operation (str): The operation that the task performs.
        completed (bool): Whether the task has ended, successfully or not.
        update_time (datetime.datetime): When the server last updated the state.
        commit (Commit | Unset): A commit.
        error (Error | Unset): An error: `message` is for people, `kind` is for programs.
    """

    id: str
    operation: str
    completed: bool
    update_time: datetime.datetime
    commit: Commit | Unset = UNSET
    error: Error | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        operation = self.operation

        completed = self.completed

        update_time = self.update_time.isoformat()

        commit: dict[str, Any] | Unset = UNSET
        if not isinstance(self.commit, Unset):
            commit = self.commit.to_dict()

        error: dict[str, Any] | Unset = UNSET
        if not isinstance(self.error, Unset):
            error = self.error.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "operation": operation,
                "completed": completed,
                "update_time": update_time,
            }
        )
        if commit is not UNSET:
            field_dict["commit"] = commit
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit import Commit
        from ..models.error import Error

        d = dict(src_dict)
        id = d.pop("id")

        operation = d.pop("operation")

        completed = d.pop("completed")

        update_time = datetime.datetime.fromisoformat(d.pop("update_time"))

        _commit = d.pop("commit", UNSET)
        commit: Commit | Unset
        if isinstance(_commit, Unset):
            commit = UNSET
        else:
            commit = Commit.from_dict(_commit)

        _error = d.pop("error", UNSET)
        error: Error | Unset
        if isinstance(_error, Unset):
            error = UNSET
        else:
            error = Error.from_dict(_error)

        task = cls(
            id=id,
            operation=operation,
            completed=completed,
            update_time=update_time,
            commit=commit,
            error=error,
        )

        task.additional_properties = d
        return task

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
