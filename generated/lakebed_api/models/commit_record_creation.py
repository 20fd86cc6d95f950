# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit_record_creation_metadata import CommitRecordCreationMetadata


T = TypeVar("T", bound="CommitRecordCreation")


@_attrs_define
class CommitRecordCreation:
    """A commit to store unchanged.

    Attributes:
        commit_id (str): The id of the commit. It must match the content.
        version (int): The version of the rule that computes the id.
        committer (str): The committer: the e-mail address of the user, or the id if the user has none.
        message (str): The commit message.
        metarange_id (str): The id of the metarange of the commit's content. Empty if there is none.
        creation_date (int): Creation time (Unix seconds).
        parents (list[str]): The ids of its parents.
        generation (int): One more than the largest generation of its parents.
        metadata (CommitRecordCreationMetadata | Unset): Metadata keys and values.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    commit_id: str
    version: int
    committer: str
    message: str
    metarange_id: str
    creation_date: int
    parents: list[str]
    generation: int
    metadata: CommitRecordCreationMetadata | Unset = UNSET
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        commit_id = self.commit_id

        version = self.version

        committer = self.committer

        message = self.message

        metarange_id = self.metarange_id

        creation_date = self.creation_date

        parents = self.parents

        generation = self.generation

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "commit_id": commit_id,
                "version": version,
                "committer": committer,
                "message": message,
                "metarange_id": metarange_id,
                "creation_date": creation_date,
                "parents": parents,
                "generation": generation,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit_record_creation_metadata import (
            CommitRecordCreationMetadata,
        )

        d = dict(src_dict)
        commit_id = d.pop("commit_id")

        version = d.pop("version")

        committer = d.pop("committer")

        message = d.pop("message")

        metarange_id = d.pop("metarange_id")

        creation_date = d.pop("creation_date")

        parents = cast(list[str], d.pop("parents"))

        generation = d.pop("generation")

        _metadata = d.pop("metadata", UNSET)
        metadata: CommitRecordCreationMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = CommitRecordCreationMetadata.from_dict(_metadata)

        force = d.pop("force", UNSET)

        commit_record_creation = cls(
            commit_id=commit_id,
            version=version,
            committer=committer,
            message=message,
            metarange_id=metarange_id,
            creation_date=creation_date,
            parents=parents,
            generation=generation,
            metadata=metadata,
            force=force,
        )

        commit_record_creation.additional_properties = d
        return commit_record_creation

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
