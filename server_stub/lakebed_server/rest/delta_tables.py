"""The files of a Delta table at a ref: the server finds the files of the log, a process for tables reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import ReadableEntry

from lakebed_server.http.authorization import require_paths
from lakebed_server.http.request import Call
from lakebed_server.tables.messages import TOO_LARGE, DeltaFiles, DeltaRequest, File, TableError
from lakebed_server.vocabulary import RequestError

LOG: Final = "_delta_log/"
_MOST_COMMITS: Final = 1000
"""Commits after the last checkpoint. Writers make a checkpoint every ten or hundred."""

_COMMIT: Final = re.compile(r"(\d{20})\.json", re.ASCII)
_CHECKPOINT: Final = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet", re.ASCII)
_decode = msgspec.json.Decoder(DeltaFiles).decode

Named = tuple[str, Entry]


class DataFile(NamedTuple):
    """A data file of a table. `place`: its path below the folder, with partitions as Hive writes them."""

    path: str
    entry: Entry
    place: str


class EmptyTable(RequestError):
    """A Delta table without rows: it has no file that says what its columns are."""

    def __init__(self, path: str) -> None:
        super().__init__("unreadable_table", f"the Delta table {path!r} has no rows, so there is nothing to show")


async def files_of(call: Call, repository: str, ref: str, path: str) -> list[DataFile] | None:
    """The data files that the log of a Delta table names. None: the folder is not a Delta table.

    Raises EmptyTable, RequestError (403, 413, 422), and EngineError.
    """
    page = await call.engine.objects.find_below(repository, ref, prefix=path + LOG)
    if not page.items:
        return None
    if page.has_more:
        raise RequestError("table_too_large", f"{TOO_LARGE} (its log has too many files)")
    entries = {one.path: one.found.entry for one in page.items if isinstance(one.found, ReadableEntry)}
    checkpoint, commits = _log(path, entries)
    log = [*checkpoint, *commits]
    require_paths(call, Fs.READ_OBJECT, repository, [one for one, _ in log])
    files = tuple(File(one, one, entry.size, entry.identity) for one, entry in log)
    request = DeltaRequest(path, files, len(checkpoint), call.services.tables.settings.read)
    reads = [partial(call.engine.objects.read_part, repository, entry) for _, entry in log]
    try:
        named = _decode(await call.services.tables.answer(request, reads)).files
    except TableError as error:
        raise RequestError(error.kind, error.message) from None
    found = await call.engine.objects.find_many(repository, ref, [path + one.path for one in named])
    missing = [one.path for one in found if not isinstance(one.found, ReadableEntry)]
    if missing:
        raise RequestError(
            "unreadable_table",
            f"the Delta table {path!r} cannot be shown: its log names {missing[0]!r}, which {ref!r} does not have",
        )
    if not named:
        raise EmptyTable(path)
    entries = {one.path: one.found.entry for one in found if isinstance(one.found, ReadableEntry)}
    return [DataFile(path + one.path, entries[path + one.path], one.place) for one in named]


def _log(path: str, entries: Mapping[str, Entry]) -> tuple[Sequence[Named], Sequence[Named]]:
    """The parts of the newest whole checkpoint, and the commits after it, both in order."""
    names = {one[len(path) + len(LOG) :]: (one, entry) for one, entry in entries.items()}
    commits = {int(found[1]): named for name, named in names.items() if (found := _COMMIT.fullmatch(name))}
    first, checkpoint = _newest_checkpoint(names)
    after = sorted(version for version in commits if version > first)
    if after != list(range(first + 1, first + 1 + len(after))) or (first < 0 and not after):
        raise RequestError(
            "unreadable_table",
            f"the Delta table {path!r} cannot be shown: versions are missing in its log, or its checkpoints have a "
            "form that this server does not read: read it in Python, with deltalake",
        )
    if len(after) > _MOST_COMMITS:
        raise RequestError("table_too_large", f"{TOO_LARGE} (its log has {len(after):,} commits after a checkpoint)")
    return checkpoint, [commits[version] for version in after]


def _newest_checkpoint(names: Mapping[str, Named]) -> tuple[int, Sequence[Named]]:
    """The version and the parts of the newest checkpoint that is whole; -1 if there is none."""
    parts: dict[tuple[int, int], list[Named]] = {}
    for name in sorted(names):
        if found := _CHECKPOINT.fullmatch(name):
            parts.setdefault((int(found[1]), int(found[3] or 1)), []).append(names[name])
    whole = [key for key, found in parts.items() if len(found) == key[1]]
    return (max(whole)[0], parts[max(whole)]) if whole else (-1, ())
