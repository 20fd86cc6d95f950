# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="RefsRestore")


@_attrs_define
class RefsRestore:
    """A dump to restore.

    Attributes:
        commits_meta_range_id (str): The id of the dumped commits.
        tags_meta_range_id (str): The id of the dumped tags.
        branches_meta_range_id (str): The id of the dumped branches.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    commits_meta_range_id: str
    tags_meta_range_id: str
    branches_meta_range_id: str
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        commits_meta_range_id = self.commits_meta_range_id

        tags_meta_range_id = self.tags_meta_range_id

        branches_meta_range_id = self.branches_meta_range_id

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "commits_meta_range_id": commits_meta_range_id,
                "tags_meta_range_id": tags_meta_range_id,
                "branches_meta_range_id": branches_meta_range_id,
            }
        )
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        commits_meta_range_id = d.pop("commits_meta_range_id")

        tags_meta_range_id = d.pop("tags_meta_range_id")

        branches_meta_range_id = d.pop("branches_meta_range_id")

        force = d.pop("force", UNSET)

        refs_restore = cls(
            commits_meta_range_id=commits_meta_range_id,
            tags_meta_range_id=tags_meta_range_id,
            branches_meta_range_id=branches_meta_range_id,
            force=force,
        )

        refs_restore.additional_properties = d
        return refs_restore

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
