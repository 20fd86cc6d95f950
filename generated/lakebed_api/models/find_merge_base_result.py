# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FindMergeBaseResult")


@_attrs_define
class FindMergeBaseResult:
    """Two commits and their nearest common ancestor.

    Attributes:
        source_commit_id (str): The commit of the source.
        destination_commit_id (str): The commit of the destination.
        base_commit_id (str): The common ancestor.
    """

    source_commit_id: str
    destination_commit_id: str
    base_commit_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source_commit_id = self.source_commit_id

        destination_commit_id = self.destination_commit_id

        base_commit_id = self.base_commit_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "source_commit_id": source_commit_id,
                "destination_commit_id": destination_commit_id,
                "base_commit_id": base_commit_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        source_commit_id = d.pop("source_commit_id")

        destination_commit_id = d.pop("destination_commit_id")

        base_commit_id = d.pop("base_commit_id")

        find_merge_base_result = cls(
            source_commit_id=source_commit_id,
            destination_commit_id=destination_commit_id,
            base_commit_id=base_commit_id,
        )

        find_merge_base_result.additional_properties = d
        return find_merge_base_result

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
