# Generated from sdk/lakebed/_async/tables.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""DataFrames and Arrow tables on refs and branches. Over the handles' own verbs; Parquet itself is `lakebed._parquet`.

pandas and pyarrow are imported inside: `import lakebed` must not wait for them.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import TYPE_CHECKING, Any

from lakebed import _checks
from lakebed._compat.sync import blocking, run_in_thread
from lakebed._files import RangeRaw
from lakebed._sync.transfer import download
from lakebed.errors import (
    AlreadyExistsError,
    InvalidRequestError,
    ObjectNotFoundError,
)
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from lakebed._sync.ref import Ref
    from lakebed._sync.writable import Writable

PARQUET = "application/vnd.apache.parquet"
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zip": "zip", ".xz": "xz", ".zst": "zstd"}
_SPOOLED = 32 << 20


def read_table(ref: Ref, path: str, columns: Sequence[str] | None, filters: Any) -> pa.Table:
    """Read one Parquet file, or all under a directory."""
    found = _parquet_objects(ref, path)
    from lakebed import _parquet

    read_at = blocking(partial(_read_at, ref))

    def opener(info: ObjectInfo) -> io.RawIOBase:
        return RangeRaw(info.path, info.size, info.checksum, partial(read_at, info.path))

    files = [(place, partial(opener, info)) for place, info in found]
    return run_in_thread(_parquet.read_files, files, columns, filters)


def _read_at(ref: Ref, path: str, start: int, length: int, checksum: str) -> bytes:
    return ref._read_at(path, start, length, checksum)


def _parquet_objects(ref: Ref, path: str) -> list[tuple[str, ObjectInfo]]:
    """The files of a table, each with its place below the table's path."""
    if path and not path.endswith("/"):
        try:
            info = ref.stat(path)
        except ObjectNotFoundError:
            pass
        else:
            return [(path.rpartition("/")[2], info)]
    folder = path if not path or path.endswith("/") else path + "/"
    found = []
    for row in ref.list(folder):
        place = row.path[len(folder) :]
        hidden = any(part.startswith(("_", ".")) and "=" not in part for part in place.split("/"))
        if isinstance(row, ObjectInfo) and place.endswith((".parquet", ".parq")) and not hidden:
            found.append((place, row))
    if not found:
        where = f"lakebed://{ref.repository.id}/{ref.id}/{path}"
        raise ObjectNotFoundError(
            f"{where} is no object, and there are no .parquet files under it",
            operation="read_parquet",
            repository=ref.repository.id,
            ref=ref.id,
            path=path,
        )
    return found


def write_parquet(
    branch: Writable,
    path: str,
    data: object,
    *,
    partition_by: Sequence[str],
    mode: str | None,
    max_rows_per_file: int | None,
    compression: str,
) -> list[ObjectInfo]:
    """Write a table: everything appears at once, or nothing does."""
    if mode not in (None, "append", "overwrite", "error"):
        raise InvalidRequestError(f"mode must be 'append', 'overwrite' or 'error', not {mode!r}")
    _checks.check_text(path, "path")
    if path.endswith(".parquet"):
        if partition_by or max_rows_per_file is not None or mode == "append":
            raise InvalidRequestError(
                f"{path!r} is one file: partition_by, max_rows_per_file and mode='append' need a directory"
            )
        return [_write_one(branch, path, data, mode, compression)]
    folder = path if not path or path.endswith("/") else path + "/"
    old = _in_the_way(branch, folder, mode)
    from lakebed import _parquet

    with TemporaryDirectory(prefix="lakebed-") as local:
        files = run_in_thread(_parquet.write_files, data, Path(local), partition_by, max_rows_per_file, compression)
        items = [(folder + place, file, PARQUET) for place, file in files]
        return branch._write_many(items, old)


def _write_one(branch: Writable, path: str, data: object, mode: str | None, compression: str) -> ObjectInfo:
    from lakebed import _parquet

    with TemporaryDirectory(prefix="lakebed-") as local:
        file = Path(local) / "file.parquet"
        run_in_thread(_parquet.write_one, data, file, compression)
        return branch.put(path, file, content_type=PARQUET, if_absent=mode == "error")


def _in_the_way(branch: Writable, folder: str, mode: str | None) -> list[str]:
    """What an overwrite deletes; what an `error` refuses to write beside."""
    if mode == "overwrite":
        return [row.path for row in branch.list(folder)]
    if mode == "error" and (first := branch.list(folder).first()) is not None:
        raise AlreadyExistsError(
            f"lakebed://{branch.repository.id}/{branch.id}/{folder} is not empty: {first.path!r} is there; "
            "use mode='append' or mode='overwrite'",
            kind="object_exists",
            operation="write_parquet",
            repository=branch.repository.id,
            ref=branch.id,
            path=folder,
        )
    return []


def read_csv(ref: Ref, path: str, options: Mapping[str, Any]) -> pd.DataFrame:
    """Read a CSV file, fetched whole and checked first."""
    if options.get("chunksize") or options.get("iterator"):
        raise InvalidRequestError("read_csv reads whole files; for pieces, use pandas.read_csv(ref.open(path), ...)")
    with SpooledTemporaryFile(_SPOOLED) as file:
        download(ref._download(path, 0, None), file, None)
        file.seek(0)
        import pandas as pd

        given = {"compression": _compression(path), **options}
        parse: Callable[[], pd.DataFrame] = partial(pd.read_csv, file, **given)  # type: ignore[assignment]
        return run_in_thread(parse)


def write_csv(branch: Writable, path: str, data: pd.DataFrame, options: Mapping[str, Any]) -> ObjectInfo:
    """Write a DataFrame as CSV."""
    with SpooledTemporaryFile(_SPOOLED) as file:
        given = {"index": False, "compression": _compression(path), **options}
        run_in_thread(partial(data.to_csv, file, **given))
        file.seek(0)
        return branch.put(path, file, content_type="text/csv")


def _compression(path: str) -> str | None:
    """pandas infers compression from names of files, and does not see this one."""
    return next((name for ending, name in _COMPRESSIONS.items() if path.endswith(ending)), None)
