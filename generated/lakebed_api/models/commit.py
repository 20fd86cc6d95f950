# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit_metadata import CommitMetadata


T = TypeVar("T", bound="Commit")


@_attrs_define
class Commit:
    """A commit.

    Attributes:
        id (str): The id: 64 lower-case hexadecimal digits.
        parents (list[str]): The ids of the parents. The first commit has no parent, and a merge has two.
        committer (str): The committer: the e-mail address of the user, or the id if the user has none.
        message (str): The commit message.
        creation_date (int): Creation time (Unix seconds).
        meta_range_id (str): The id of the metarange of the commit's content. Empty if there is none.
        metadata (CommitMetadata | Unset): Metadata keys and values.
        generation (int | Unset): One more than the largest generation of its parents.
        version (int | Unset): The version of the rule that computes the id.
    """

    id: str
    parents: list[str]
    committer: str
    message: str
    creation_date: int
    meta_range_id: str
    metadata: CommitMetadata | Unset = UNSET
    generation: int | Unset = UNSET
    version: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        parents = self.parents

        committer = self.committer

        message = self.message

        creation_date = self.creation_date

        meta_range_id = self.meta_range_id

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        generation = self.generation

        version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "parents": parents,
                "committer": committer,
                "message": message,
                "creation_date": creation_date,
                "meta_range_id": meta_range_id,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if generation is not UNSET:
            field_dict["generation"] = generation
        if version is not UNSET:
            field_dict["version"] = version

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit_metadata import CommitMetadata

        d = dict(src_dict)
        id = d.pop("id")

        parents = cast(list[str], d.pop("parents"))

        committer = d.pop("committer")

        message = d.pop("message")

        creation_date = d.pop("creation_date")

        meta_range_id = d.pop("meta_range_id")

        _metadata = d.pop("metadata", UNSET)
        metadata: CommitMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = CommitMetadata.from_dict(_metadata)

        generation = d.pop("generation", UNSET)

        version = d.pop("version", UNSET)

        commit = cls(
            id=id,
            parents=parents,
            committer=committer,
            message=message,
            creation_date=creation_date,
            meta_range_id=meta_range_id,
            metadata=metadata,
            generation=generation,
            version=version,
        )

        commit.additional_properties = d
        return commit

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
