# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.repository_metadata_set_metadata import RepositoryMetadataSetMetadata


T = TypeVar("T", bound="RepositoryMetadataSet")


@_attrs_define
class RepositoryMetadataSet:
    """Keys to set.

    Attributes:
        metadata (RepositoryMetadataSetMetadata): The keys and their values.
    """

    metadata: RepositoryMetadataSetMetadata
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "metadata": metadata,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.repository_metadata_set_metadata import (
            RepositoryMetadataSetMetadata,
        )

        d = dict(src_dict)
        metadata = RepositoryMetadataSetMetadata.from_dict(d.pop("metadata"))

        repository_metadata_set = cls(
            metadata=metadata,
        )

        repository_metadata_set.additional_properties = d
        return repository_metadata_set

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
