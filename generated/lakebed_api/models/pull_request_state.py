# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.pull_request_approval_count import PullRequestApprovalCount
    from ..models.pull_request_check import PullRequestCheck


T = TypeVar("T", bound="PullRequestState")


@_attrs_define
class PullRequestState:
    """Whether a pull request can be merged, and what blocks it.

    Attributes:
        mergeable (str): `clean`, or what blocks the merge: `draft`, `conflicts`, `behind` (the source has no commits
            that the destination lacks), missing `approvals` or missing `checks`. `unknown` if the pull request is not open,
            or if a branch does not exist.
        approvals (PullRequestApprovalCount): The number of valid and of required approvals.
        changes_requested_by (list[str]): The users who requested changes, if the request still counts.
        checks (list[PullRequestCheck]): The checks, required checks first.
        conflicts_url (str | Unset): If `mergeable` is `conflicts`, the API path that lists them.
        source_commit_id (str | Unset): The id of the head commit of the source.
        destination_commit_id (str | Unset): The id of the head commit of the destination.
        base_commit_id (str | Unset): The id of their nearest common ancestor.
    """

    mergeable: str
    approvals: PullRequestApprovalCount
    changes_requested_by: list[str]
    checks: list[PullRequestCheck]
    conflicts_url: str | Unset = UNSET
    source_commit_id: str | Unset = UNSET
    destination_commit_id: str | Unset = UNSET
    base_commit_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        mergeable = self.mergeable

        approvals = self.approvals.to_dict()

        changes_requested_by = self.changes_requested_by

        checks = []
        for checks_item_data in self.checks:
            checks_item = checks_item_data.to_dict()
            checks.append(checks_item)

        conflicts_url = self.conflicts_url

        source_commit_id = self.source_commit_id

        destination_commit_id = self.destination_commit_id

        base_commit_id = self.base_commit_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "mergeable": mergeable,
                "approvals": approvals,
                "changes_requested_by": changes_requested_by,
                "checks": checks,
            }
        )
        if conflicts_url is not UNSET:
            field_dict["conflicts_url"] = conflicts_url
        if source_commit_id is not UNSET:
            field_dict["source_commit_id"] = source_commit_id
        if destination_commit_id is not UNSET:
            field_dict["destination_commit_id"] = destination_commit_id
        if base_commit_id is not UNSET:
            field_dict["base_commit_id"] = base_commit_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.pull_request_approval_count import PullRequestApprovalCount
        from ..models.pull_request_check import PullRequestCheck

        d = dict(src_dict)
        mergeable = d.pop("mergeable")

        approvals = PullRequestApprovalCount.from_dict(d.pop("approvals"))

        changes_requested_by = cast(list[str], d.pop("changes_requested_by"))

        checks = []
        _checks = d.pop("checks")
        for checks_item_data in _checks:
            checks_item = PullRequestCheck.from_dict(checks_item_data)

            checks.append(checks_item)

        conflicts_url = d.pop("conflicts_url", UNSET)

        source_commit_id = d.pop("source_commit_id", UNSET)

        destination_commit_id = d.pop("destination_commit_id", UNSET)

        base_commit_id = d.pop("base_commit_id", UNSET)

        pull_request_state = cls(
            mergeable=mergeable,
            approvals=approvals,
            changes_requested_by=changes_requested_by,
            checks=checks,
            conflicts_url=conflicts_url,
            source_commit_id=source_commit_id,
            destination_commit_id=destination_commit_id,
            base_commit_id=base_commit_id,
        )

        pull_request_state.additional_properties = d
        return pull_request_state

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
