# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="RepositoryRestoreStatus")


@_attrs_define
class RepositoryRestoreStatus:
    """The progress of a restore.

    Attributes:
        id (str): The id of the task.
        done (bool): Whether the restore has ended, successfully or not.
        update_time (datetime.datetime): When the server last updated the state.
        error (str | Unset): The error, if the restore failed.
    """

    id: str
    done: bool
    update_time: datetime.datetime
    error: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        done = self.done

        update_time = self.update_time.isoformat()

        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "done": done,
                "update_time": update_time,
            }
        )
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        done = d.pop("done")

        update_time = datetime.datetime.fromisoformat(d.pop("update_time"))

        error = d.pop("error", UNSET)

        repository_restore_status = cls(
            id=id,
            done=done,
            update_time=update_time,
            error=error,
        )

        repository_restore_status.additional_properties = d
        return repository_restore_status

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
