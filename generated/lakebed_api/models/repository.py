# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Repository")


@_attrs_define
class Repository:
    """A repository.

    Attributes:
        id (str): The name of the repository.
        creation_date (int): Creation time (Unix seconds).
        default_branch (str): The default branch, which cannot be deleted.
        storage_namespace (str): The storage namespace of the content.
        storage_id (str | Unset): The id of the store of the content. Empty for the default store.
        read_only (bool | Unset): Whether the repository is read-only.
        local_path (str | Unset): The directory of `storage_namespace`, for clients on a machine that can access the
            directory. Returned by `getRepository`. Absent if the namespace is not a directory, or if the server does not
            share it. By default the server shares it with clients that connect by a loopback address and prove that they
            run on the same machine: the header `X-Lakebed-Machine` is the SHA-256 (hexadecimal) of `lakebed machine ` and
            the text of `/proc/sys/kernel/random/boot_id`.
    """

    id: str
    creation_date: int
    default_branch: str
    storage_namespace: str
    storage_id: str | Unset = UNSET
    read_only: bool | Unset = UNSET
    local_path: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        creation_date = self.creation_date

        default_branch = self.default_branch

        storage_namespace = self.storage_namespace

        storage_id = self.storage_id

        read_only = self.read_only

        local_path = self.local_path

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "creation_date": creation_date,
                "default_branch": default_branch,
                "storage_namespace": storage_namespace,
            }
        )
        if storage_id is not UNSET:
            field_dict["storage_id"] = storage_id
        if read_only is not UNSET:
            field_dict["read_only"] = read_only
        if local_path is not UNSET:
            field_dict["local_path"] = local_path

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        creation_date = d.pop("creation_date")

        default_branch = d.pop("default_branch")

        storage_namespace = d.pop("storage_namespace")

        storage_id = d.pop("storage_id", UNSET)

        read_only = d.pop("read_only", UNSET)

        local_path = d.pop("local_path", UNSET)

        repository = cls(
            id=id,
            creation_date=creation_date,
            default_branch=default_branch,
            storage_namespace=storage_namespace,
            storage_id=storage_id,
            read_only=read_only,
            local_path=local_path,
        )

        repository.additional_properties = d
        return repository

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
