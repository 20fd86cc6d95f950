"""The log of a Delta table: which data files the table has now. It reads the last checkpoint and the commits after it.

What the server cannot read as the rows of plain files is refused: deletion vectors, column mapping, files of another
table, and features of readers that this version does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from lakebed_tables.partitions import folder_of

from lakebed_server.tables.files import Source
from lakebed_server.tables.messages import (
    TOO_LARGE,
    DeltaFile,
    DeltaFiles,
    DeltaRequest,
    TableTooLarge,
    UnreadableTable,
)
from lakebed_server.tables.parts import Kept

MOST_FILES: Final = 2000
_CHECKPOINT_COLUMNS: Final = (
    *("add.path", "add.partitionValues", "add.deletionVector.storageType"),
    *("metaData.id", "metaData.partitionColumns", "metaData.configuration", "protocol"),
)
_NEWEST_READER: Final = 3
_KNOWN: Final = frozenset(
    {"timestampNtz", "columnMapping", "deletionVectors", "v2Checkpoint", "vacuumProtocolCheck", "domainMetadata"}
)
"""Features that a table may have: they change nothing, or their use is found and refused here."""

_line = msgspec.json.Decoder(dict[str, Any]).decode


class _Table:
    """The state of the table after the lines that were read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._partitions: list[str] | None = None
        self._files: dict[str, Mapping[str, Any]] = {}

    def apply(self, actions: Iterable[Mapping[str, Any]]) -> None:
        """Apply the lines of one commit. Within it, a file that is removed and added is there."""
        added: list[Mapping[str, Any]] = []
        for action in actions:
            if remove := action.get("remove"):
                self._files.pop(remove["path"], None)
            elif add := action.get("add"):
                added.append(add)
            elif metadata := action.get("metaData"):
                self._check_metadata(metadata)
            elif protocol := action.get("protocol"):
                self._check_protocol(protocol)
        self._files.update((add["path"], add) for add in added)

    def files(self) -> DeltaFiles:
        """The data files, in the order of their paths."""
        if self._partitions is None:
            raise UnreadableTable(f"{self._path!r} is not a complete Delta table: its log does not describe it")
        if len(self._files) > MOST_FILES:
            raise TableTooLarge(f"{TOO_LARGE} (it has more than {MOST_FILES} files)")
        return DeltaFiles(tuple(self._file(name, add) for name, add in sorted(self._files.items())))

    def _file(self, name: str, add: Mapping[str, Any]) -> DeltaFile:
        if (add.get("deletionVector") or {}).get("storageType"):
            raise self._refused("it has deletion vectors")
        path = unquote(name)
        if "://" in path or path.startswith("/"):
            raise self._refused("it has files of another table")
        values = dict(add.get("partitionValues") or {})
        folder = folder_of(self._partitions or [], [values.get(one) or None for one in self._partitions or []])
        return DeltaFile(path, folder + path.rpartition("/")[2])

    def _check_metadata(self, metadata: Mapping[str, Any]) -> None:
        configuration = dict(metadata.get("configuration") or {})
        if configuration.get("delta.columnMapping.mode", "none") != "none":
            raise self._refused("it uses column mapping")
        self._partitions = list(metadata.get("partitionColumns") or [])

    def _check_protocol(self, protocol: Mapping[str, Any]) -> None:
        features = sorted(set(protocol.get("readerFeatures") or ()) - _KNOWN)
        if protocol.get("minReaderVersion", 1) > _NEWEST_READER or features:
            needed = ", ".join(features) or f"version {protocol['minReaderVersion']}"
            raise self._refused(f"it needs a newer reader ({needed})")

    def _refused(self, why: str) -> UnreadableTable:
        what = f"the Delta table {self._path!r} cannot be shown: {why}"
        return UnreadableTable(f"{what}: read it in Python, with deltalake")


def files_of(request: DeltaRequest, source: Source, kept: Kept) -> DeltaFiles:
    """The data files of the table. Raises TableError."""
    identities = tuple(file.identity for file in request.files)
    return kept.get(("delta", identities), lambda: _replayed(request, source), lambda made: 300 * len(made.files))


def _replayed(request: DeltaRequest, source: Source) -> DeltaFiles:
    table = _Table(request.path)
    try:
        for number in range(request.checkpoints):
            table.apply(_checkpoint(source, number))
        commits = range(request.checkpoints, len(request.files))
        for data in source.read([(number, 0, source.files[number].size) for number in commits]):
            table.apply(_line(line) for line in data.splitlines() if line.strip())
        return table.files()
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableTable(f"the log of the Delta table {request.path!r} is damaged: {error}") from error


def _checkpoint(source: Source, number: int) -> Iterable[Mapping[str, Any]]:
    """The actions of a part of a checkpoint, without the statistics of its files."""
    size = source.files[number].size
    data = source.read([(number, 0, size)])[0]
    opened = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
    if opened.metadata.num_rows > 10 * MOST_FILES:
        raise TableTooLarge(f"{TOO_LARGE} (its checkpoint has {opened.metadata.num_rows:,} rows)")
    present = _present(opened.metadata.schema)
    return opened.read(columns=present, use_threads=False).to_pylist()  # type: ignore[no-any-return]


def _present(schema: Any) -> Sequence[str]:
    leaves = [schema.column(index).path for index in range(len(schema))]
    return [leaf for leaf in leaves if any(leaf == one or leaf.startswith(f"{one}.") for one in _CHECKPOINT_COLUMNS)]
