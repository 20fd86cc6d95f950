# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit import Commit


T = TypeVar("T", bound="ObjectWriter")


@_attrs_define
class ObjectWriter:
    """An object, and the commit that wrote it.

    Attributes:
        path (str): The path.
        size_bytes (int): The size in bytes.
        mtime (int): Time of the last write (Unix seconds).
        uncommitted (bool): Whether the current content is uncommitted.
        commit (Commit | Unset): A commit.
    """

    path: str
    size_bytes: int
    mtime: int
    uncommitted: bool
    commit: Commit | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        path = self.path

        size_bytes = self.size_bytes

        mtime = self.mtime

        uncommitted = self.uncommitted

        commit: dict[str, Any] | Unset = UNSET
        if not isinstance(self.commit, Unset):
            commit = self.commit.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
                "size_bytes": size_bytes,
                "mtime": mtime,
                "uncommitted": uncommitted,
            }
        )
        if commit is not UNSET:
            field_dict["commit"] = commit

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit import Commit

        d = dict(src_dict)
        path = d.pop("path")

        size_bytes = d.pop("size_bytes")

        mtime = d.pop("mtime")

        uncommitted = d.pop("uncommitted")

        _commit = d.pop("commit", UNSET)
        commit: Commit | Unset
        if isinstance(_commit, Unset):
            commit = UNSET
        else:
            commit = Commit.from_dict(_commit)

        object_writer = cls(
            path=path,
            size_bytes=size_bytes,
            mtime=mtime,
            uncommitted=uncommitted,
            commit=commit,
        )

        object_writer.additional_properties = d
        return object_writer

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
