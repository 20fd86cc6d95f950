# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="RepositoryPurge")


@_attrs_define
class RepositoryPurge:
    """The progress of a purge.

    Attributes:
        repository (str): The name of the repository.
        storage_namespace (str): The storage namespace.
        done (bool): Whether the purge is complete. The name and the namespace are then available.
        deleted (int): The number of files that this request deleted.
        deleted_bytes (int): Total size of the deleted files in bytes.
        foreign (int): The number of files that Lakebed did not create. The server does not delete them.
        foreign_example (str | Unset): The key of one such file.
    """

    repository: str
    storage_namespace: str
    done: bool
    deleted: int
    deleted_bytes: int
    foreign: int
    foreign_example: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        repository = self.repository

        storage_namespace = self.storage_namespace

        done = self.done

        deleted = self.deleted

        deleted_bytes = self.deleted_bytes

        foreign = self.foreign

        foreign_example = self.foreign_example

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "repository": repository,
                "storage_namespace": storage_namespace,
                "done": done,
                "deleted": deleted,
                "deleted_bytes": deleted_bytes,
                "foreign": foreign,
            }
        )
        if foreign_example is not UNSET:
            field_dict["foreign_example"] = foreign_example

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        repository = d.pop("repository")

        storage_namespace = d.pop("storage_namespace")

        done = d.pop("done")

        deleted = d.pop("deleted")

        deleted_bytes = d.pop("deleted_bytes")

        foreign = d.pop("foreign")

        foreign_example = d.pop("foreign_example", UNSET)

        repository_purge = cls(
            repository=repository,
            storage_namespace=storage_namespace,
            done=done,
            deleted=deleted,
            deleted_bytes=deleted_bytes,
            foreign=foreign,
            foreign_example=foreign_example,
        )

        repository_purge.additional_properties = d
        return repository_purge

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
