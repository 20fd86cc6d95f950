"""Finds the format of a file by the end of its name, and reads it as a table or in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa

PACKED: Final = (".gz", ".bz2", ".zst", ".lz4")
_ENDS: Final = {
    ".parquet": "parquet", ".parq": "parquet", ".pq": "parquet",
    ".csv": "csv", ".tsv": "csv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".orc": "orc", ".avro": "avro",
}  # fmt: skip
_TEXT: Final = ("csv", "jsonl")


def format_of(path: str) -> str:
    """`parquet`, `csv`, `jsonl`, `orc`, `avro` or `other`. A file `x.csv.gz` is a CSV file."""
    name = path.lower()
    packed = next((end for end in PACKED if name.endswith(end)), "")
    found = _ENDS.get(name.removesuffix(packed)[name.removesuffix(packed).rfind(".") :], "other")
    return found if not packed or found in _TEXT else "other"


def unpacked(file: IO[bytes], path: str) -> Any:
    """An Arrow text file, decompressed by the end of its name."""
    import pyarrow as pa

    packed = next((end[1:] for end in PACKED if path.lower().endswith(end)), None)
    names = {"gz": "gzip", "zst": "zstd"}
    return pa.input_stream(file, compression=names.get(packed, packed) if packed else None)


def read_table(file: IO[bytes], format: str, path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file as a table. Raises ValueError for a format that is not Parquet, CSV or JSON lines."""
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet as pq

    if format == "parquet":
        return pq.ParquetFile(file).read(columns=None if columns is None else list(columns))
    if format == "csv":
        made = pyarrow.csv.read_csv(unpacked(file, path), parse_options=csv_layout(path))
    elif format == "jsonl":
        made = pyarrow.json.read_json(unpacked(file, path))
    else:
        raise ValueError(f"{path!r} is not a Parquet, CSV or JSON lines file: read its bytes with open()")
    return made if columns is None else made.select(list(columns))


def csv_layout(path: str) -> Any:
    """How the columns of a CSV file are separated."""
    import pyarrow.csv

    return pyarrow.csv.ParseOptions(delimiter="\t" if ".tsv" in path.lower()[-8:] else ",")
