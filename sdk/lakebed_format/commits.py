"""A commit as JSON bytes, and its id: the hash of its content, so that history can be rebuilt and checked.

The id is the hex SHA-256 of a tagged stream (`facts/rest_api.md` 3.1): a type byte before every value, and lengths as
64-bit big-endian integers. The hash does not include generation and version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakebed_format.decoding import FormatError, as_id, decoder, integer, items, load_json, text, texts
from lakebed_format.keys import COMMITS, FILE_BYTES

_quoted = json.JSONEncoder(ensure_ascii=False).encode

_BYTES, _STRING, _INT64, _SLICE, _MAP, _NESTED = range(6)


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """The content of `_lakebed/commits/<id>.json`. `creation_date` in Unix seconds, `generation` from 1."""

    parents: tuple[str, ...]
    committer: str
    message: str
    creation_date: int
    metarange_id: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    generation: int = 1
    version: int = 1


_TEXT = bytes([_STRING, _INT64, 8])
"""The bytes before the length of every text."""


def commit_id(record: CommitRecord) -> str:
    """64 hex characters."""
    parents = hashlib.sha256(_int(_SLICE, len(record.parents)) + b"".join(map(_text, record.parents))).digest()
    stream = [
        _text("commit:v1"),
        _text(record.committer),
        _text(record.message),
        _text(record.metarange_id),
        _number(record.creation_date),
        _int(_MAP, len(record.metadata)),
        *(_text(word) for key in sorted(record.metadata) for word in (key, record.metadata[key])),
        bytes([_NESTED]) + _raw(_BYTES, parents),
    ]
    return hashlib.sha256(b"".join(stream)).hexdigest()


def _number(value: int) -> bytes:
    """Example: 1 is 02 08 00 00 00 00 00 00 00 01."""
    return bytes([_INT64, 8]) + value.to_bytes(8, "big", signed=True)


def _int(tag: int, value: int) -> bytes:
    return bytes([tag]) + _number(value)


def _raw(tag: int, data: bytes) -> bytes:
    return _int(tag, len(data)) + data


def _text(value: str) -> bytes:
    data = value.encode()
    return _TEXT + len(data).to_bytes(8, "big") + data


def encode_commit(record: CommitRecord, found_id: str = "") -> bytes:
    """The JSON file, keys sorted, readable by people. `found_id` is its `commit_id` where that is known already.

    What `json.dumps(body, ensure_ascii=False, sort_keys=True, indent=1)` gives, in a fifth of its time: with an indent
    it has no help from C, and all commits of a chain wait for it.
    """
    metadata = [f"{_quoted(key)}: {_quoted(record.metadata[key])}" for key in sorted(record.metadata)]
    values = [
        f'"committer": {_quoted(record.committer)}',
        f'"creation_date": {record.creation_date}',
        '"format": "commit/1"',
        f'"generation": {record.generation}',
        f'"id": "{found_id or commit_id(record)}"',
        f'"message": {_quoted(record.message)}',
        f'"metadata": {_nested("{", metadata, "}")}',
        f'"metarange_id": {_quoted(record.metarange_id)}',
        f'"parents": {_nested("[", [_quoted(parent) for parent in record.parents], "]")}',
        f'"version": {record.version}',
    ]
    return ("{\n " + ",\n ".join(values) + "\n}\n").encode()


def _nested(begin: str, values: Sequence[str], end: str) -> str:
    return begin + "\n  " + ",\n  ".join(values) + "\n " + end if values else begin + end


@decoder("commit file")
def decode_commit(data: bytes) -> tuple[str, CommitRecord]:
    """The id and the record. Raises FormatError, also when the content does not hash to the id that it states."""
    body = load_json(data, "commit/1", FILE_BYTES[COMMITS])
    record = CommitRecord(
        parents=tuple(as_id(parent, "parent") for parent in items(body, "parents")),
        committer=text(body, "committer"),
        message=text(body, "message"),
        creation_date=integer(body, "creation_date"),
        metarange_id=as_id(body["metarange_id"], "metarange_id") if body["metarange_id"] != "" else "",
        metadata=texts(body, "metadata"),
        generation=integer(body, "generation"),
        version=integer(body, "version"),
    )
    found = commit_id(record)
    if found != body.get("id"):
        raise FormatError(f"commit {str(body.get('id'))[:80]} does not hash to its id: the file was changed")
    return found, record
