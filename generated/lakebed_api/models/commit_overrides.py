# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit_overrides_metadata import CommitOverridesMetadata


T = TypeVar("T", bound="CommitOverrides")


@_attrs_define
class CommitOverrides:
    """The message and metadata that replace those of the original commit.

    Attributes:
        message (str | Unset): The message; the default message when absent or empty.
        metadata (CommitOverridesMetadata | Unset): The metadata of the new commit. It replaces all original keys.
    """

    message: str | Unset = UNSET
    metadata: CommitOverridesMetadata | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if message is not UNSET:
            field_dict["message"] = message
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit_overrides_metadata import CommitOverridesMetadata

        d = dict(src_dict)
        message = d.pop("message", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: CommitOverridesMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = CommitOverridesMetadata.from_dict(_metadata)

        commit_overrides = cls(
            message=message,
            metadata=metadata,
        )

        commit_overrides.additional_properties = d
        return commit_overrides

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
