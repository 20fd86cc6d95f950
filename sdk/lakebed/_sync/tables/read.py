# Generated from sdk/lakebed/_async/tables/read.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Tables read from refs.

pandas and pyarrow are imported inside: `import lakebed` must not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any

from lakebed import _checks
from lakebed._bulk import progress_bar as render_progress
from lakebed._compat.sync import blocking, run_in_thread
from lakebed._files import RangeRaw
from lakebed._sync.objects.download import save
from lakebed._sync.objects.interfaces import ObjectReader
from lakebed._sync.tables.scan import ENDINGS, Scan, _read_at, folder_of, place_of
from lakebed._tables.location import Place
from lakebed.errors import (
    InvalidRequestError,
    ObjectNotFoundError,
)

if TYPE_CHECKING:
    import pandas as pd

_SPOOLED = 32 << 20


def scan(
    ref: ObjectReader,
    path: str,
    columns: Sequence[str] | None,
    filters: Any,
    *,
    schema: Any = "same",
    format: str | None = None,
    batch_size: int | None = None,
    operation: str = "scan_table",
    progress: render_progress.Given = None,
) -> Scan:
    """A scan of a file or of those under a directory."""
    from lakebed._tables import reading

    _checks.check_text(path, "path")
    if isinstance(columns, str):
        raise InvalidRequestError(f"columns must be a list of names: [{columns!r}]")
    kind = format or next((kind for kind, endings in ENDINGS.items() if path.endswith(endings)), "parquet")
    options = reading.ReadOptions(
        None if columns is None else tuple(columns),
        filters,
        schema,
        kind,
        reading.BATCH_ROWS if batch_size is None else batch_size,
        operation,
        index=operation != "scan_table",
    )
    options.check()
    return Scan(ref, path, options, progress)


def read_file(ref: ObjectReader, path: str, parse: Callable[[IO[bytes], Place], Any], operation: str) -> Any:
    """Fetch one file whole, with its checksum compared, and parse it."""
    where = place_of(ref._target, path)
    with SpooledTemporaryFile(_SPOOLED) as file:
        try:
            with render_progress.counting(f"read {path}", None) as tally:
                save(ref._download(path, 0, None), file, tally.moved)
        except ObjectNotFoundError as error:
            _explain_folder(ref, path, operation, error)
            raise
        file.seek(0)
        return run_in_thread(parse, file, where)


def read_csv(ref: ObjectReader, path: str, options: Mapping[str, Any]) -> pd.DataFrame:
    """Read a CSV file."""
    if options.get("chunksize") or options.get("iterator"):
        raise InvalidRequestError('read_csv reads whole files; for pieces, use ref.scan_table(path, format="csv")')
    from lakebed._tables import single_file

    frame: pd.DataFrame = read_file(ref, path, partial(single_file.read_csv, options=options), "read_csv")
    return frame


def read_json(ref: ObjectReader, path: str, options: Mapping[str, Any]) -> pd.DataFrame:
    """Read a JSON file."""
    if options.get("chunksize"):
        raise InvalidRequestError('read_json reads whole files; for pieces, use ref.scan_table(path, format="json")')
    from lakebed._tables import single_file

    frame: pd.DataFrame = read_file(ref, path, partial(single_file.read_json, options=options), "read_json")
    return frame


def read_feather(ref: ObjectReader, path: str, columns: Sequence[str] | None) -> pd.DataFrame:
    """Read a Feather file by ranges."""
    from lakebed._tables import frames, single_file

    try:
        info = ref.stat(path)
    except ObjectNotFoundError as error:
        _explain_folder(ref, path, "read_feather", error)
        raise
    read_at = blocking(partial(_read_at, ref, None))
    file = RangeRaw(info.path, info.size, info.checksum, partial(read_at, info.path))
    table = run_in_thread(single_file.read_feather, file, place_of(ref._target, path), columns)
    return run_in_thread(frames.to_pandas, table)


def _explain_folder(ref: ObjectReader, path: str, operation: str, error: ObjectNotFoundError) -> None:
    """Raise a better error when the path is a directory."""
    first = ref.list(folder_of(path)).first() if path else None
    if first is not None:
        where = place_of(ref._target, path)
        raise ObjectNotFoundError(
            f"{operation} {where}: this is a directory, and {operation} reads one file: name one of its files, such as "
            f"{first.path!r}, or read all of them with scan_table(path, format=...)",
            kind="is_a_directory",
            status=error.status,
            **where.about(operation),
        ) from error
