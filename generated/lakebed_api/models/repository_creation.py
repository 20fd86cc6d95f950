# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="RepositoryCreation")


@_attrs_define
class RepositoryCreation:
    """A repository to create.

    Attributes:
        name (str): The name: 3 to 63 lower-case letters, digits and hyphens. It must not begin with a hyphen.
        storage_id (str | Unset): The id of the store for the content, a `blockstore_id` of `getConfig`. Empty for the
            default store.
        storage_namespace (str | Unset): The storage namespace for the content, such as `local://bucket/lake`. No other
            repository may use it. When empty or absent, the server chooses a free one below its `default_namespace_prefix`.
        default_branch (str | Unset): The name of the default branch. `main` when empty or absent.
        sample_data (bool | Unset): Fill the repository with generated sample objects. Default: False.
        read_only (bool | Unset): Make the new repository read-only. Default: False.
        allow_non_empty_namespace (bool | Unset): Accept a namespace with other objects. Lakebed does not read, replace
            or delete them. Default: False.
    """

    name: str
    storage_id: str | Unset = UNSET
    storage_namespace: str | Unset = UNSET
    default_branch: str | Unset = UNSET
    sample_data: bool | Unset = False
    read_only: bool | Unset = False
    allow_non_empty_namespace: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        storage_id = self.storage_id

        storage_namespace = self.storage_namespace

        default_branch = self.default_branch

        sample_data = self.sample_data

        read_only = self.read_only

        allow_non_empty_namespace = self.allow_non_empty_namespace

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
            }
        )
        if storage_id is not UNSET:
            field_dict["storage_id"] = storage_id
        if storage_namespace is not UNSET:
            field_dict["storage_namespace"] = storage_namespace
        if default_branch is not UNSET:
            field_dict["default_branch"] = default_branch
        if sample_data is not UNSET:
            field_dict["sample_data"] = sample_data
        if read_only is not UNSET:
            field_dict["read_only"] = read_only
        if allow_non_empty_namespace is not UNSET:
            field_dict["allow_non_empty_namespace"] = allow_non_empty_namespace

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        storage_id = d.pop("storage_id", UNSET)

        storage_namespace = d.pop("storage_namespace", UNSET)

        default_branch = d.pop("default_branch", UNSET)

        sample_data = d.pop("sample_data", UNSET)

        read_only = d.pop("read_only", UNSET)

        allow_non_empty_namespace = d.pop("allow_non_empty_namespace", UNSET)

        repository_creation = cls(
            name=name,
            storage_id=storage_id,
            storage_namespace=storage_namespace,
            default_branch=default_branch,
            sample_data=sample_data,
            read_only=read_only,
            allow_non_empty_namespace=allow_non_empty_namespace,
        )

        repository_creation.additional_properties = d
        return repository_creation

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
