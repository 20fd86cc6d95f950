"""Several Parquet files of one schema become one, row by row, in bounded memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lakebed
import pyarrow as pa
import pyarrow.parquet as pq
from lakebed.errors import TableFormatError

from lakebed_spark.pipelines._results import Compacted

PARQUET = "application/vnd.apache.parquet"
_ROWS = 65_536
_GROUP_BYTES = 64 << 20
_GROUP_ROWS = 1 << 20

File = tuple[str, int, str]


def join(ref: lakebed.Ref, workspace: lakebed.Workspace, files: Sequence[File]) -> list[Compacted]:
    """Join neighbouring files, in runs of one schema. A run of one file stays as it is."""
    done = []
    with TemporaryDirectory(prefix="lakebed-compact-", ignore_cleanup_errors=True) as folder:
        run = _Run(Path(folder))
        for file in files:
            local = Path(folder, "in.parquet")
            ref.download(file[0], local)
            opened = _opened(ref, file[0], local)
            if not run.fits(opened):
                done += run.finish(workspace)
                run = _Run(Path(folder))
            run.add(file, opened)
            opened.close()
        done += run.finish(workspace)
    return done


def _opened(ref: lakebed.Ref, path: str, local: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(local)
    except (pa.ArrowException, OSError) as error:
        raise TableFormatError(
            f"compact lakebed://{ref.repository.id}/{ref.id}/{path}: not a complete Parquet file ({error}); delete it "
            "or move it out of the folder",
            repository=ref.repository.id,
            ref=ref.id,
            path=path,
        ) from error


class _Run:
    """One new file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "out.parquet"
        self._files: list[File] = []
        self._schema: pq.ParquetSchema | None = None
        self._writer: pq.ParquetWriter | None = None
        self._rows = 0
        self._held: list[pa.RecordBatch] = []
        self._bytes = 0
        self._held_rows = 0

    def fits(self, file: pq.ParquetFile) -> bool:
        """Whether a file has the columns and types of those before, as Parquet stores them."""
        return self._schema is None or bool(self._schema.equals(file.schema))

    def add(self, file: File, opened: pq.ParquetFile) -> None:
        """All rows of one more file."""
        if self._writer is None:
            self._schema = opened.schema
            self._writer = pq.ParquetWriter(self._path, opened.schema_arrow, **_ways(opened))
        self._files.append(file)
        for batch in _batches(opened, file[0]):
            self._held.append(batch)
            self._bytes += batch.nbytes
            self._held_rows += batch.num_rows
            if self._bytes >= _GROUP_BYTES or self._held_rows >= _GROUP_ROWS:
                self._flush()
        self._rows += opened.metadata.num_rows

    def finish(self, workspace: lakebed.Workspace) -> list[Compacted]:
        """Replace the files of the run with the new file."""
        if self._writer is None:
            return []
        self._flush()
        self._writer.close()
        if len(self._files) < 2:
            return []
        found = pq.read_metadata(self._path).num_rows
        folder = self._files[0][0].rpartition("/")[0]
        if found != self._rows:
            raise TableFormatError(
                f"compact {folder}: nothing was changed, because {found:,} of {self._rows:,} rows were written"
            )
        target = f"{folder}/{_name(self._files)}" if folder else _name(self._files)
        stored = workspace.put(target, self._path, content_type=PARQUET)
        workspace.put_many({}, delete=[path for path, _, _ in self._files])
        paths = tuple(path for path, _, _ in self._files)
        return [Compacted(folder, paths, sum(size for _, size, _ in self._files), target, found, stored.size)]

    def _flush(self) -> None:
        held, self._held, self._bytes, self._held_rows = self._held, [], 0, 0
        if held and self._writer is not None:
            rows = pa.Table.from_batches(held)
            self._writer.write_table(rows, row_group_size=max(1, rows.num_rows))


def _batches(opened: pq.ParquetFile, path: str) -> Iterator[pa.RecordBatch]:
    try:
        yield from opened.iter_batches(_ROWS, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise TableFormatError(f"compact {path}: cannot read the rows ({error})", path=path) from error


def _ways(opened: pq.ParquetFile) -> dict[str, Any]:
    """Return how the first file was written. Spark still writes INT96, and cannot read what Arrow would make of it."""
    kinds = {opened.schema.column(at).physical_type for at in range(len(opened.schema))}
    metadata = opened.metadata
    codec = "snappy"
    if metadata.num_row_groups and metadata.num_columns:
        codec = metadata.row_group(0).column(0).compression.lower()
    return {
        "compression": "none" if codec == "uncompressed" else codec,
        "use_deprecated_int96_timestamps": "INT96" in kinds,
    }


def _name(files: Sequence[File]) -> str:
    """Return a name for the new file. The same files give the same name, so a repeated task writes the same file."""
    digest = hashlib.sha256()
    for path, _, checksum in files:
        digest.update(f"{path}\0{checksum}\0".encode())
    return f"part-{digest.hexdigest()[:20]}.parquet"
