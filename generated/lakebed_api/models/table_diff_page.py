# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.column_change import ColumnChange
    from ..models.table_column import TableColumn
    from ..models.table_diff_row import TableDiffRow


T = TypeVar("T", bound="TableDiffPage")


@_attrs_define
class TableDiffPage:
    """Rows of a table that differ. Cells are as in `TablePage`.

    Attributes:
        path (str): The path in the request.
        format_ (str): The format of the files.
        key (list[str]): The columns that identify a row.
        schema (list[TableColumn]): The columns of both states.
        schema_changes (list[ColumnChange]): The columns that differ.
        columns (list[str]): The columns of `before` and `after`, the key first.
        added (int): The number of added rows.
        removed (int): The number of removed rows.
        changed (int): The number of changed rows.
        rows (list[TableDiffRow]): The rows on this page.
        offset (int): The number of skipped rows.
        has_more (bool): Whether there are more rows.
    """

    path: str
    format_: str
    key: list[str]
    schema: list[TableColumn]
    schema_changes: list[ColumnChange]
    columns: list[str]
    added: int
    removed: int
    changed: int
    rows: list[TableDiffRow]
    offset: int
    has_more: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        path = self.path

        format_ = self.format_

        key = self.key

        schema = []
        for schema_item_data in self.schema:
            schema_item = schema_item_data.to_dict()
            schema.append(schema_item)

        schema_changes = []
        for schema_changes_item_data in self.schema_changes:
            schema_changes_item = schema_changes_item_data.to_dict()
            schema_changes.append(schema_changes_item)

        columns = self.columns

        added = self.added

        removed = self.removed

        changed = self.changed

        rows = []
        for rows_item_data in self.rows:
            rows_item = rows_item_data.to_dict()
            rows.append(rows_item)

        offset = self.offset

        has_more = self.has_more

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
                "format": format_,
                "key": key,
                "schema": schema,
                "schema_changes": schema_changes,
                "columns": columns,
                "added": added,
                "removed": removed,
                "changed": changed,
                "rows": rows,
                "offset": offset,
                "has_more": has_more,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.column_change import ColumnChange
        from ..models.table_column import TableColumn
        from ..models.table_diff_row import TableDiffRow

        d = dict(src_dict)
        path = d.pop("path")

        format_ = d.pop("format")

        key = cast(list[str], d.pop("key"))

        schema = []
        _schema = d.pop("schema")
        for schema_item_data in _schema:
            schema_item = TableColumn.from_dict(schema_item_data)

            schema.append(schema_item)

        schema_changes = []
        _schema_changes = d.pop("schema_changes")
        for schema_changes_item_data in _schema_changes:
            schema_changes_item = ColumnChange.from_dict(schema_changes_item_data)

            schema_changes.append(schema_changes_item)

        columns = cast(list[str], d.pop("columns"))

        added = d.pop("added")

        removed = d.pop("removed")

        changed = d.pop("changed")

        rows = []
        _rows = d.pop("rows")
        for rows_item_data in _rows:
            rows_item = TableDiffRow.from_dict(rows_item_data)

            rows.append(rows_item)

        offset = d.pop("offset")

        has_more = d.pop("has_more")

        table_diff_page = cls(
            path=path,
            format_=format_,
            key=key,
            schema=schema,
            schema_changes=schema_changes,
            columns=columns,
            added=added,
            removed=removed,
            changed=changed,
            rows=rows,
            offset=offset,
            has_more=has_more,
        )

        table_diff_page.additional_properties = d
        return table_diff_page

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
