# Generated from sdk/lakebed/_async/tables/checks.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The checks before a table is written: whether the request is valid, and whether the data fit what is there.

Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from lakebed import _checks
from lakebed._bulk import progress_bar as render_progress
from lakebed._compat.sync import blocking, gather, run_in_thread
from lakebed._files import RangeRaw
from lakebed._gateway.operations import commits
from lakebed._process.local_files import is_full
from lakebed._sync.http.target import Target
from lakebed._sync.objects.interfaces import ObjectReader
from lakebed._sync.objects.shared_directory import shared_directory
from lakebed._sync.tables.scan import ENDINGS, _read_at, folder_of, is_data
from lakebed._tables.location import Place
from lakebed.errors import (
    InvalidRequestError,
    NotFoundError,
    ObjectExistsError,
    ReadOnlyRefError,
)
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED = 10_000
"""Files of a table among which the compared ones are chosen."""

_COMPARED = 16
"""How many files are compared. Readers compare all of them."""

MODES = ("append", "overwrite", "overwrite_partitions", "error")


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """A write of a table: its path, and how it is written."""

    path: str
    partition_by: tuple[str, ...]
    mode: str
    schema: str
    max_rows_per_file: int | None
    compression: str
    message: str | None
    partition_values: str
    progress: render_progress.Given

    @property
    def one_file(self) -> bool:
        """Whether the path is a file's."""
        return self.path.endswith(".parquet")

    @property
    def folder(self) -> str:
        """The directory that is written to."""
        return folder_of(self.path)

    def check(self) -> None:
        """Raises InvalidRequestError."""
        _checks.check_text(self.path, "path")
        if self.mode not in MODES:
            raise InvalidRequestError(f"mode must be one of {', '.join(map(repr, MODES))}, not {self.mode!r}")
        if self.schema not in ("same", "unify"):
            raise InvalidRequestError(f"schema must be 'same' or 'unify', not {self.schema!r}")
        if self.partition_values not in ("plain", "hive"):
            raise InvalidRequestError(f"partition_values must be 'plain' or 'hive', not {self.partition_values!r}")
        folders_only = self.partition_by or self.max_rows_per_file is not None
        if self.one_file and (folders_only or self.mode in ("append", "overwrite_partitions")):
            raise InvalidRequestError(
                f"{self.path!r} is one file: partition_by, max_rows_per_file and mode={self.mode!r} need a directory; "
                f"write to {self.path + '/'!r} for one of this name"
            )
        if self.mode == "overwrite_partitions" and not self.partition_by:
            raise InvalidRequestError("mode='overwrite_partitions' needs partition_by; 'overwrite' replaces everything")


def look(view: ObjectReader, request: WriteRequest, where: Place) -> list[ObjectInfo]:
    """Files of the present table that the data are compared with. Refuses what must not be there."""
    if request.one_file:
        refuse_folder(view, where, "write_parquet", f"; to write into the directory, name it {request.path + '/'!r}")
        if request.mode == "error" and view.exists(request.path):
            raise _exists(where, request.path)
        return []
    bare = request.path.rstrip("/")
    if bare and view.exists(bare):
        raise where.invalid(
            "write_parquet", f"{bare!r} is an object, so there can be no table below it; delete it first"
        )
    if request.mode == "overwrite":
        return []
    files = []
    for row in view.list(request.folder, limit=1 if request.mode == "error" else _LISTED):
        if request.mode == "error":
            raise _exists(where, row.path)
        if isinstance(row, ObjectInfo) and is_data(row.path[len(request.folder) :], ENDINGS["parquet"]):
            files.append(row)
    return _sample(files)


def refuse_folder(view: ObjectReader, where: Place, operation: str, advice: str = "; name a file in it") -> None:
    """Refuse to write a file where a directory is: readers of a directory tree could not have both."""
    if view.list(folder_of(where.path)).first() is not None:
        raise where.invalid(operation, f"this is a directory{advice}")


def _sample(files: Sequence[ObjectInfo]) -> list[ObjectInfo]:
    """The newest file, and others from everywhere in the table: all of them, unless they are many."""
    if len(files) <= _COMPARED:
        return list(files)
    spread = {len(files) * number // _COMPARED for number in range(_COMPARED)}
    newest = max(range(len(files)), key=lambda number: files[number].mtime)
    return [files[number] for number in sorted(spread | {newest})]


def _exists(where: Place, there: str) -> ObjectExistsError:
    return ObjectExistsError(
        f"write_parquet {where}: {there!r} already exists; use mode='append' or mode='overwrite'",
        **where.about("write_parquet"),
    )


def compare(
    view: ObjectReader, request: WriteRequest, known: Sequence[ObjectInfo], schema: pa.Schema, where: Place
) -> None:
    """Refuse data that would make a table of two schemas, or of two layouts. Reads the footers of the known files."""
    from lakebed._tables import schemas

    found = run_in_thread(schemas.stored, schema)
    read_at, shared = blocking(partial(_read_at, view, None)), shared_directory(view._target)
    places = [shared.find(one.physical_address, one.size) for one in known]
    there = gather([partial(_schema_of, request, *pair, read_at, where) for pair in zip(known, places, strict=True)])
    for file, expected in zip(known, there, strict=True):
        _compare_one(request, file, expected, found, where)


def _schema_of(
    request: WriteRequest, file: ObjectInfo, local: str | None, read_at: Callable[..., Any], where: Place
) -> pa.Schema:
    from lakebed._tables import reading

    opener = partial(RangeRaw, file.path, file.size, file.checksum, partial(read_at, file.path))
    one = reading.File(file.path, file.path[len(request.folder) :], opener, local)
    return (run_in_thread(reading.Opened, where, [one], reading.ReadOptions(operation="write_parquet"))).schema


def _compare_one(request: WriteRequest, file: ObjectInfo, expected: pa.Schema, found: pa.Schema, where: Place) -> None:
    from lakebed_tables import partitions

    from lakebed._tables import schemas

    layout = partitions.layout(file.path[len(request.folder) :], expected)
    if layout != request.partition_by:
        said = f"partition_by={list(layout)}" if layout else "no partition_by"
        raise where.invalid(
            "write_parquet",
            f"{file.path!r} of the table was written with {said}, not {list(request.partition_by)}: use the same, or "
            "overwrite",
        )
    unlike = schemas.differences("the data", expected, found)
    if request.schema == "unify":
        unlike = [
            one for one in unlike if None not in (one.expected, one.found) and "null" not in (one.expected, one.found)
        ]
        advice = "types are never converted silently: cast the data"
    else:
        advice = 'write with schema="unify" to add or omit columns, cast the data, or use mode="overwrite"'
    if unlike:
        raise where.mismatch("write_parquet", unlike, f"{advice}. (compared with {file.path!r})")


def explain_ref(target: Target, where: Place, operation: str, error: NotFoundError) -> None:
    """Raise a better error when what was taken for a branch is a tag or a commit."""
    if error.kind == "branch_not_found" and _is_commit(target):
        raise ReadOnlyRefError(
            f"{operation} {where}: {target.ref!r} is a tag or a commit, which is read-only; create a "
            f'branch from it: repo.branch("fix").create({target.ref!r})',
            status=error.status,
            **where.about(operation),
        ) from error


def _is_commit(target: Target) -> bool:
    try:
        target.transport.call(commits.get(target.repository, target.ref))
    except NotFoundError:
        return False
    return True


@contextmanager
def located(where: Place, operation: str) -> Iterator[None]:
    """Errors about data, which know no place, say where it was going; those of a full disk here, what to do."""
    try:
        yield
    except OSError as error:
        if is_full(error):
            error.add_note(
                f"{operation} {where}: no space in {gettempdir()}, where files are written before the upload: "
                "set TMPDIR to another directory. Nothing was written."
            )
        raise
    except InvalidRequestError as error:
        if error.repository is None:
            error.message = f"{operation} {where}: {error.message}"
            error.operation, error.repository, error.ref, error.path = (
                operation,
                where.repository,
                where.ref,
                where.path,
            )
        raise
