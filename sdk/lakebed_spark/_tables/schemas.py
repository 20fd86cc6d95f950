"""Columns of a table in Spark's types: those of its files, and those of its partitions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakebed.errors import InvalidRequestError

from lakebed_spark._tables.partitions import Pairs, type_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


_NOTED = b"org.apache.spark.sql.parquet.row.metadata"


def partition_types(columns: Sequence[str], partitions: Iterable[Pairs], *, inferred: bool = True) -> dict[str, str]:
    """Return the SQL type of each partition column: the type that holds all its values, or text."""
    if not inferred:
        return dict.fromkeys(columns, "string")
    seen = set(partitions)
    found = {name: type_of(pairs[at][1] for pairs in seen) for at, name in enumerate(columns)}
    return {name: "string" if kind == "void" else kind for name, kind in found.items()}


def with_partitions(data: StructType, types: Mapping[str, str]) -> StructType:
    """Return the data columns, then the partition columns. A column of both keeps its place among the first, as in
    Spark.
    """
    from pyspark.sql.types import StructField, StructType

    fields = {name: StructField(name, _type(text)) for name, text in types.items()}
    head = [fields.get(field.name, field) for field in data]
    return StructType([*head, *(field for name, field in fields.items() if name not in data.names)])


def parsed(schema: StructType | str | None) -> StructType | None:
    """Return a schema, also from text (`id long, day date`). Raises InvalidRequestError."""
    if not isinstance(schema, str):
        return schema
    from pyspark.sql.types import StructType

    try:
        found = StructType.fromDDL(schema)
    except Exception as error:
        raise InvalidRequestError(f"cannot parse the schema {schema!r}: {str(error).splitlines()[0]}") from None
    if not isinstance(found, StructType):
        raise InvalidRequestError(f"the schema {schema!r} has no columns: write columns, such as `id long, day date`")
    return found


def of_parquet(schema: pa.Schema, old_times: Collection[str]) -> StructType:
    """Return the columns of a Parquet file: as Spark noted them when it wrote the file, or as Arrow has them.

    Categories become their values. Times have microseconds. Times of the old type INT96 (`old_times`) are instants.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructField, StructType

    noted = (schema.metadata or {}).get(_NOTED)
    if noted is not None:
        known = StructType.fromJson(json.loads(noted))
        return StructType([StructField(field.name, field.dataType) for field in known])
    fields = []
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_timestamp(kind) and kind.unit == "ns":
            kind = pa.timestamp("us", "UTC" if field.name in old_times else kind.tz)
        fields.append(pa.field(field.name, kind))
    return from_arrow_schema(pa.schema(fields))


def _type(text: str) -> Any:
    """Parse without a session, because this runs in Python workers too."""
    from pyspark.sql import types

    if text.startswith("decimal("):
        return types.DecimalType(int(text[len("decimal(") :].partition(",")[0]), 0)
    kinds = {
        "int": types.IntegerType,
        "bigint": types.LongType,
        "double": types.DoubleType,
        "timestamp": types.TimestampType,
        "date": types.DateType,
        "string": types.StringType,
    }
    return kinds[text]()
