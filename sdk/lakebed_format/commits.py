"""A commit as JSON bytes, and its id: the hash of its content, so that history can be rebuilt and checked.

The id is the hex SHA-256 of a tagged stream (`facts/rest_api.md` 3.1): a type byte before every value, lengths as
64-bit big-endian integers. Generation and version stand outside the hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

_BYTES, _STRING, _INT64, _SLICE, _MAP, _NESTED = range(6)


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """What stands in `_lakebed/commits/<id>.json`. `creation_date` in Unix seconds, `generation` from 1."""

    parents: tuple[str, ...]
    committer: str
    message: str
    creation_date: int
    metarange_id: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    generation: int = 1
    version: int = 1


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
    return _raw(_STRING, value.encode())


def encode_commit(record: CommitRecord) -> bytes:
    """The JSON file, keys sorted, readable by people."""
    values = {one.name: getattr(record, one.name) for one in fields(record)}
    body = {"format": "commit/1", "id": commit_id(record), **values}
    return json.dumps(body, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"


def decode_commit(data: bytes) -> tuple[str, CommitRecord]:
    """The id and the record. Raises ValueError when the content does not hash to the id that it states."""
    body = json.loads(data)
    if not isinstance(body, dict) or body.get("format") != "commit/1":
        raise ValueError("not a commit file of version 1")
    try:
        record = _record(body)
        found = commit_id(record)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a commit file: {error!r}") from error
    if found != body.get("id"):
        raise ValueError(f"commit {body.get('id')} does not hash to its id: the file was changed")
    return found, record


def _record(body: Mapping[str, Any]) -> CommitRecord:
    return CommitRecord(
        parents=tuple(_strings(body["parents"])),
        committer=str(body["committer"]),
        message=str(body["message"]),
        creation_date=int(body["creation_date"]),
        metarange_id=str(body["metarange_id"]),
        metadata={str(key): str(value) for key, value in body["metadata"].items()},
        generation=int(body["generation"]),
        version=int(body["version"]),
    )


def _strings(values: Iterable[object]) -> Iterable[str]:
    return (str(value) for value in values)
