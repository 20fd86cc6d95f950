"""Formats of files, by the endings of their names. Pure, without PySpark."""

from __future__ import annotations

from collections.abc import Sequence

from lakebed.errors import InvalidRequestError
from lakebed.model import ObjectInfo

from lakebed_spark._access import Place

ENDINGS = {
    "parquet": (".parquet", ".parq"),
    "orc": (".orc",),
    "avro": (".avro",),
    "csv": (".csv", ".tsv"),
    "json": (".json", ".jsonl", ".ndjson"),
    "xml": (".xml",),
    "text": (".txt", ".text", ".log", ".md"),
}
"""Spark's formats, and the endings of their file names."""

_ACCEPTED = {"csv": ("csv", "text"), "json": ("json", "text"), "text": tuple(ENDINGS), "binaryfile": tuple(ENDINGS)}
_CODECS = (".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate")
_LINES = ("csv", "json", "text", "xml")


def format_of(path: str) -> str | None:
    """Return the format that a file name states, before the ending of a codec. None if it states none."""
    name = _uncompressed(path.rpartition("/")[2].lower())
    return next((kind for kind, endings in ENDINGS.items() if name.endswith(endings)), None)


def _uncompressed(name: str) -> str:
    return next((name[: -len(codec)] for codec in _CODECS if name.endswith(codec)), name)


def is_hidden(place: str) -> bool:
    """Whether Spark skips a file below a table: `_SUCCESS`, `.part.crc`, `_logs/x`, but not `_day=1/x`."""
    if place[:1] not in {".", "_"} and "/." not in place and "/_" not in place:
        return False
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in place.split("/"))


def loses_codec(kind: str, path: str, uri: str) -> bool:
    """Whether a file is compressed by its logical name but not by its physical name, which Spark reads."""
    if kind not in _LINES or not path.lower().endswith(_CODECS):
        return False
    return not uri.lower().endswith("." + path.lower().rpartition(".")[2])


def check_endings(place: Place, kind: str, rows: Sequence[ObjectInfo]) -> None:
    """Raise InvalidRequestError when a file name states another format."""
    taken = _ACCEPTED.get(kind, (kind,))
    if kind in {"text", "binaryfile"} or kind not in ENDINGS:
        return
    seen: dict[str, str | None] = {}  # by the ending of the name: there are few
    others: dict[str | None, str] = {}
    for row in rows:
        end = row.path[row.path.rfind(".") :]
        if end in _CODECS:
            end = row.path[row.path.rfind(".", 0, -len(end)) :]
        if end not in seen:
            seen[end] = _other_format(row.path, taken)
            others.setdefault(seen[end], row.path)
    other = next((found for found in others if found is not None), None)
    if other is None:
        return
    example = others[other]
    if len(others) == 1:
        problem = f"its files have the extension of {other}, such as {example!r}; pass format={other!r}"
    else:
        problem = (
            f"it has files of several formats: {example!r} is {other}, not {kind}; move them to separate folders, "
            f"or select files with pathGlobFilter={'*' + ENDINGS[kind][0]!r}"
        )
    raise InvalidRequestError(
        f"read {place}: {problem}",
        kind="mixed_formats",
        operation="read",
        repository=place.repository,
        ref=place.ref,
        path=place.path,
    )


def _other_format(path: str, taken: Sequence[str]) -> str | None:
    """Return the format of a name, if it is none of the accepted ones."""
    found = format_of(path)
    return None if found is None or found in taken else found
