# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CopyPartSource")


@_attrs_define
class CopyPartSource:
    """An object to copy from.

    Attributes:
        repository (str): The name of the repository.
        ref (str): The reference to read the object from.
        path (str): The path of the object.
        range_ (str | Unset): The bytes to copy, such as `bytes=0-99`. All when absent.
    """

    repository: str
    ref: str
    path: str
    range_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        repository = self.repository

        ref = self.ref

        path = self.path

        range_ = self.range_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "repository": repository,
                "ref": ref,
                "path": path,
            }
        )
        if range_ is not UNSET:
            field_dict["range"] = range_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        repository = d.pop("repository")

        ref = d.pop("ref")

        path = d.pop("path")

        range_ = d.pop("range", UNSET)

        copy_part_source = cls(
            repository=repository,
            ref=ref,
            path=path,
            range_=range_,
        )

        copy_part_source.additional_properties = d
        return copy_part_source

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
