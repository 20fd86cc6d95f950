"""Reads a contract from the properties of a hook.

    path: "orders/**/*.parquet"
    only_changed: true
    schema: {order_id: int64, amount: "decimal(12,2)", note: {type: string, required: false}}
    additional: refuse
    checks:
      - not_null: [order_id]
      - rows: {min: 1, max_change: 0.5}
      - range: {amount: [0, 1000000]}
      - unique: [order_id, [customer, day]]
      - accepted: {status: [new, paid]}
      - forbid_columns: ["user_*"]
      - {max_files: 1000, min_file_size: 1MiB, formats: [parquet]}

The Open Data Contract Standard defines `required`, `unique` and `description` of a column. `nullable: false` is
`required: true`. Columns that are not required may have nulls.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any, Final

from lakebed_format.globs import GlobError, Globs

from lakebed_hooks.contracts.column_types import parse_type
from lakebed_hooks.contracts.fields import Fields
from lakebed_hooks.contracts.vocabulary import (
    Accepted,
    Check,
    Column,
    Contract,
    FileSize,
    ForbidColumns,
    Formats,
    MaxFiles,
    NotNan,
    NotNull,
    Range,
    Rows,
    Unique,
)

FORMATS: Final = ("parquet", "csv", "jsonl", "orc", "avro", "other")
CHECKS_MOST: Final = 200
_KEYS: Final = ("path", "only_changed", "schema", "additional", "checks", "description", "timeout")
_COLUMN_KEYS: Final = ("type", "nullable", "required", "unique", "description")


def parse_contract(properties: Mapping[str, Any], path: str, line: int) -> Contract:
    """Read the properties of a hook. Raises ActionFileError. `path`, `line`: where the hook begins."""
    fields = Fields(path, line)
    found = fields.mapping(properties, "`properties`", _KEYS)
    glob = fields.text(found.get("path"), "`path`")
    try:
        Globs([glob])
    except GlobError as error:
        raise fields.error("`path`", f"cannot be used: {error}") from None
    if glob.startswith("!"):
        raise fields.error("`path`", "must select files, so it cannot begin with '!'")
    schema, implied = _schema(fields, found.get("schema", {}))
    additional = fields.choice(found.get("additional", "allow"), "`additional`", ("allow", "refuse")) == "allow"
    if not additional and not schema:
        raise fields.error("`additional`", "is `refuse` without a `schema`")
    checks = [*implied, *_checks(fields, found["checks"])] if "checks" in found else implied
    if not checks and not schema:
        raise fields.error("`properties`", "has neither `schema` nor `checks`: it checks nothing")
    only_changed = fields.boolean(found.get("only_changed", True), "`only_changed`")
    return Contract(glob, only_changed, schema, additional, tuple(dict.fromkeys(checks)))


def _schema(fields: Fields, value: Any) -> tuple[tuple[Column, ...], list[Check]]:
    columns: list[Column] = []
    implied: list[Check] = []
    for name, entry in fields.mapping(value, "`schema`").items():
        field = f"`schema.{name}`"
        given = fields.mapping({"type": entry} if isinstance(entry, str) else entry, field, _COLUMN_KEYS)
        kind = None
        if "type" in given:
            try:
                kind = parse_type(fields.text(given["type"], field))
            except ValueError as error:
                raise fields.error(field, str(error)) from None
        required = fields.boolean(given.get("required", not given.get("nullable", True)), field)
        if fields.boolean(given.get("nullable", not required), field) is required:
            raise fields.error(field, "is `required` and `nullable`: give one of them")
        if required:
            implied.append(NotNull(name))
        if fields.boolean(given.get("unique", False), field):
            implied.append(Unique((name,)))
        columns.append(Column(name, kind))
    return tuple(columns), implied


def _checks(fields: Fields, value: Any) -> list[Check]:
    made: list[Check] = []
    for number, item in enumerate(fields.sequence(value, "`checks`", CHECKS_MOST)):
        for key, given in fields.mapping(item, f"`checks[{number}]`", tuple(_READERS)).items():
            made.extend(_READERS[key](fields, given, f"checks[{number}].{key}"))
    return made


def _of_columns(make: Callable[[str], Check]) -> Callable[[Fields, Any, str], list[Check]]:
    return lambda fields, value, field: [make(name) for name in fields.names(value, f"`{field}`")]


def _range(fields: Fields, value: Any, field: str) -> list[Check]:
    made: list[Check] = []
    for column, ends in fields.mapping(value, f"`{field}`").items():
        place = f"`{field}.{column}`"
        if len(fields.sequence(ends, place)) != 2 or ends[0] is ends[1] is None:
            raise fields.error(place, "must be the least and the greatest value, such as [0, 100] or [0, null]")
        low, high = (None if end is None else fields.plain(end, place) for end in ends)
        try:
            if low is not None and high is not None and low > high:
                raise fields.error(place, f"is [{low}, {high}]: the least value is above the greatest")
        except TypeError:
            if isinstance(low, str | datetime.date) and isinstance(high, str | datetime.date):
                made.append(Range(column, low, high))  # for example a date compared with a text
                continue
            raise fields.error(place, f"is [{low!r}, {high!r}]: these are of different types") from None
        made.append(Range(column, low, high))
    return made


def _accepted(fields: Fields, value: Any, field: str) -> list[Check]:
    made: list[Check] = []
    for column, values in fields.mapping(value, f"`{field}`").items():
        place = f"`{field}.{column}`"
        made.append(Accepted(column, tuple(fields.plain(one, place) for one in fields.sequence(values, place, 10_000))))
    return made


def _unique(fields: Fields, value: Any, field: str) -> list[Check]:
    if isinstance(value, str):
        value = [value]
    return [Unique(fields.names(one, f"`{field}`")) for one in fields.sequence(value, f"`{field}`")]


def _rows(fields: Fields, value: Any, field: str) -> list[Check]:
    given = fields.mapping(value, f"`{field}`", ("min", "max", "max_change"))
    least, most = (fields.count(given[key], f"`{field}.{key}`") if key in given else None for key in ("min", "max"))
    change = fields.share(given["max_change"], f"`{field}.max_change`") if "max_change" in given else None
    if not given:
        raise fields.error(f"`{field}`", "needs one of min, max, max_change")
    if least is not None and most is not None and least > most:
        raise fields.error(f"`{field}`", f"has min {least}, which is above max {most}")
    return [Rows(least, most, change)]


def _forbid_columns(fields: Fields, value: Any, field: str) -> list[Check]:
    patterns = fields.names(value, f"`{field}`")
    try:
        Globs(patterns)
    except GlobError as error:
        raise fields.error(f"`{field}`", f"cannot be used: {error}") from None
    return [ForbidColumns(patterns)]


def _formats(fields: Fields, value: Any, field: str) -> list[Check]:
    return [Formats(tuple(fields.choice(one, f"`{field}`", FORMATS) for one in fields.names(value, f"`{field}`")))]


_READERS: Final[Mapping[str, Callable[[Fields, Any, str], list[Check]]]] = {
    "not_null": _of_columns(NotNull),
    "not_nan": _of_columns(NotNan),
    "range": _range,
    "accepted": _accepted,
    "unique": _unique,
    "rows": _rows,
    "forbid_columns": _forbid_columns,
    "max_files": lambda fields, value, field: [MaxFiles(fields.count(value, f"`{field}`"))],
    "min_file_size": lambda fields, value, field: [FileSize("min_file_size", least=fields.size(value, f"`{field}`"))],
    "max_file_size": lambda fields, value, field: [FileSize("max_file_size", most=fields.size(value, f"`{field}`"))],
    "formats": _formats,
}
