"""Finds the columns of an Arrow schema by their path, such as `address.city`, and their positions in a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lakebed_format.globs import Globs

from lakebed_hooks.contracts.column_types import stored
from lakebed_hooks.contracts.fields import did_you_mean
from lakebed_hooks.contracts.report import VALUES_MOST, BadValue, Result
from lakebed_hooks.contracts.vocabulary import Contract, ForbidColumns


class ColumnAt(NamedTuple):
    """A column. `leaf`: the number of its first Parquet column. Nested columns have several."""

    names: tuple[str, ...]
    type: Any
    leaf: int
    is_leaf: bool
    in_list: bool
    is_ambiguous: bool

    @property
    def path(self) -> str:
        """The names with dots between them."""
        return ".".join(self.names)


def columns_of(schema: Any) -> Mapping[str, ColumnAt]:
    """All columns of a schema, at any depth, by path."""
    found: dict[str, ColumnAt] = {}
    for column in _below((), schema, 0, False):
        old = found.get(column.path)
        # a name with a dot takes precedence over a field of a structure, and two columns with one name are an error
        if old is None or len(column.names) < len(old.names):
            found[column.path] = column
        elif len(column.names) == len(old.names):
            found[column.path] = old._replace(is_ambiguous=True)
    return found


def _below(names: tuple[str, ...], fields: Any, leaf: int, in_list: bool) -> Iterator[ColumnAt]:
    for field in fields:
        kind = stored(field.type)
        path = (*names, field.name)
        children = [kind.field(index) for index in range(kind.num_fields)]
        yield ColumnAt(path, field.type, leaf, not children, in_list, False)
        yield from _below(path, children, leaf, in_list or not _is_struct(kind))
        leaf += _leaves(kind)


def _leaves(kind: Any) -> int:
    kind = stored(kind)
    if not kind.num_fields:
        return 1
    return sum(_leaves(kind.field(index).type) for index in range(kind.num_fields))


def _is_struct(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_struct(kind))


def missing(column: str, columns: Mapping[str, ColumnAt]) -> str:
    """The end of the sentence about a file without a column."""
    near = did_you_mean(column, [*columns][:2000]) if columns else ""
    return f"has no column {column!r}" + (near if near.startswith(": did") else "")


def values_of(batch: Any, column: ColumnAt) -> Any:
    """The values of a column of a batch, one for each row. A field of a null is null."""
    import pyarrow.compute as pc

    found = plain(batch.column(batch.schema.get_field_index(column.names[0])))
    for name in column.names[1:]:
        found = plain(pc.struct_field(found, name))
    return found


def plain(values: Any) -> Any:
    """Values without dictionaries, runs and extension types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    while True:
        if isinstance(values.type, pa.BaseExtensionType):
            values = values.storage
        elif pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        elif pa.types.is_run_end_encoded(values.type):
            values = pc.run_end_decode(values)
        else:
            return values


def column_results(contract: Contract, columns: Mapping[str, ColumnAt]) -> Iterator[Result]:
    """Results of the schema and of forbidden columns, for any file with these columns."""
    if contract.schema:
        wrong = list(_schema_errors(contract, columns))
        for name, said in wrong:
            yield Result("", "schema", "refused", name, said)
        if not wrong:
            yield Result("", "schema", "passed")
    for check in contract.checks:
        if isinstance(check, ForbidColumns):
            globs = Globs([pattern.lower() for pattern in check.patterns])
            bad = [path for path in columns if globs.choose(path.replace(".", "/").lower())]
            if bad:
                said = f"has the forbidden column{'s' if len(bad) > 1 else ''} {', '.join(map(repr, bad[:5]))}"
                values = tuple(BadValue(None, path) for path in bad[:VALUES_MOST])
                yield Result("", "forbid_columns", "refused", "", said, bad=len(bad), values=values)
            else:
                yield Result("", "forbid_columns", "passed", bad=0)


def _schema_errors(contract: Contract, columns: Mapping[str, ColumnAt]) -> Iterator[tuple[str, str]]:
    known = {column.name for column in contract.schema}
    for column in contract.schema:
        found = columns.get(column.name)
        if found is None:
            yield column.name, missing(column.name, columns)
        elif found.is_ambiguous:
            yield column.name, f"has two columns {column.name!r}"
        elif column.type is not None and not column.type.fits(found.type):
            yield column.name, f"{column.name!r} is {stored(found.type)}, not {column.type}"
    if not contract.additional:
        parents = {name.partition(".")[0] for name in known}
        for path, found in columns.items():
            if len(found.names) == 1 and path not in known and path not in parents:
                yield path, f"has the column {path!r}, which the schema does not name"
