"""The event that a hook gets, as JSON.

The fields that existing receivers know come first, in their order. The fields that only Lakebed sends follow. Empty
fields are left out, except for the first five.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from lakebed_hooks.vocabulary import Changes, HookEvent

OWN_FIELDS: Final = ("run_id", "user", "base_commit_id", "candidate_commit_id", "tree_id", "changes", "links")
"""Fields that only Lakebed sends."""
CLOUDEVENTS_TYPE: Final = "application/cloudevents+json"
JSON_TYPE: Final = "application/json"

_ALWAYS = ("event_type", "event_time", "action_name", "hook_id", "repository_id")
_KNOWN = (
    *("branch_id", "source_ref", "tag_id", "commit_id", "commit_message", "committer", "commit_metadata"),
    "merge_source",
)


def fields(event: HookEvent) -> dict[str, Any]:
    """Return the fields of an event in their order."""
    known: dict[str, Any] = {name: getattr(event, name) for name in _ALWAYS}
    known["event_time"] = rfc3339(event.event_time)
    for name in (*_KNOWN, *OWN_FIELDS):
        content = getattr(event, name)
        if isinstance(content, Changes):
            known[name] = _changes(content)
        elif isinstance(content, Mapping):
            if content:
                known[name] = dict(sorted(content.items()))
        elif content:
            known[name] = content
    return known


def encode(event: HookEvent) -> bytes:
    """Return the body for a receiver that knows the format `lakefs`."""
    return _json(fields(event))


def cloudevents(event: HookEvent, *, delivery: str, source: str) -> bytes:
    """Return the body for a receiver of CloudEvents 1.0, in structured mode.

    `source`: the address of the repository. Source and delivery identify an event, and a repeated delivery has the
    same ones.
    """
    envelope = {
        "specversion": "1.0",
        "id": delivery,
        "source": source,
        "type": f"io.lakebed.{event.event_type}",
        "subject": event.branch_id or event.tag_id,
        "time": rfc3339(event.event_time),
        "datacontenttype": JSON_TYPE,
        "data": fields(event),
    }
    return _json({name: content for name, content in envelope.items() if content})


def rfc3339(seconds: int) -> str:
    """Return Unix seconds as a time in UTC: 0 -> `1970-01-01T00:00:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def _changes(changes: Changes) -> dict[str, Any]:
    return {
        "added": changes.added,
        "changed": changes.changed,
        "removed": changes.removed,
        "paths": list(changes.paths),
        "truncated": changes.truncated,
    }


def _json(content: Mapping[str, Any]) -> bytes:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # half of a surrogate pair cannot be encoded as UTF-8
