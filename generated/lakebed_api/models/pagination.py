# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Pagination")


@_attrs_define
class Pagination:
    """The position of a page in the results.

    Attributes:
        has_more (bool): Whether there is another page.
        next_offset (str): The value of `after` for the next page. Empty on the last page.
        results (int): The number of results on this page.
        max_per_page (int): The maximum number of results per page.
    """

    has_more: bool
    next_offset: str
    results: int
    max_per_page: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        has_more = self.has_more

        next_offset = self.next_offset

        results = self.results

        max_per_page = self.max_per_page

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "has_more": has_more,
                "next_offset": next_offset,
                "results": results,
                "max_per_page": max_per_page,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        has_more = d.pop("has_more")

        next_offset = d.pop("next_offset")

        results = d.pop("results")

        max_per_page = d.pop("max_per_page")

        pagination = cls(
            has_more=has_more,
            next_offset=next_offset,
            results=results,
            max_per_page=max_per_page,
        )

        pagination.additional_properties = d
        return pagination

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
