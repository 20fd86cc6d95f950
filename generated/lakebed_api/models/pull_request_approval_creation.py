# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PullRequestApprovalCreation")


@_attrs_define
class PullRequestApprovalCreation:
    """An approval to add.

    Attributes:
        source_commit_id (str | Unset): The reviewed head of the source. The response is 409 if the source has another
            head.
    """

    source_commit_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source_commit_id = self.source_commit_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if source_commit_id is not UNSET:
            field_dict["source_commit_id"] = source_commit_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        source_commit_id = d.pop("source_commit_id", UNSET)

        pull_request_approval_creation = cls(
            source_commit_id=source_commit_id,
        )

        pull_request_approval_creation.additional_properties = d
        return pull_request_approval_creation

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
