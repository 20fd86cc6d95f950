"""The JSON files that describe a repository: its marker, and the snapshots of its refs.

The marker names the repository of a namespace. A snapshot and the commits are enough to restore a repository. The id of
a snapshot is a hash of its content without the time, so the names of two snapshots show whether something changed.

A ref snapshot also names the file of each pull request at one revision. The pull request and its events are kept as
JSON objects: what they mean is the engine's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from lakebed_format.decoding import (
    FormatError,
    as_id,
    as_text,
    decoder,
    flag,
    integer,
    items,
    load_json,
    refuse_newer,
    text,
    texts,
)
from lakebed_format.keys import FILE_BYTES, PULLS, REFS, REPOSITORY_MARKER, SNAPSHOT_FILE, is_made, pull_file


class BranchRef(NamedTuple):
    """The commit of a branch."""

    name: str
    commit_id: str
    hidden: bool = False


class TagRef(NamedTuple):
    """The commit of a tag."""

    name: str
    commit_id: str


class PullRef(NamedTuple):
    """The revision of a pull request. Both are parts of the key of its file."""

    id: str
    revision: str


class RuleNeeds(NamedTuple):
    """What pull requests need into the branches of a protection rule."""

    pattern: str
    approvals: int
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefsRecord:
    """The content of a snapshot. `creation_date` in Unix seconds. `metadata` is the metadata of the repository.

    `protection`: patterns of the branches that accept no direct changes. `requirements`: of the rules that have some.
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
    requirements: tuple[RuleNeeds, ...] = ()
    pulls: tuple[PullRef, ...] = ()


def refs_id(record: RefsRecord) -> str:
    """64 hex characters: the SHA-256 of the content as JSON, keys sorted, without white space, in UTF-8."""
    content = json.dumps(_body(record), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()


def encode_refs(record: RefsRecord, time_ms: int) -> tuple[str, bytes]:
    """Return the key and the bytes of a snapshot. `time_ms` in Unix milliseconds."""
    found = refs_id(record)
    body = {"format": "refs/1", "id": found, "time_ms": time_ms, **_body(record)}
    data = json.dumps(body, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"
    return f"{REFS}{_stamp(time_ms)}-{found}.json", data


@decoder("ref snapshot")
def decode_refs(data: bytes) -> tuple[str, int, RefsRecord]:
    """The id, the time and the record. Raises FormatError, also when the content does not hash to its id."""
    body = load_json(data, "refs/1", FILE_BYTES[REFS])
    record = _record(body)
    found, time_ms = refs_id(record), integer(body, "time_ms")
    if found != body.get("id"):
        raise FormatError(f"ref snapshot {str(body.get('id'))[:80]} does not hash to its id: the file was changed")
    return found, time_ms, record


def parse_key(key: str) -> tuple[int, str] | None:
    """Return the time in Unix milliseconds and the id in a snapshot's key. None for another key."""
    found = SNAPSHOT_FILE.fullmatch(key)
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
        **({"requirements": [one._asdict() for one in record.requirements]} if record.requirements else {}),
        **({"pulls": [one._asdict() for one in record.pulls]} if record.pulls else {}),
    }


def _record(body: Mapping[str, Any]) -> RefsRecord:
    about = body["repository"]
    return RefsRecord(
        uid=text(about, "uid"),
        name=text(about, "name"),
        storage_namespace=text(about, "storage_namespace"),
        default_branch=text(about, "default_branch"),
        creation_date=integer(about, "creation_date"),
        read_only=flag(about, "read_only"),
        metadata=texts(body, "metadata"),
        branches=tuple(map(_branch, items(body, "branches"))),
        tags=tuple(map(_tag, items(body, "tags"))),
        protection=tuple(as_text(one, "protection") for one in items({"protection": [], **body}, "protection")),
        requirements=tuple(map(_needs, items({"requirements": [], **body}, "requirements"))),
        pulls=tuple(map(_pull, items({"pulls": [], **body}, "pulls"))),
    )


def _needs(one: Mapping[str, Any]) -> RuleNeeds:
    checks = tuple(as_text(check, "checks") for check in items(one, "checks"))
    return RuleNeeds(text(one, "pattern"), integer(one, "approvals"), checks)


def _pull(one: Mapping[str, Any]) -> PullRef:
    ref = PullRef(text(one, "id"), text(one, "revision"))
    if not is_made(pull_file(*ref)):
        raise FormatError(f"its pull request {ref.id[:40]!r} has a malformed id or revision")
    return ref


def _branch(one: Mapping[str, Any]) -> BranchRef:
    return BranchRef(text(one, "name"), as_id(one["commit_id"], "commit_id"), flag(one, "hidden"))


def _tag(one: Mapping[str, Any]) -> TagRef:
    return TagRef(text(one, "name"), as_id(one["commit_id"], "commit_id"))


@decoder("repository marker")
def decode_marker(data: bytes) -> dict[str, str]:
    """The members of a repository marker: `uid` and `name`. Raises FormatError."""
    if len(data) > FILE_BYTES[REPOSITORY_MARKER]:
        raise FormatError(f"it has {len(data):,} bytes, at most {FILE_BYTES[REPOSITORY_MARKER]:,} are read")
    members = texts({"marker": json.loads(data)}, "marker")
    refuse_newer(members.get("format"), "repository/1")  # markers have no format member yet
    return members


def encode_pull(pull: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> bytes:
    """The bytes of a file. `sha256` in it is of the content as JSON, keys sorted, without white space, in UTF-8."""
    body = {"pull": dict(pull), "events": [dict(event) for event in events]}
    return _text({"format": "pull/1", "sha256": _digest(body), **body}).encode() + b"\n"


@decoder("file of a pull request")
def decode_pull(data: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The pull request and its events. Raises FormatError, also when the content does not fit its hash."""
    body = load_json(data, "pull/1", FILE_BYTES[PULLS])
    pull, events = body["pull"], items(body, "events")
    if not isinstance(pull, dict) or not all(isinstance(event, dict) for event in events):
        raise FormatError("its pull request or an event is not an object")
    if body["sha256"] != _digest({"pull": pull, "events": events}):
        raise FormatError("it does not fit its hash: the file was changed")
    return pull, events


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(body).encode()).hexdigest()


def _text(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
