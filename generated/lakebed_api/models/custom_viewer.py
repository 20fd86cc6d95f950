# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CustomViewer")


@_attrs_define
class CustomViewer:
    """A viewer for some types of objects.

    Attributes:
        name (str): The display name.
        url (str): The URL of the viewer.
        extensions (list[str] | Unset): The file extensions that the viewer supports.
        content_types (list[str] | Unset): The content types that the viewer supports.
    """

    name: str
    url: str
    extensions: list[str] | Unset = UNSET
    content_types: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        url = self.url

        extensions: list[str] | Unset = UNSET
        if not isinstance(self.extensions, Unset):
            extensions = self.extensions

        content_types: list[str] | Unset = UNSET
        if not isinstance(self.content_types, Unset):
            content_types = self.content_types

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "url": url,
            }
        )
        if extensions is not UNSET:
            field_dict["extensions"] = extensions
        if content_types is not UNSET:
            field_dict["content_types"] = content_types

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        url = d.pop("url")

        extensions = cast(list[str], d.pop("extensions", UNSET))

        content_types = cast(list[str], d.pop("content_types", UNSET))

        custom_viewer = cls(
            name=name,
            url=url,
            extensions=extensions,
            content_types=content_types,
        )

        custom_viewer.additional_properties = d
        return custom_viewer

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
