"""The marker of a repository as JSON bytes: it says whose namespace this is."""

from __future__ import annotations

import json

from lakebed_format.decoding import FormatError, decoder, refuse_newer, texts
from lakebed_format.keys import FILE_BYTES, REPOSITORY_MARKER


@decoder("repository marker")
def decode_marker(data: bytes) -> dict[str, str]:
    """Its members by name: `uid` and `name`. Raises FormatError."""
    if len(data) > FILE_BYTES[REPOSITORY_MARKER]:
        raise FormatError(f"it has {len(data):,} bytes, at most {FILE_BYTES[REPOSITORY_MARKER]:,} are read")
    members = texts({"marker": json.loads(data)}, "marker")
    refuse_newer(members.get("format"), "repository/1")  # markers say nothing of it so far
    return members
