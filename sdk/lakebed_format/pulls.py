"""The file of a pull request at one revision, for a rebuild. A ref snapshot names it.

The pull request and its events are kept as JSON objects: what they mean is the engine's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from lakebed_format.decoding import FormatError, decoder, items, load_json
from lakebed_format.keys import FILE_BYTES, PULLS


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
