# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.frequent_value import FrequentValue
    from ..models.histogram_bin import HistogramBin


T = TypeVar("T", bound="ColumnStatistics")


@_attrs_define
class ColumnStatistics:
    """Statistics of the values of a column. Absent fields are unknown.

    Attributes:
        column (str): The name.
        source (str): `rows` if the server read all rows, `footers` if the values are from file footers.
        nulls (int | Unset): The number of nulls.
        distinct (int | Unset): The number of distinct values, without nulls.
        minimum (Any | Unset): The smallest value, as a cell.
        maximum (Any | Unset): The largest value, as a cell.
        histogram (list[HistogramBin] | Unset): The number of values in each range. All ranges have the same width.
        frequent (list[FrequentValue] | Unset): The most frequent values, the most frequent first.
    """

    column: str
    source: str
    nulls: int | Unset = UNSET
    distinct: int | Unset = UNSET
    minimum: Any | Unset = UNSET
    maximum: Any | Unset = UNSET
    histogram: list[HistogramBin] | Unset = UNSET
    frequent: list[FrequentValue] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        column = self.column

        source = self.source

        nulls = self.nulls

        distinct = self.distinct

        minimum = self.minimum

        maximum = self.maximum

        histogram: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.histogram, Unset):
            histogram = []
            for histogram_item_data in self.histogram:
                histogram_item = histogram_item_data.to_dict()
                histogram.append(histogram_item)

        frequent: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.frequent, Unset):
            frequent = []
            for frequent_item_data in self.frequent:
                frequent_item = frequent_item_data.to_dict()
                frequent.append(frequent_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "column": column,
                "source": source,
            }
        )
        if nulls is not UNSET:
            field_dict["nulls"] = nulls
        if distinct is not UNSET:
            field_dict["distinct"] = distinct
        if minimum is not UNSET:
            field_dict["minimum"] = minimum
        if maximum is not UNSET:
            field_dict["maximum"] = maximum
        if histogram is not UNSET:
            field_dict["histogram"] = histogram
        if frequent is not UNSET:
            field_dict["frequent"] = frequent

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.frequent_value import FrequentValue
        from ..models.histogram_bin import HistogramBin

        d = dict(src_dict)
        column = d.pop("column")

        source = d.pop("source")

        nulls = d.pop("nulls", UNSET)

        distinct = d.pop("distinct", UNSET)

        minimum = d.pop("minimum", UNSET)

        maximum = d.pop("maximum", UNSET)

        _histogram = d.pop("histogram", UNSET)
        histogram: list[HistogramBin] | Unset = UNSET
        if _histogram is not UNSET:
            histogram = []
            for histogram_item_data in _histogram:
                histogram_item = HistogramBin.from_dict(histogram_item_data)

                histogram.append(histogram_item)

        _frequent = d.pop("frequent", UNSET)
        frequent: list[FrequentValue] | Unset = UNSET
        if _frequent is not UNSET:
            frequent = []
            for frequent_item_data in _frequent:
                frequent_item = FrequentValue.from_dict(frequent_item_data)

                frequent.append(frequent_item)

        column_statistics = cls(
            column=column,
            source=source,
            nulls=nulls,
            distinct=distinct,
            minimum=minimum,
            maximum=maximum,
            histogram=histogram,
            frequent=frequent,
        )

        column_statistics.additional_properties = d
        return column_statistics

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
