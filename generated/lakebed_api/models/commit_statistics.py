# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CommitStatistics")


@_attrs_define
class CommitStatistics:
    """The numbers of paths and bytes that a commit changed.

    Attributes:
        commit_id (str): The id of the commit.
        parent_id (str): The id of its first parent. Empty for the first commit.
        added (int): The number of added paths.
        removed (int): The number of removed paths.
        changed (int): The number of changed paths.
        bytes_added (int): The total size in bytes of the added and changed objects after the commit.
        bytes_removed (int): The total size in bytes of the changed and removed objects before the commit.
        complete (bool): Whether the counts include all changed paths.
    """

    commit_id: str
    parent_id: str
    added: int
    removed: int
    changed: int
    bytes_added: int
    bytes_removed: int
    complete: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        commit_id = self.commit_id

        parent_id = self.parent_id

        added = self.added

        removed = self.removed

        changed = self.changed

        bytes_added = self.bytes_added

        bytes_removed = self.bytes_removed

        complete = self.complete

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "commit_id": commit_id,
                "parent_id": parent_id,
                "added": added,
                "removed": removed,
                "changed": changed,
                "bytes_added": bytes_added,
                "bytes_removed": bytes_removed,
                "complete": complete,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        commit_id = d.pop("commit_id")

        parent_id = d.pop("parent_id")

        added = d.pop("added")

        removed = d.pop("removed")

        changed = d.pop("changed")

        bytes_added = d.pop("bytes_added")

        bytes_removed = d.pop("bytes_removed")

        complete = d.pop("complete")

        commit_statistics = cls(
            commit_id=commit_id,
            parent_id=parent_id,
            added=added,
            removed=removed,
            changed=changed,
            bytes_added=bytes_added,
            bytes_removed=bytes_removed,
            complete=complete,
        )

        commit_statistics.additional_properties = d
        return commit_statistics

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
