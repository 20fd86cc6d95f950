"""A snapshot of a repository's refs as JSON bytes: what is needed, beside the commits, to get a repository back.

Pure. Its id is a hash of what it says without the time, so that "nothing changed" can be seen from names alone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

FOLDER: Final = "_lakebed/refs/"

_NAME: Final = re.compile(r"_lakebed/refs/(\d{8}T\d{9}Z)-([0-9a-f]{64})\.json")


class BranchRef(NamedTuple):
    """Where a branch stood."""

    name: str
    commit_id: str
    hidden: bool = False


class TagRef(NamedTuple):
    """Where a tag stands."""

    name: str
    commit_id: str


@dataclass(frozen=True, slots=True)
class RefsRecord:
    """What stands in a snapshot. `creation_date` in Unix seconds; `metadata` is the repository's own map.

    `protection`: patterns of the branches that take no direct changes.
    """

    uid: str
    name: str
    storage_namespace: str
    default_branch: str
    creation_date: int
    read_only: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    branches: tuple[BranchRef, ...] = ()
    tags: tuple[TagRef, ...] = ()
    protection: tuple[str, ...] = ()


def refs_id(record: RefsRecord) -> str:
    """64 hex characters: the SHA-256 of the content as JSON, keys sorted, without white space, in UTF-8."""
    text = json.dumps(_body(record), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def encode_refs(record: RefsRecord, time_ms: int) -> tuple[str, bytes]:
    """The key and the bytes of a snapshot; `time_ms` in Unix milliseconds."""
    found = refs_id(record)
    body = {"format": "refs/1", "id": found, "time_ms": time_ms, **_body(record)}
    data = json.dumps(body, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"
    return f"{FOLDER}{_stamp(time_ms)}-{found}.json", data


def decode_refs(data: bytes) -> tuple[str, int, RefsRecord]:
    """The id, the time and the record. Raises ValueError when the content does not hash to the id that it states."""
    body = json.loads(data)
    if not isinstance(body, dict) or body.get("format") != "refs/1":
        raise ValueError("not a ref snapshot of version 1")
    try:
        record = _record(body)
        found, time_ms = refs_id(record), int(body["time_ms"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a ref snapshot: {error!r}") from error
    if found != body.get("id"):
        raise ValueError(f"ref snapshot {body.get('id')} does not hash to its id: the file was changed")
    return found, time_ms, record


def parse_key(key: str) -> tuple[int, str] | None:
    """The time in Unix milliseconds and the id that a snapshot's key says; None for another key."""
    found = _NAME.fullmatch(key)
    if found is None:
        return None
    try:
        moment = datetime.strptime(found[1][:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) * 1000 + int(found[1][15:18]), found[2]


def _stamp(time_ms: int) -> str:
    """Example: `20260101T120000000Z`. All are of one length, so keys sort by time."""
    moment = datetime.fromtimestamp(time_ms // 1000, UTC)
    return f"{moment:%Y%m%dT%H%M%S}{time_ms % 1000:03d}Z"


def _body(record: RefsRecord) -> dict[str, Any]:
    return {
        "repository": {
            "uid": record.uid,
            "name": record.name,
            "storage_namespace": record.storage_namespace,
            "default_branch": record.default_branch,
            "creation_date": record.creation_date,
            "read_only": record.read_only,
        },
        "metadata": dict(record.metadata),
        "branches": [one._asdict() for one in record.branches],
        "tags": [one._asdict() for one in record.tags],
        **({"protection": list(record.protection)} if record.protection else {}),
    }


def _record(body: Mapping[str, Any]) -> RefsRecord:
    about = body["repository"]
    return RefsRecord(
        uid=str(about["uid"]),
        name=str(about["name"]),
        storage_namespace=str(about["storage_namespace"]),
        default_branch=str(about["default_branch"]),
        creation_date=int(about["creation_date"]),
        read_only=bool(about["read_only"]),
        metadata={str(key): str(value) for key, value in body["metadata"].items()},
        branches=tuple(BranchRef(str(o["name"]), str(o["commit_id"]), bool(o["hidden"])) for o in body["branches"]),
        tags=tuple(TagRef(str(one["name"]), str(one["commit_id"])) for one in body["tags"]),
        protection=tuple(str(one) for one in body.get("protection", ())),
    )
