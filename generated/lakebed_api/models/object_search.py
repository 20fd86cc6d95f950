# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.object_stats import ObjectStats
    from ..models.pagination import Pagination


T = TypeVar("T", bound="ObjectSearch")


@_attrs_define
class ObjectSearch:
    """One page of a search.

    Attributes:
        pagination (Pagination): The position of a page in the results.
        results (list[ObjectStats]): The a search on this page.
        scanned (int): The number of paths that the server read.
        bound_reached (bool): Whether the page ended because the request reached its limit of paths.
    """

    pagination: Pagination
    results: list[ObjectStats]
    scanned: int
    bound_reached: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        pagination = self.pagination.to_dict()

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        scanned = self.scanned

        bound_reached = self.bound_reached

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "pagination": pagination,
                "results": results,
                "scanned": scanned,
                "bound_reached": bound_reached,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.object_stats import ObjectStats
        from ..models.pagination import Pagination

        d = dict(src_dict)
        pagination = Pagination.from_dict(d.pop("pagination"))

        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = ObjectStats.from_dict(results_item_data)

            results.append(results_item)

        scanned = d.pop("scanned")

        bound_reached = d.pop("bound_reached")

        object_search = cls(
            pagination=pagination,
            results=results,
            scanned=scanned,
            bound_reached=bound_reached,
        )

        object_search.additional_properties = d
        return object_search

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
