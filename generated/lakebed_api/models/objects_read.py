# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ObjectsRead")


@_attrs_define
class ObjectsRead:
    """The objects to read, either `paths` or `prefix`.

    Attributes:
        paths (list[str] | Unset): The paths of the objects.
        prefix (str | Unset): Read the objects whose paths begin with this text, in the byte order of their paths. At
            most 10,000 objects; if there are more, the last frame has `has_more`. An empty prefix selects all objects.
        after (str | Unset): Start after this path. Only with `prefix`.
        max_object_size (int | Unset): The largest size in bytes of an object whose content the response contains. For a
            larger object, the response contains only the head, with `omitted`.
    """

    paths: list[str] | Unset = UNSET
    prefix: str | Unset = UNSET
    after: str | Unset = UNSET
    max_object_size: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        paths: list[str] | Unset = UNSET
        if not isinstance(self.paths, Unset):
            paths = self.paths

        prefix = self.prefix

        after = self.after

        max_object_size = self.max_object_size

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if paths is not UNSET:
            field_dict["paths"] = paths
        if prefix is not UNSET:
            field_dict["prefix"] = prefix
        if after is not UNSET:
            field_dict["after"] = after
        if max_object_size is not UNSET:
            field_dict["max_object_size"] = max_object_size

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        paths = cast(list[str], d.pop("paths", UNSET))

        prefix = d.pop("prefix", UNSET)

        after = d.pop("after", UNSET)

        max_object_size = d.pop("max_object_size", UNSET)

        objects_read = cls(
            paths=paths,
            prefix=prefix,
            after=after,
            max_object_size=max_object_size,
        )

        objects_read.additional_properties = d
        return objects_read

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
