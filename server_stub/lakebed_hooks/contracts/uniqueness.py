"""Finds values that occur more than once, in all files of a contract together.

It keeps an 8-byte hash of each value, and sorts the hashes. Where hashes are equal, it reads the values again and
compares them. So every reported value is a real duplicate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from lakebed_hooks.contracts.columns import ColumnAt, missing, values_of
from lakebed_hooks.contracts.footers import ParquetFile, UnreadableFile
from lakebed_hooks.contracts.report import VALUES_MOST, BadValue, Result
from lakebed_hooks.contracts.scans import python_of
from lakebed_hooks.contracts.texts import TextFile
from lakebed_hooks.contracts.vocabulary import Unique
from lakebed_hooks.reading import File
from lakebed_hooks.vocabulary import HookError

VALUES_OF_HOOK: Final = 50_000_000
"""Maximum number of values: their hashes must fit into the memory of a hook."""

_COMPARED: Final = 1_000
"""Maximum number of repeated hashes whose values are read again."""

Open = Callable[[File], ParquetFile | TextFile]
_Place = tuple[File, int, tuple[Any, ...]]


def check_unique(check: Unique, files: Iterable[File], opened: Open, most: int = VALUES_OF_HOOK) -> Iterator[Result]:
    """The result of the check for all files. Raises HookError when there are too many values.

    A file that cannot be read, or that lacks one of the columns, gets a separate result.
    """
    import numpy as np

    name = ", ".join(check.columns)
    hashes: list[Any] = []
    readable: list[File] = []
    rows = 0
    for file in files:
        try:
            for _, found, _ in _hashed(check, opened(file)):
                rows += len(found)
                if rows > most:
                    raise HookError(
                        f"`unique` of {name!r} has too many values for the memory of a hook: more than {most:,} in"
                        " the files of the contract; check fewer files with a narrower `path`"
                    )
                hashes.append(found)
            readable.append(file)
        except UnreadableFile as error:
            yield Result(file.path, "unique", "refused", name, str(error), source="scan")
    every = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
    hashes.clear()
    every.sort()
    twice = every[1:] == every[:-1]
    surplus = int(twice.sum())
    suspects = np.unique(every[1:][twice])[:_COMPARED]
    del every
    found_twice = list(_duplicates(check, readable, opened, suspects)) if surplus else []
    if not found_twice:
        yield Result("", "unique", "passed", name, rows=rows, bad=0, source="scan")
        return
    yield _refused(name, rows, surplus, found_twice)


def _refused(name: str, rows: int, surplus: int, found: list[tuple[_Place, _Place]]) -> Result:
    (first_file, first_row, value), (file, row, _) = found[0]
    shown = value[0] if len(value) == 1 else value
    number = "1 value" if surplus == 1 else f"{surplus:,} values"
    said = f"{number} of {name!r} occur{'s' if surplus == 1 else ''} again, the first is {shown!s:.60} in row {row}"
    said += f" and in row {first_row}" + (f" of {first_file.path}" if first_file.path != file.path else "")
    values = tuple(BadValue(place[1], place[2][0] if len(place[2]) == 1 else str(place[2])) for _, place in found)
    return Result(file.path, "unique", "refused", name, said, rows, surplus, values, "scan")


def _duplicates(check: Unique, files: Iterable[File], opened: Open, suspects: Any) -> Iterator[tuple[_Place, _Place]]:
    """Pairs of positions with the same value, among the hashes that occur more than once."""
    import numpy as np

    first: dict[tuple[Any, ...], _Place] = {}
    found = 0
    for file in files:
        for row, hashes, arrays in _hashed(check, opened(file)):
            for index in np.isin(hashes, suspects).nonzero()[0].tolist():
                value = tuple(python_of(array[index]) for array in arrays)
                place = (file, row + _row_of(arrays, index), value)
                old = first.setdefault(value, place) if len(first) < 2 * _COMPARED else first.get(value, place)
                if old is not place:
                    yield old, place
                    found += 1
                    if found == VALUES_MOST:
                        return


def _row_of(arrays: Any, index: int) -> int:
    return int(arrays.rows[index])


class _Arrays(list[Any]):
    """The values of the columns of a batch in the rows that count. `rows`: their numbers in the batch."""

    rows: Any


def _hashed(check: Unique, source: ParquetFile | TextFile) -> Iterator[tuple[int, Any, _Arrays]]:
    """Hashes of the rows of a file that have no null and no NaN in the columns."""
    columns = [_column(name, source) for name in check.columns]
    if isinstance(source, TextFile):
        batches = source.batches()
    else:
        batches = source.batches(columns, range(source.metadata.num_row_groups))
    for row, batch in batches:
        arrays = _valid(batch, columns)
        yield row, _hash(arrays), arrays


def _column(name: str, source: ParquetFile | TextFile) -> ColumnAt:
    column = source.columns.get(name)
    if column is None:
        raise UnreadableFile(missing(name, source.columns))
    if column.is_ambiguous or column.in_list or not column.is_leaf:
        raise UnreadableFile(f"{name!r} has no single value in each row")
    return column


def _valid(batch: Any, columns: list[ColumnAt]) -> _Arrays:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = [values_of(batch, column) for column in columns]
    mask = None
    for one in values:
        valid = one.is_valid()
        if pa.types.is_floating(one.type):
            valid = pc.and_(valid, pc.invert(pc.fill_null(pc.is_nan(one.cast(pa.float64())), False)))
        mask = valid if mask is None else pc.and_(mask, valid)
    made = _Arrays(one.filter(mask) for one in values)
    made.rows = mask.to_numpy(zero_copy_only=False).nonzero()[0] if mask is not None else None
    return made


def _hash(arrays: _Arrays) -> Any:
    import numpy as np

    made = None
    for array in arrays:
        hashes = _hash_one(array)
        made = hashes if made is None else made * np.uint64(1_000_003) + hashes
    return made


def _hash_one(array: Any) -> Any:
    """Hash a value. Equal values have equal hashes, also in files that store them with different types."""
    import numpy as np
    import pyarrow as pa
    from pandas.util import hash_array

    kind = array.type
    if pa.types.is_integer(kind):
        return hash_array(array.cast(pa.int64() if not pa.types.is_uint64(kind) else kind).to_numpy().astype(np.uint64))
    if pa.types.is_floating(kind):
        return hash_array(array.cast(pa.float64()).to_numpy() + 0.0)
    if pa.types.is_boolean(kind):
        return hash_array(array.to_numpy(zero_copy_only=False).astype(np.uint64))
    if pa.types.is_date32(kind):
        return hash_array(array.cast(pa.int32()).to_numpy().astype(np.uint64))
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):
        return hash_array(array.cast(pa.int64()).to_numpy().astype(np.uint64))
    return hash_array(
        np.array([str(one) if not isinstance(one, bytes) else one.hex() for one in array.to_pylist()], object)
    )
