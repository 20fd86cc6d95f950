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


T = TypeVar("T", bound="ImportStatus")


@_attrs_define
class ImportStatus:
    """The progress of an import.

    Attributes:
        completed (bool): Whether the import has ended, successfully or not.
        update_time (datetime.datetime): When the server last updated the state.
        ingested_objects (int | Unset): The number of source objects that the server has processed.
        metarange_id (str | Unset): The id of the metarange of the commit.
        commit (Commit | Unset): A commit.
        error (Error | Unset): An error: `message` is for people, `kind` is for programs.
    """

    completed: bool
    update_time: datetime.datetime
    ingested_objects: int | Unset = UNSET
    metarange_id: str | Unset = UNSET
    commit: Commit | Unset = UNSET
    error: Error | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        completed = self.completed

        update_time = self.update_time.isoformat()

        ingested_objects = self.ingested_objects

        metarange_id = self.metarange_id

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
                "completed": completed,
                "update_time": update_time,
            }
        )
        if ingested_objects is not UNSET:
            field_dict["ingested_objects"] = ingested_objects
        if metarange_id is not UNSET:
            field_dict["metarange_id"] = metarange_id
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
        completed = d.pop("completed")

        update_time = datetime.datetime.fromisoformat(d.pop("update_time"))

        ingested_objects = d.pop("ingested_objects", UNSET)

        metarange_id = d.pop("metarange_id", UNSET)

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

        import_status = cls(
            completed=completed,
            update_time=update_time,
            ingested_objects=ingested_objects,
            metarange_id=metarange_id,
            commit=commit,
            error=error,
        )

        import_status.additional_properties = d
        return import_status

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
