# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit_creation_metadata import CommitCreationMetadata


T = TypeVar("T", bound="CommitCreation")


@_attrs_define
class CommitCreation:
    """A commit to create.

    Attributes:
        message (str): The commit message; may be empty.
        author (str | Unset): The id of another user to record as the committer. Needs `fs:CommitAs` on the branch. The
            commit metadata records the caller as `lakebed.committed_by`. Lakebed only.
        metadata (CommitCreationMetadata | Unset): Metadata keys and values.
        date (int | Unset): The time of the commit (Unix seconds). The current time when absent.
        allow_empty (bool | Unset): Commit even if nothing changed. Default: False.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    message: str
    author: str | Unset = UNSET
    metadata: CommitCreationMetadata | Unset = UNSET
    date: int | Unset = UNSET
    allow_empty: bool | Unset = False
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        author = self.author

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        date = self.date

        allow_empty = self.allow_empty

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "message": message,
            }
        )
        if author is not UNSET:
            field_dict["author"] = author
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if date is not UNSET:
            field_dict["date"] = date
        if allow_empty is not UNSET:
            field_dict["allow_empty"] = allow_empty
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit_creation_metadata import CommitCreationMetadata

        d = dict(src_dict)
        message = d.pop("message")

        author = d.pop("author", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: CommitCreationMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = CommitCreationMetadata.from_dict(_metadata)

        date = d.pop("date", UNSET)

        allow_empty = d.pop("allow_empty", UNSET)

        force = d.pop("force", UNSET)

        commit_creation = cls(
            message=message,
            author=author,
            metadata=metadata,
            date=date,
            allow_empty=allow_empty,
            force=force,
        )

        commit_creation.additional_properties = d
        return commit_creation

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
