# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit import Commit


T = TypeVar("T", bound="RepositoryStatistics")


@_attrs_define
class RepositoryStatistics:
    """The head of the default branch, and the number and size of its objects.

    Attributes:
        objects (int): The number of objects.
        last_commit (Commit | Unset): A commit.
        bytes_ (int | Unset): The size of all objects. Absent while the server is still counting.
    """

    objects: int
    last_commit: Commit | Unset = UNSET
    bytes_: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        objects = self.objects

        last_commit: dict[str, Any] | Unset = UNSET
        if not isinstance(self.last_commit, Unset):
            last_commit = self.last_commit.to_dict()

        bytes_ = self.bytes_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "objects": objects,
            }
        )
        if last_commit is not UNSET:
            field_dict["last_commit"] = last_commit
        if bytes_ is not UNSET:
            field_dict["bytes"] = bytes_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit import Commit

        d = dict(src_dict)
        objects = d.pop("objects")

        _last_commit = d.pop("last_commit", UNSET)
        last_commit: Commit | Unset
        if isinstance(_last_commit, Unset):
            last_commit = UNSET
        else:
            last_commit = Commit.from_dict(_last_commit)

        bytes_ = d.pop("bytes", UNSET)

        repository_statistics = cls(
            objects=objects,
            last_commit=last_commit,
            bytes_=bytes_,
        )

        repository_statistics.additional_properties = d
        return repository_statistics

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
