"""The files of a table at a path of a ref, and the answers of the processes that read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.errors import ObjectNotFoundError
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import ReadableEntry

from lakebed_server.http.authorization import require_paths
from lakebed_server.http.request import Call
from lakebed_server.http.responses import JSON, Reply
from lakebed_server.tables.messages import TOO_LARGE, File, Format, Request, TableError
from lakebed_server.vocabulary import RequestError

ENDINGS: Final[dict[Format, tuple[str, ...]]] = {
    "parquet": (".parquet", ".parq"),
    "csv": (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".csv.bz2"),
    "json": (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz", ".jsonl.zst"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
}
"""The endings of the files of each format. The first format that a folder has files of is its format."""

_DELTA: Final = "_delta_log/"
_MOST_FILES: Final = 2000

Found = Sequence[tuple[str, Entry]]


async def find(call: Call, repository: str, ref: str, path: str, format: Format | None) -> tuple[Found, Format]:
    """The files of a table, in the order of their paths. Raises RequestError (403, 413, 422), and EngineError."""
    if not path.endswith("/"):
        return [(path, await call.engine.objects.stat(repository, ref, path))], format or format_of([path], path)
    page = await call.engine.objects.find_below(repository, ref, prefix=path)
    entries = [(one.path, one.found.entry) for one in page.items if isinstance(one.found, ReadableEntry)]
    if not entries:
        raise ObjectNotFoundError(f"no object below {path!r} in {ref!r} of repository {repository!r}")
    refuse_delta(path, [one for one, _ in entries])
    chosen = format or format_of([one for one, _ in entries if is_data(one, path)], path)
    found = [(one, entry) for one, entry in entries if is_data(one, path) and one.endswith(ENDINGS[chosen])]
    if page.has_more or len(found) > _MOST_FILES:
        raise RequestError("table_too_large", f"{TOO_LARGE} (it has more than {_MOST_FILES} files)")
    if not found:
        raise RequestError("unreadable_table", f"no file of the format {chosen} is below {path!r}")
    require_paths(call, Fs.READ_OBJECT, repository, [one for one, _ in found])
    return found, chosen


def refuse_delta(path: str, paths: Iterable[str]) -> None:
    """Raise RequestError for a Delta table: its log says which of the files count, and their rows alone are wrong."""
    if any(one.startswith(path + _DELTA) for one in paths):
        raise RequestError("unreadable_table", f"{path!r} is a Delta table: read it in Python, with deltalake")


def is_data(path: str, folder: str) -> bool:
    """Whether a file below a folder is one of its data: hidden ones are not, `_a=1/` is a partition."""
    place = path[len(folder) :]
    return not any(part.startswith(("_", ".")) and "=" not in part for part in place.split("/"))


def format_of(paths: Sequence[str], path: str) -> Format:
    """The format of files, by their names. Raises RequestError (422)."""
    for format, endings in ENDINGS.items():
        if any(one.endswith(endings) for one in paths):
            return format
    raise RequestError("unreadable_table", f"{path!r} has no known ending of a table: name its format")


def described(found: Found, folder: str) -> tuple[File, ...]:
    """The files, for the process that reads them."""
    return tuple(
        File(path, path[len(folder) :] if folder.endswith("/") else path, entry.size, entry.identity)
        for path, entry in found
    )


async def answered(call: Call, repository: str, request: Request, found: Found) -> Reply:
    """The answer to a request for rows. Raises RequestError (400, 413, 422), and EngineError."""
    reads = [partial(call.engine.objects.read_part, repository, entry) for _, entry in found]
    try:
        return Reply(200, await call.services.tables.answer(request, reads), (JSON,))
    except TableError as error:
        raise RequestError(error.kind, error.message) from None
