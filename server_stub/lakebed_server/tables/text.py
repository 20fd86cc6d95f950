"""CSV files and JSON lines as parts: a part is a whole file, or the beginning of a large one."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.json as pajson

from lakebed_server.tables.files import Source
from lakebed_server.tables.messages import TOO_LARGE, TableTooLarge, UnreadableTable
from lakebed_server.tables.parts import Kept, Part, Parts

_BEGINNING: Final = 8 << 20
"""Bytes that are read of a file that is too large to be read as a whole."""

_PARSED_IN_PYTHON: Final = 8 << 20
"""Bytes of JSON up to which values of mixed types are read, which takes long."""

_DELIMITERS: Final = ",;\t|"
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_COMPRESSIONS: Final = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_SAMPLE: Final = 4096
_SMALLEST_BLOCK: Final = 1 << 16
"""A text is parsed as one block, so that the types of its columns come from all rows."""


class _Read(NamedTuple):
    """A file that was read. `whole`: not only its beginning."""

    table: pa.Table
    whole: bool
    encoding: str
    skipped: int = 0


Parse = Callable[[bytes, str], tuple[pa.Table, int]]


def csv_parts(source: Source, kept: Kept, needed: int) -> Parts:
    """CSV files, up to the row `needed`, or all of them if they are small."""
    return _parts(source, kept, needed, _parse_csv)


def json_parts(source: Source, kept: Kept, needed: int) -> Parts:
    """Files of JSON lines, up to the row `needed`, or all of them if they are small."""
    return _parts(source, kept, needed, _parse_json)


def _parts(source: Source, kept: Kept, needed: int, parse: Parse) -> Parts:
    is_small = sum(file.size for file in source.files) <= source.most_bytes
    reads: list[_Read] = []
    rows = 0
    for number, file in enumerate(source.files):
        if not is_small and reads and (rows >= needed or not reads[-1].whole):
            break
        read = partial(_read, source, number, parse)
        reads.append(kept.get((parse.__name__, file.identity), read, lambda found: found.table.nbytes))
        rows += reads[-1].table.num_rows
    complete = len(reads) == len(source.files) and all(read.whole for read in reads)
    if not complete and rows < needed:
        raise TableTooLarge(TOO_LARGE)
    return Parts(
        [_part(number, read.table, source.files[number].size) for number, read in enumerate(reads)],
        [read.table.schema for read in reads],
        complete,
        ", ".join(dict.fromkeys(read.encoding for read in reads)),
        sum(read.skipped for read in reads),
    )


def _part(number: int, table: pa.Table, size: int) -> Part:
    def load(columns: Sequence[str], upto: int | None) -> pa.Table:
        return table.select([name for name in columns if table.schema.get_field_index(name) >= 0])

    return Part(number, table.num_rows, load, lambda columns: size)


def _read(source: Source, number: int, parse: Parse) -> _Read:
    file = source.files[number]
    length = file.size if file.size <= source.most_bytes else min(_BEGINNING, source.most_bytes)
    data, is_cut = _unpacked(source.read([(number, 0, length)])[0], file.path, source.most_bytes)
    is_cut = is_cut or length < file.size
    text, encoding = _as_utf8(data)
    if is_cut:
        text = text[: text.rfind(b"\n") + 1]
        if not text:
            raise UnreadableTable(f"{file.path!r} cannot be read: no line ends in its first {len(data):,} bytes")
    if not text.strip():
        return _Read(pa.table({}), not is_cut, encoding)
    try:
        table, skipped = parse(text, file.path)
    except (pa.ArrowInvalid, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableTable(f"{file.path!r} cannot be read: {str(error).splitlines()[0][:300]}") from error
    return _Read(table, not is_cut, encoding, skipped)


def _unpacked(data: bytes, path: str, most: int) -> tuple[bytes, bool]:
    """The content of a compressed file, at most `most` bytes, and whether it was cut."""
    compression = next((name for ending, name in _COMPRESSIONS.items() if path.endswith(ending)), None)
    if compression is None:
        return data, False
    try:
        with pa.CompressedInputStream(pa.BufferReader(data), compression) as stream:
            unpacked = stream.read(most + 1)
    except OSError as error:
        raise UnreadableTable(f"{path!r} is not a complete {compression} file: {error}") from error
    return unpacked[:most], len(unpacked) > most


def _as_utf8(data: bytes) -> tuple[bytes, str]:
    """The text as UTF-8 without a byte order mark, and its encoding: a mark decides, else UTF-8 or Windows-1252."""
    found = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if found is None:
        zeros = data[:_SAMPLE].count(0)
        if zeros * 3 > len(data[:_SAMPLE]):  # text of most languages has a zero in each second byte
            found = "utf-16-le" if data[1:_SAMPLE:2].count(0) > zeros // 2 else "utf-16-be"
    try:
        return data.decode(found or "utf-8").encode(), (found or "utf-8").removesuffix("-sig")
    except UnicodeError:
        if found is None and _ends_inside_a_character(data):
            return data[: data.rfind(b"\n") + 1], "utf-8"
        name = found or "windows-1252"
        return data.decode(found or "cp1252", "replace").encode("utf-8", "replace"), name


def _ends_inside_a_character(data: bytes) -> bool:
    try:
        data[: data.rfind(b"\n") + 1].decode()
    except UnicodeError:
        return False
    return b"\n" in data


def _parse_csv(text: bytes, path: str) -> tuple[pa.Table, int]:
    if text and b"\n" not in text:
        text += b"\n"  # Arrow takes a header without an end of line for an empty file
    first = text[: text.find(b"\n") if b"\n" in text else None].decode()
    delimiter = "\t" if ".tsv" in path else max(_DELIMITERS, key=first.count)
    skipped = 0

    def skip(_: Any) -> str:
        nonlocal skipped
        skipped += 1
        return "skip"

    table = pacsv.read_csv(
        io.BytesIO(text),
        pacsv.ReadOptions(use_threads=False, block_size=max(len(text) + 1, _SMALLEST_BLOCK)),
        pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip),
    )
    return _unique(table), skipped


def _unique(table: pa.Table) -> pa.Table:
    """The table with a number behind each name that occurs again."""
    seen: dict[str, int] = {}
    names = []
    for name in table.column_names:
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return table.rename_columns(names)


def _parse_json(text: bytes, path: str) -> tuple[pa.Table, int]:
    if text.lstrip()[:1] != b"[":
        try:
            options = pajson.ReadOptions(use_threads=False, block_size=max(len(text) + 1, _SMALLEST_BLOCK))
            return pajson.read_json(io.BytesIO(text), options), 0
        except pa.ArrowInvalid:
            if len(text) > _PARSED_IN_PYTHON:
                raise
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
    else:
        if len(text) > _PARSED_IN_PYTHON:
            raise ValueError("it is one large array; expected one JSON object in each line")
        records = json.loads(text)
    return _from_records([one if isinstance(one, dict) else {"value": one} for one in records]), 0


def _from_records(records: Sequence[dict[str, Any]]) -> pa.Table:
    names = list(dict.fromkeys(name for record in records for name in record))
    return pa.table({name: _array([record.get(name) for record in records]) for name in names})


def _array(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # values of several types are shown as JSON
        texts = [one if one is None or isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in values]
        return pa.array(texts, pa.string())
