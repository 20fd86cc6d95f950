# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.commit_policy import CommitPolicy
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.workspace_commit_metadata import WorkspaceCommitMetadata


T = TypeVar("T", bound="WorkspaceCommit")


@_attrs_define
class WorkspaceCommit:
    """How to commit a workspace.

    Attributes:
        message (str | Unset): The commit message. When absent or empty, the message of the workspace.
        author (str | Unset): The id of another user to record as the committer. Needs `fs:CommitAs` on the branch. The
            commit metadata records the caller as `lakebed.committed_by`. Lakebed only.
        metadata (WorkspaceCommitMetadata | Unset): Metadata keys and values.
        date (int | Unset): The time of the commit (Unix seconds). The current time when absent.
        policy (CommitPolicy | Unset): What to do if the branch has moved. `rebase`: commit unless the same paths
            changed. `abort`: refuse the commit. `overwrite`: commit, and prefer the version of the workspace.
        replace_prefix (list[str] | Unset): Prefixes that the workspace replaces. The commit deletes other objects below
            them. A concurrent change there is a conflict.
        paths (list[str] | Unset): Commit only paths that match these globs (syntax of .gitignore files). A glob without
            a match is an error.
        idempotency_key (str | Unset): Any text. A second request with the same text returns the commit of the first
            request. The response is 409 if a different request has the same text.
        allow_empty (bool | Unset): Commit even if nothing changed. Default: False.
        relocate (bool | Unset): Also commit entries that differ from the head only in their physical address. Default:
            False.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    message: str | Unset = UNSET
    author: str | Unset = UNSET
    metadata: WorkspaceCommitMetadata | Unset = UNSET
    date: int | Unset = UNSET
    policy: CommitPolicy | Unset = UNSET
    replace_prefix: list[str] | Unset = UNSET
    paths: list[str] | Unset = UNSET
    idempotency_key: str | Unset = UNSET
    allow_empty: bool | Unset = False
    relocate: bool | Unset = False
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        author = self.author

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        date = self.date

        policy: str | Unset = UNSET
        if not isinstance(self.policy, Unset):
            policy = self.policy.value

        replace_prefix: list[str] | Unset = UNSET
        if not isinstance(self.replace_prefix, Unset):
            replace_prefix = self.replace_prefix

        paths: list[str] | Unset = UNSET
        if not isinstance(self.paths, Unset):
            paths = self.paths

        idempotency_key = self.idempotency_key

        allow_empty = self.allow_empty

        relocate = self.relocate

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if message is not UNSET:
            field_dict["message"] = message
        if author is not UNSET:
            field_dict["author"] = author
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if date is not UNSET:
            field_dict["date"] = date
        if policy is not UNSET:
            field_dict["policy"] = policy
        if replace_prefix is not UNSET:
            field_dict["replace_prefix"] = replace_prefix
        if paths is not UNSET:
            field_dict["paths"] = paths
        if idempotency_key is not UNSET:
            field_dict["idempotency_key"] = idempotency_key
        if allow_empty is not UNSET:
            field_dict["allow_empty"] = allow_empty
        if relocate is not UNSET:
            field_dict["relocate"] = relocate
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.workspace_commit_metadata import WorkspaceCommitMetadata

        d = dict(src_dict)
        message = d.pop("message", UNSET)

        author = d.pop("author", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: WorkspaceCommitMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = WorkspaceCommitMetadata.from_dict(_metadata)

        date = d.pop("date", UNSET)

        _policy = d.pop("policy", UNSET)
        policy: CommitPolicy | Unset
        if isinstance(_policy, Unset):
            policy = UNSET
        else:
            policy = CommitPolicy(_policy)

        replace_prefix = cast(list[str], d.pop("replace_prefix", UNSET))

        paths = cast(list[str], d.pop("paths", UNSET))

        idempotency_key = d.pop("idempotency_key", UNSET)

        allow_empty = d.pop("allow_empty", UNSET)

        relocate = d.pop("relocate", UNSET)

        force = d.pop("force", UNSET)

        workspace_commit = cls(
            message=message,
            author=author,
            metadata=metadata,
            date=date,
            policy=policy,
            replace_prefix=replace_prefix,
            paths=paths,
            idempotency_key=idempotency_key,
            allow_empty=allow_empty,
            relocate=relocate,
            force=force,
        )

        workspace_commit.additional_properties = d
        return workspace_commit

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
