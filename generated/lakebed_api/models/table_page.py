# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.column_statistics import ColumnStatistics
    from ..models.table_column import TableColumn


T = TypeVar("T", bound="TablePage")


@_attrs_define
class TablePage:
    """Rows of a table. A cell is null, a boolean, a number or a string. Integers beyond 2^53, decimals, times and NaN are
    strings. Binary cells are hexadecimal strings, and nested cells are JSON strings. A truncated string is an object
    with `cut` (its beginning) and `length` (in characters, or in bytes for binary cells).

        Attributes:
            path (str): The path in the request.
            format_ (str): The format of the files.
            files (int): The number of files.
            size_bytes (int): The total size of the files in bytes.
            schema (list[TableColumn]): All columns.
            columns (list[str]): The columns of `rows`.
            rows (list[list[Any]]): The cells of each row.
            offset (int): The number of skipped rows.
            has_more (bool): Whether there are more rows.
            complete (bool): Whether `rows` can reach all rows of the table.
            total_rows (int | Unset): The number of rows of the table. Absent if only a part of it was read.
            encoding (str | Unset): The encoding of a text file.
            skipped_rows (int | Unset): The number of lines of a CSV file that the server skipped because they have a
                different number of fields.
            statistics (list[ColumnStatistics] | Unset): The statistics, if they were requested.
    """

    path: str
    format_: str
    files: int
    size_bytes: int
    schema: list[TableColumn]
    columns: list[str]
    rows: list[list[Any]]
    offset: int
    has_more: bool
    complete: bool
    total_rows: int | Unset = UNSET
    encoding: str | Unset = UNSET
    skipped_rows: int | Unset = UNSET
    statistics: list[ColumnStatistics] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        path = self.path

        format_ = self.format_

        files = self.files

        size_bytes = self.size_bytes

        schema = []
        for schema_item_data in self.schema:
            schema_item = schema_item_data.to_dict()
            schema.append(schema_item)

        columns = self.columns

        rows = []
        for rows_item_data in self.rows:
            rows_item = rows_item_data

            rows.append(rows_item)

        offset = self.offset

        has_more = self.has_more

        complete = self.complete

        total_rows = self.total_rows

        encoding = self.encoding

        skipped_rows = self.skipped_rows

        statistics: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.statistics, Unset):
            statistics = []
            for statistics_item_data in self.statistics:
                statistics_item = statistics_item_data.to_dict()
                statistics.append(statistics_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
                "format": format_,
                "files": files,
                "size_bytes": size_bytes,
                "schema": schema,
                "columns": columns,
                "rows": rows,
                "offset": offset,
                "has_more": has_more,
                "complete": complete,
            }
        )
        if total_rows is not UNSET:
            field_dict["total_rows"] = total_rows
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if skipped_rows is not UNSET:
            field_dict["skipped_rows"] = skipped_rows
        if statistics is not UNSET:
            field_dict["statistics"] = statistics

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.column_statistics import ColumnStatistics
        from ..models.table_column import TableColumn

        d = dict(src_dict)
        path = d.pop("path")

        format_ = d.pop("format")

        files = d.pop("files")

        size_bytes = d.pop("size_bytes")

        schema = []
        _schema = d.pop("schema")
        for schema_item_data in _schema:
            schema_item = TableColumn.from_dict(schema_item_data)

            schema.append(schema_item)

        columns = cast(list[str], d.pop("columns"))

        rows = []
        _rows = d.pop("rows")
        for rows_item_data in _rows:
            rows_item = cast(list[Any], rows_item_data)

            rows.append(rows_item)

        offset = d.pop("offset")

        has_more = d.pop("has_more")

        complete = d.pop("complete")

        total_rows = d.pop("total_rows", UNSET)

        encoding = d.pop("encoding", UNSET)

        skipped_rows = d.pop("skipped_rows", UNSET)

        _statistics = d.pop("statistics", UNSET)
        statistics: list[ColumnStatistics] | Unset = UNSET
        if _statistics is not UNSET:
            statistics = []
            for statistics_item_data in _statistics:
                statistics_item = ColumnStatistics.from_dict(statistics_item_data)

                statistics.append(statistics_item)

        table_page = cls(
            path=path,
            format_=format_,
            files=files,
            size_bytes=size_bytes,
            schema=schema,
            columns=columns,
            rows=rows,
            offset=offset,
            has_more=has_more,
            complete=complete,
            total_rows=total_rows,
            encoding=encoding,
            skipped_rows=skipped_rows,
            statistics=statistics,
        )

        table_page.additional_properties = d
        return table_page

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
