# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.conflict import Conflict


T = TypeVar("T", bound="Error")


@_attrs_define
class Error:
    """An error: `message` is for people, `kind` is for programs.

    Attributes:
        message (str): One sentence for people. Do not parse it.
        kind (str | Unset): The stable identifier of the error. New kinds may be added; handle an unknown kind by its
            status.

            - 400: invalid_request, invalid_name, invalid_path, invalid_ref, invalid_namespace, namespace_in_use,
              namespace_not_empty, request_too_large, dirty_branch, no_changes, no_merge_base, pull_closed,
              invalid_address, checksum_mismatch, invalid_part, invalid_part_order, part_too_small, part_too_large,
            invalid_policy
            - 401: unauthenticated
            - 403: permission_denied, foreign_origin, key_required, protected_branch, read_only_repository,
              default_branch
            - 404: endpoint_not_found, repository_not_found, repository_deleting, branch_not_found, tag_not_found,
            commit_not_found,
              ref_not_found, object_not_found, workspace_not_found, rule_not_found,
              task_not_found, pull_not_found, review_not_found, comment_not_found, upload_not_found, credentials_not_found,
            user_not_found, group_not_found,
              policy_not_found, membership_not_found, attachment_not_found, session_not_found, run_not_found
            - 405: method_not_allowed
            - 409: repository_exists, branch_exists, tag_exists, name_taken, merge_conflict, concurrent_commit,
              source_moved, not_mergeable, dirty_overlap, workspace_closed, parent_required, task_ended,
            idempotency_mismatch, already_set_up,
              last_credential, already_exists, last_administrator, namespace_shared
            - 410: object_gone
            - 412: precondition_failed, hook_refused
            - 413: table_too_large
            - 416: invalid_range
            - 422: unreadable_table
            - 429: too_many_attempts, throttled, login_throttled
            - 500: internal, corrupt_data, outcome_unknown
            - 501: not_implemented
            - 503: store_unavailable, overloaded, interrupted, stopping
            - 507: store_full
        reference (str | Unset): Always empty. Present on a merge conflict for compatibility with other clients.
        conflicts (list[Conflict] | Unset): On merge_conflict, concurrent_commit and dirty_overlap: one page of the
            conflicting paths.
        conflicts_has_more (bool | Unset): Whether there are more conflicts than this page lists.
        no_acl (bool | Unset): On getGroupACL: the group has no access control list.
        request_id (str | Unset): The id of the request in the log of the server.
        run_id (str | Unset): On hook_refused: the id of the hook run. Also set in the error of a task.
    """

    message: str
    kind: str | Unset = UNSET
    reference: str | Unset = UNSET
    conflicts: list[Conflict] | Unset = UNSET
    conflicts_has_more: bool | Unset = UNSET
    no_acl: bool | Unset = UNSET
    request_id: str | Unset = UNSET
    run_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        kind = self.kind

        reference = self.reference

        conflicts: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.conflicts, Unset):
            conflicts = []
            for conflicts_item_data in self.conflicts:
                conflicts_item = conflicts_item_data.to_dict()
                conflicts.append(conflicts_item)

        conflicts_has_more = self.conflicts_has_more

        no_acl = self.no_acl

        request_id = self.request_id

        run_id = self.run_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "message": message,
            }
        )
        if kind is not UNSET:
            field_dict["kind"] = kind
        if reference is not UNSET:
            field_dict["reference"] = reference
        if conflicts is not UNSET:
            field_dict["conflicts"] = conflicts
        if conflicts_has_more is not UNSET:
            field_dict["conflicts_has_more"] = conflicts_has_more
        if no_acl is not UNSET:
            field_dict["no_acl"] = no_acl
        if request_id is not UNSET:
            field_dict["request_id"] = request_id
        if run_id is not UNSET:
            field_dict["run_id"] = run_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.conflict import Conflict

        d = dict(src_dict)
        message = d.pop("message")

        kind = d.pop("kind", UNSET)

        reference = d.pop("reference", UNSET)

        _conflicts = d.pop("conflicts", UNSET)
        conflicts: list[Conflict] | Unset = UNSET
        if _conflicts is not UNSET:
            conflicts = []
            for conflicts_item_data in _conflicts:
                conflicts_item = Conflict.from_dict(conflicts_item_data)

                conflicts.append(conflicts_item)

        conflicts_has_more = d.pop("conflicts_has_more", UNSET)

        no_acl = d.pop("no_acl", UNSET)

        request_id = d.pop("request_id", UNSET)

        run_id = d.pop("run_id", UNSET)

        error = cls(
            message=message,
            kind=kind,
            reference=reference,
            conflicts=conflicts,
            conflicts_has_more=conflicts_has_more,
            no_acl=no_acl,
            request_id=request_id,
            run_id=run_id,
        )

        error.additional_properties = d
        return error

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
