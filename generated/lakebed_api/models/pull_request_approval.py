# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PullRequestApproval")


@_attrs_define
class PullRequestApproval:
    """An approval that counts.

    Attributes:
        approver (str): The id of the user who approved.
        created_at (datetime.datetime): When the user approved.
        source_commit_id (str): The commit that was approved.
    """

    approver: str
    created_at: datetime.datetime
    source_commit_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        approver = self.approver

        created_at = self.created_at.isoformat()

        source_commit_id = self.source_commit_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "approver": approver,
                "created_at": created_at,
                "source_commit_id": source_commit_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        approver = d.pop("approver")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        source_commit_id = d.pop("source_commit_id")

        pull_request_approval = cls(
            approver=approver,
            created_at=created_at,
            source_commit_id=source_commit_id,
        )

        pull_request_approval.additional_properties = d
        return pull_request_approval

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
