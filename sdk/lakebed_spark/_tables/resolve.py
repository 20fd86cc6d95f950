"""Resolves a path of a ref to physical files that Spark's own readers open. It reads names, no bytes. Without PySpark.

Logical paths say which files a table has and in which partition a file is. Physical addresses say where the bytes are
stored. Spark takes partitions from physical folders. So there are three kinds of files: files whose physical folders
are the logical ones, files in other folders, and files that none of Spark's file systems can open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

import attrs
import lakebed
from lakebed._integration.values import DIRECT, directory_of, is_plain, wanted_path
from lakebed.errors import InvalidRequestError, ObjectNotFoundError
from lakebed.model import ObjectInfo

from lakebed_spark._access import Place
from lakebed_spark._tables.formats import check_endings, is_hidden, loses_codec
from lakebed_spark._tables.partitions import Pairs, folders_of

_SURE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_=~-]{0,99}(?:[/.][a-zA-Z0-9_=~-]{1,99}){1,7}")
"""Matches most keys, which are plain without further checks."""

_CLOUD = {"s3": "s3a", "gs": "gs"}
"""Schemes of the store, and Hadoop's names for them."""


@attrs.frozen
class File:
    """One object of a table. Spark opens `uri`, which is empty when it cannot. `pairs`: its partition, raw."""

    info: ObjectInfo
    uri: str
    pairs: Pairs


@attrs.frozen
class Found:
    """What a path shows at one moment. `place` is pinned to a commit if the commit shows the same."""

    place: Place
    base: str
    columns: tuple[str, ...]
    hive: list[File]
    """Files whose physical folders are the logical ones. Spark finds the partitions itself, below `base`."""

    elsewhere: list[File]
    odd: list[File]
    """Files without a `uri`."""

    @property
    def files(self) -> list[File]:
        """All files."""
        return [*self.hive, *self.elsewhere, *self.odd]

    @property
    def schemes(self) -> set[str]:
        """The schemes of the file systems that Spark needs."""
        return {file.uri.partition(":")[0] for file in (*self.hive, *self.elsewhere)}

    def without_file_systems(self, missing: set[str]) -> Found:
        """Return the same without some file systems: their files become odd."""
        lost = [f for f in (*self.hive, *self.elsewhere) if f.uri.partition(":")[0] in missing]
        gone = {id(file) for file in lost}
        return attrs.evolve(
            self,
            hive=[file for file in self.hive if id(file) not in gone],
            elsewhere=[file for file in self.elsewhere if id(file) not in gone],
            odd=[*self.odd, *(attrs.evolve(file, uri="") for file in lost)],
        )


def resolve(lake: lakebed.Lake, place: Place, kind: str, options: Mapping[str, str]) -> Found:
    """Return the files of a format at a path or below it.

    For a branch or a workspace with uncommitted changes below the path, the result is its present state.
    `pathGlobFilter` and `recursiveFileLookup` mean the same as in Spark, and apply to logical paths.

    Raises ObjectNotFoundError when there is no file, InvalidRequestError for files of several formats or with different
    partition columns, and NotFoundError.
    """
    pinned = _pinned(lake, place)
    pattern = options.get("pathglobfilter")
    rows = _rows(lake, pinned)
    shown = [row for row in rows if pattern is None or fnmatchcase(row.path.rpartition("/")[2], pattern)]
    if not shown:
        raise _nothing(lake, place, pattern)
    check_endings(place, kind, shown)
    flat = options.get("recursivefilelookup", "").lower() == "true"
    columns = () if flat else _columns(place, shown)
    locator = _Locator(lake, place)
    found = Found(pinned, locator.base, columns, [], [], [])
    seen: set[str] = set()
    start, last = len(place.folder), ""
    pairs: Pairs = ()
    for row in shown:
        folder = row.path[start : row.path.rfind("/") + 1]
        if columns and folder != last:
            last, pairs = folder, folders_of(folder)[1]
        uri = locator.uri_of(row)
        if uri and loses_codec(kind, row.path, uri):
            raise _unreadable(place, row)
        file = File(row, uri, pairs)
        if not uri:
            found.odd.append(file)
        elif uri in seen or (columns and not _is_hive(row, uri)):
            found.elsewhere.append(file)  # Spark reads an address one time, even when several paths name it
        else:
            found.hive.append(file)
        seen.add(uri)
    return found


def _pinned(lake: lakebed.Lake, place: Place) -> Place:
    """Return the commit that a ref points at, or None when there are uncommitted changes below the path."""
    ref = place.reader(lake)
    if ref.id.endswith("@"):
        return attrs.evolve(place, ref=ref.commit_info().id)
    commit = ref.commit_info()
    if place.workspace_id is not None:
        return place
    try:
        changed = lake.repository(place.repository).branch(place.ref).uncommitted(place.path, limit=1).first()
    except lakebed.LakebedError:
        changed = None  # not a branch: a tag, a commit, `main~1`
    return place if changed is not None else attrs.evolve(place, ref=commit.id)


def _rows(lake: lakebed.Lake, place: Place) -> Iterator[ObjectInfo]:
    """Return the objects at a path or below it, without hidden and empty ones."""
    ref = place.reader(lake)
    if place.path:
        try:
            yield ref.stat(place.path)
        except ObjectNotFoundError:
            pass
        else:
            return
    for row in ref.list(place.folder):
        if isinstance(row, ObjectInfo) and row.size and not is_hidden(row.path[len(place.folder) :]):
            yield row


def _columns(place: Place, rows: list[ObjectInfo]) -> tuple[str, ...]:
    """Return the partition columns. All files must have the same ones."""
    start = len(place.folder)
    layouts: dict[tuple[str, tuple[str, ...]], str] = {}
    last = ""
    for row in rows:
        folder = row.path.rpartition("/")[0]
        if folder == last and layouts:
            continue  # paths are sorted, so each folder is checked one time
        last = folder
        base, pairs = folders_of(row.path[start:])
        names = tuple(name for name, _ in pairs)
        layouts.setdefault((base if names else "", names), row.path)
        if "" in names or any(value == "" for _, value in pairs):
            raise InvalidRequestError(
                f"read {place}: {row.path!r} is in a folder with an empty partition name or value", path=row.path
            )
    if len(layouts) > 1:
        (_, one), (_, other), *_ = layouts
        first, second, *_ = layouts.values()
        raise InvalidRequestError(
            f"read {place}: not all files have the same partition columns: {first!r} has {_named(one)}, "
            f"{second!r} has {_named(other)}; read one folder, or pass recursiveFileLookup=True to ignore partitions",
            operation="read",
            repository=place.repository,
            ref=place.ref,
            path=place.path,
        )
    return next(iter(layouts))[1]


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names)) or "none"


class _Locator:
    """Maps objects of a repository to Spark's names."""

    def __init__(self, lake: lakebed.Lake, place: Place) -> None:
        shared = directory_of(lake.repository(place.repository).info())
        self.namespace = shared.namespace
        scheme, _, rest = self.namespace.partition("://")
        self.base = f"file://{shared.directory.rstrip('/')}" if shared else ""
        if scheme in _CLOUD and wanted_path(None) in (None, DIRECT):
            self.base = f"{_CLOUD[scheme]}://{rest.rstrip('/')}"

    def uri_of(self, row: ObjectInfo) -> str:
        """Return the URI for Spark, or empty text when it cannot open the file: no file system, or a name that its
        readers skip.
        """
        address = row.physical_address
        if address.startswith(self.namespace):
            key = address[len(self.namespace) :]
            if not self.base or not (_SURE.fullmatch(key) or is_plain(key)):
                return ""
            uri = f"{self.base}/{key}"
        else:
            scheme, _, rest = address.partition("://")
            if scheme not in _CLOUD:
                return ""
            uri = f"{_CLOUD[scheme]}://{rest}"
        return "" if uri[uri.rfind("/") + 1] in "._" else uri


def _is_hive(row: ObjectInfo, uri: str) -> bool:
    """Whether the physical folder ends in the whole logical folder. Then it contains the partitions."""
    return uri[: uri.rfind("/") + 1].endswith("/" + row.path[: row.path.rfind("/") + 1])


def _nothing(lake: lakebed.Lake, place: Place, pattern: str | None) -> ObjectNotFoundError:
    there = place.reader(lake).list(place.folder, limit=1).first()
    reason = "no object exists at this path or below it" if there is None else "all files below it are hidden or empty"
    if pattern is not None and there is not None:
        reason = f"no file below it matches pathGlobFilter={pattern!r}"
    above = place.path.rpartition("/")[0]
    return ObjectNotFoundError(
        f"read {place}: {reason}; see lake.repository({place.repository!r}).ref({place.ref!r}).list({above!r})",
        operation="read",
        repository=place.repository,
        ref=place.ref,
        path=place.path,
    )


def _unreadable(place: Place, row: ObjectInfo) -> InvalidRequestError:
    return InvalidRequestError(
        f"read {place}: {row.path!r} is compressed, but its name in the store has no file extension, which Spark "
        "needs to decompress it: write it through a workspace, or without compression",
        operation="read",
        repository=place.repository,
        ref=place.ref,
        path=row.path,
    )
