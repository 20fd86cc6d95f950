"""Tables that are one file: CSV, JSON and Feather, read whole and written whole. Blocking, over pandas and pyarrow."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv

from lakebed._tables import frames
from lakebed._tables.location import Place
from lakebed.errors import InvalidRequestError, LakebedError

_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zip": "zip", ".xz": "xz", ".zst": "zstd"}
_LINES = (".jsonl", ".ndjson")
_DAMAGED = (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeError, EOFError, OSError, zlib.error)


def read_csv(file: IO[bytes], where: Place, options: Mapping[str, Any]) -> pd.DataFrame:
    """Parse a CSV file. Raises TableFormatError and InvalidRequestError."""
    given: Any = {"compression": compression_of(where.path), **options}
    try:
        frame: pd.DataFrame = pd.read_csv(file, **given)
        return frame
    except _DAMAGED as error:
        raise where.unreadable("read_csv", where.path, "CSV file", error) from error
    except (ValueError, TypeError, KeyError) as error:  # an unknown column or option
        raise where.invalid("read_csv", str(error)) from error


def read_json(file: IO[bytes], where: Place, options: Mapping[str, Any]) -> pd.DataFrame:
    """Parse a JSON file. Raises TableFormatError and InvalidRequestError."""
    given: Any = {"compression": compression_of(where.path), "lines": has_lines(where.path), **options}
    try:
        frame: pd.DataFrame = pd.read_json(file, **given)
        return frame
    except (*_DAMAGED, ValueError) as error:
        raise where.unreadable("read_json", where.path, "JSON file", error) from error
    except (TypeError, KeyError) as error:
        raise where.invalid("read_json", str(error)) from error


def read_feather(file: io.RawIOBase, where: Place, columns: Sequence[str] | None) -> pa.Table:
    """Read a Feather file (Arrow IPC), only the requested columns. Raises TableFormatError and InvalidRequestError."""
    try:
        with pa.ipc.open_file(pa.PythonFile(file, mode="r")) as opened:
            schema = opened.schema
        missing = [name for name in columns or () if schema.get_field_index(name) < 0]
        if missing:
            raise where.invalid(
                "read_feather",
                f"no column {', '.join(map(repr, missing))}: the columns are {schema.names}",
                "unknown_column",
            )
        file.seek(0)
        wanted = None if columns is None else [schema.get_field_index(name) for name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=wanted)
        with pa.ipc.open_file(pa.PythonFile(file, mode="r"), options=options) as opened:
            table = opened.read_all()
        return table if columns is None else table.select(list(columns))
    except LakebedError:
        raise
    except (pa.ArrowException, OSError, EOFError) as error:
        raise where.unreadable("read_feather", where.path, "Feather file", error) from error


def write_csv(data: object, file: Path, path: str, options: Mapping[str, Any]) -> None:
    """Write CSV: a DataFrame with pandas, anything else batch by batch with Arrow."""
    if isinstance(data, pd.DataFrame):
        given: Any = {"index": False, "compression": compression_of(path), **options}
        data.to_csv(file, **given)
        return
    if options:
        raise InvalidRequestError(f"{', '.join(options)} are options of pandas: pass a DataFrame")
    reader = frames.to_reader(data)
    compression = compression_of(path)
    try:
        with (
            pa.output_stream(str(file), compression=compression) as sink,
            pacsv.CSVWriter(sink, reader.schema) as writer,
        ):
            for batch in reader:
                writer.write_batch(batch)
    except (pa.ArrowException, ValueError) as error:  # nested columns; zip and xz, which Arrow does not know
        if isinstance(error, LakebedError):
            raise
        raise InvalidRequestError(f"cannot be written as CSV: {error}") from error


def write_json(data: object, file: Path, path: str, options: Mapping[str, Any]) -> None:
    """Write JSON: an array of records, or one record per line if the path ends in `.jsonl` or `.ndjson`."""
    frame = data if isinstance(data, pd.DataFrame) else frames.to_pandas(frames.to_reader(data).read_all())
    given: Any = {
        "orient": "records",
        "lines": has_lines(path),
        "date_format": "iso",
        "compression": compression_of(path),
        **options,
    }
    try:
        frame.to_json(file, **given)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidRequestError(f"cannot be written as JSON: {error}") from error


def write_feather(data: object, file: Path, compression: str | None) -> None:
    """Write a Feather file (Arrow IPC), batch by batch."""
    if compression not in ("lz4", "zstd", None):
        raise InvalidRequestError(f"unknown compression {compression!r}: Feather supports 'lz4', 'zstd' and None")
    reader = frames.to_reader(data)
    options = pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=False)
    try:
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, reader.schema, options=options) as writer:
            for batch in reader:
                writer.write_batch(batch)
    except pa.ArrowException as error:  # categories that differ between batches
        raise InvalidRequestError(f"cannot be written as Feather: {error}") from error


def compression_of(path: str) -> str | None:
    """The compression of a path. pandas would infer it from a file name, but gets no file name here."""
    return next((name for ending, name in _COMPRESSIONS.items() if path.endswith(ending)), None)


def has_lines(path: str) -> bool:
    """`events.jsonl`, `events.ndjson.gz`."""
    bare = next((path.removesuffix(ending) for ending in _COMPRESSIONS if path.endswith(ending)), path)
    return bare.endswith(_LINES)
