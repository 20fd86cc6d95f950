"""The files of a table at a path of a ref, and the answers of the processes that read them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.errors import ObjectNotFoundError
from lakebed_engine.vocabulary.requests import ReadableEntry

from lakebed_server.http.authorization import require_paths
from lakebed_server.http.request import Call
from lakebed_server.http.responses import JSON, Reply
from lakebed_server.rest import delta_tables
from lakebed_server.rest.delta_tables import DataFile, EmptyTable
from lakebed_server.tables.messages import TOO_LARGE, File, Format, Request, State, TableError
from lakebed_server.vocabulary import RequestError

ENDINGS: Final[dict[Format, tuple[str, ...]]] = {
    "parquet": (".parquet", ".parq"),
    "csv": (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".csv.bz2"),
    "json": (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz", ".jsonl.zst"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
}
"""The endings of the files of each format. The first format that a folder has files of is its format."""

_MOST_FILES: Final = 2000

Found = Sequence[DataFile]


async def find(call: Call, repository: str, ref: str, path: str, format: Format | None) -> tuple[Found, Format]:
    """The files of a table, in the order of their paths. Raises RequestError (403, 413, 422), and EngineError."""
    if not path.endswith("/"):
        entry = await call.engine.objects.stat(repository, ref, path)
        return [DataFile(path, entry, path)], format or format_of([path], path)
    of_delta = await delta_tables.files_of(call, repository, ref, path)
    if of_delta is not None:
        require_paths(call, Fs.READ_OBJECT, repository, [one.path for one in of_delta])
        return of_delta, "parquet"
    page = await call.engine.objects.find_below(repository, ref, prefix=path)
    entries = [(one.path, one.found.entry) for one in page.items if isinstance(one.found, ReadableEntry)]
    if not entries:
        raise ObjectNotFoundError(f"no object below {path!r} in {ref!r} of repository {repository!r}")
    chosen = format or format_of([one for one, _ in entries if is_data(one, path)], path)
    found = [
        DataFile(one, entry, one[len(path) :])
        for one, entry in entries
        if is_data(one, path) and one.endswith(ENDINGS[chosen])
    ]
    if page.has_more or len(found) > _MOST_FILES:
        raise RequestError("table_too_large", f"{TOO_LARGE} (it has more than {_MOST_FILES} files)")
    if not found:
        raise RequestError("unreadable_table", f"no file of the format {chosen} is below {path!r}")
    require_paths(call, Fs.READ_OBJECT, repository, [one.path for one in found])
    return found, chosen


async def find_changed(
    call: Call, repository: str, left: str, right: str, path: str, format: Format | None
) -> tuple[Found, State, State, Format]:
    """The files of a table that differ, and which of them each state has. Raises as `find`."""
    sides = [await _find_or_none(call, repository, ref, path, format) for ref in (left, right)]
    known = [side for side in sides if side is not None]
    if not known:
        raise ObjectNotFoundError(f"no table at {path!r}, neither in {left!r} nor in {right!r} of {repository!r}")
    chosen = known[-1][1]
    found: list[DataFile] = []
    states = []
    marks = [{(one.path, one.entry.identity) for one in side[0]} if side else set() for side in sides]
    for side, others in zip(sides, reversed(marks), strict=True):
        files = [] if side is None else [one for one in side[0] if (one.path, one.entry.identity) not in others]
        sample = None if side is None or files else list(side[0][:1])
        numbers = tuple(range(len(found), len(found) + len(files)))
        found += files
        states.append(State(numbers, None if sample is None else len(found)))
        found += sample or []
    return found, states[0], states[1], chosen


async def compared_refs(call: Call, repository: str, left: str, right: str, *, two_dot: bool) -> tuple[str, str]:
    """The states to compare, as diffRefs does: commits, or what is uncommitted on `<branch>$`."""
    if not two_dot:
        base = await call.engine.commits.merge_base(repository, right, left)
        return base.base_id, base.source_id
    get = call.engine.commits.get
    commits = [ref if ref.endswith("$") else (await get(repository, ref)).id for ref in (left, right)]
    return commits[0], commits[1]


async def _find_or_none(
    call: Call, repository: str, ref: str, path: str, format: Format | None
) -> tuple[Found, Format] | None:
    try:
        return await find(call, repository, ref, path, format)
    except (ObjectNotFoundError, EmptyTable):
        return None


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


def described(found: Found) -> tuple[File, ...]:
    """The files, for the process that reads them."""
    return tuple(File(one.path, one.place, one.entry.size, one.entry.identity) for one in found)


async def answered(call: Call, repository: str, request: Request, found: Found) -> Reply:
    """The answer to a request for rows. Raises RequestError (400, 413, 422), and EngineError."""
    reads = [partial(call.engine.objects.read_part, repository, one.entry) for one in found]
    try:
        return Reply(200, await call.services.tables.answer(request, reads), (JSON,))
    except TableError as error:
        raise RequestError(error.kind, error.message) from None
