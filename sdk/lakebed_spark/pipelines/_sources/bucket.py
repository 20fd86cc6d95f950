"""A folder of a bucket, listed with the credentials of this machine, as a source."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import attrs
import pyarrow as pa
from lakebed.errors import ConfigurationError, ServerUnavailableError
from lakebed_format.installation import install_command

from lakebed_spark.history.key_ranges import Span, of_prefix
from lakebed_spark.pipelines._sources.base import BATCH, Disordered, Row, listed_table

_PAGE = 1000
_MOST_FOLDERS = 1000
"""Folders of a folder that are listed one by one, when a bucket has no order."""

_ODD = re.compile(rb"(?:\A|/)(?:\.{0,2}|\.lakebed-[^/]*|[^/]{256,})(?=/|\Z)|[\x00-\x1f\x7f]|\xc2[\x80-\x9f]")
"""Keys of a bucket that the server ignores (docs/ingest.md)."""

_CHANGED = re.compile(r"[\\\ufffe\uffff]")


@attrs.frozen
class CloudFolder:
    """A folder of a bucket, with the credentials that each machine has: `AWS_*` variables, or its role."""

    uri: str
    divides: bool = True

    def undivided(self) -> CloudFolder:
        """As of `Source`."""
        return CloudFolder(self.uri, False)

    def folders(self, below: str) -> list[str]:
        """As of `Source`: one request for a thousand of them."""
        return sorted(self._level(below)[1])

    def listed(self, span: Span, rows: int = BATCH) -> Iterator[pa.Table]:
        """As of `Source`. Without an order it holds and sorts each folder that is completely in the span."""
        if not self.divides:
            found = self._sorted("", span)
            while some := [*islice(found, rows)]:
                yield listed_table(some)
            return
        held: list[Row] = []
        last = ""
        # a listing begins behind its offset: a span begins at a folder, which is not an object, or right behind a key
        for page in self._pages("", span.low.removesuffix("\0")):
            for row in page:
                if row[0] <= last:
                    raise Disordered(f"the listing of {self.uri} is not in byte order")
                last = row[0]
                if span.holds(last, last):
                    held.append(row)
            if len(held) >= rows:
                yield listed_table(held)
                held = []
            if span.high is not None and last >= span.high:
                break
        if held:
            yield listed_table(held)

    def _sorted(self, folder: str, span: Span) -> Iterator[Row]:
        """Rows of a folder in a span, in order, however the bucket lists them."""
        objects, inner = self._level(folder)
        if len(inner) > _MOST_FOLDERS:  # a request for each would take longer
            yield from sorted(row for page in self._pages(folder) for row in page if span.holds(row[0], row[0]))
            return
        rows = (self._row(meta) for meta in objects)
        here = {row[0]: row for row in rows if _is_key(row[0]) and span.holds(row[0], row[0])}
        for key in sorted([*here, *inner]):
            if key in here:
                yield here[key]
                continue
            below = of_prefix(key)
            both = span.both(below)
            if both == below:
                yield from sorted(row for page in self._pages(key) for row in page)
            elif not both.empty:
                yield from self._sorted(key, span)

    def _level(self, folder: str) -> tuple[Sequence[Any], list[str]]:
        """Return the content of a folder: objects as the store reports them, and folders."""
        import obstore

        store, top = self.open()
        with _explain_errors(self.uri):
            found = obstore.list_with_delimiter(store, (top + folder) or None)
        return found["objects"], [f"{prefix.rstrip('/')[len(top) :]}/" for prefix in found["common_prefixes"]]

    def _pages(self, folder: str, after: str = "") -> Iterator[list[Row]]:
        """All below a folder, as the bucket lists it."""
        import obstore

        store, top = self.open()
        with _explain_errors(self.uri):
            listing = obstore.list(
                store, (top + folder) or None, offset=top + after if after else None, chunk_size=_PAGE
            )
            for page in listing:
                yield [row_of(meta, top) for meta in page if _is_key(meta["path"][len(top) :])]

    def _row(self, meta: Any) -> Row:
        return row_of(meta, self.uri.partition("://")[2].partition("/")[2])

    def open(self) -> tuple[Any, str]:
        """The store, and the folder as the beginning of its keys. Raises ConfigurationError without obstore."""
        try:
            from obstore.store import from_url
        except ImportError as error:
            raise ConfigurationError(
                f"listing a bucket needs a package that is not installed: {install_command('s3')}"
            ) from error
        scheme, _, rest = self.uri.partition("://")
        bucket, _, top = rest.partition("/")
        plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
        return from_url(f"{scheme}://{bucket}", client_options={"allow_http": True} if plain else None), top


class _explain_errors:
    """Turn an error of the store into a Lakebed error."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from obstore.exceptions import BaseError

        if isinstance(error, BaseError):
            first = str(error).strip().split("\n", 1)[0]
            raise ServerUnavailableError(
                f"cannot list {self._uri} with the credentials of this machine: {first}; set them (AWS_ACCESS_KEY_ID, "
                "AWS_SECRET_ACCESS_KEY), or run `lakebed ingest commit`, so that the server lists it",
                operation="list",
            ) from error


def _is_key(key: str) -> bool:
    return bool(key) and not key.endswith("/") and _ODD.search(key.encode()) is None and _CHANGED.search(key) is None


def row_of(meta: Any, top: str) -> Row:
    """Return a row from obstore's description of an object. `top` is its folder."""
    mtime, size = meta["last_modified"].timestamp(), meta["size"]
    tag = (meta["e_tag"] or "").removeprefix("W/").strip('"')
    return meta["path"][len(top) :], size, mtime, f"etag:{tag}" if tag else f"stat:{round(mtime * 1e9):x}-{size:x}"
