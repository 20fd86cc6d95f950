"""The form of uploadObjects with a commit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

FORM = "multipart/form-data; boundary=B"


def part(name: str, data: bytes, path: str = "") -> bytes:
    filename = f'; filename="{path}"' if path else ""
    head = f'--B\r\nContent-Disposition: form-data; name="{name}"{filename}\r\n\r\n'
    return head.encode() + data + b"\r\n"


def form(asked: Any, rows: Mapping[str, bytes | None]) -> bytes:
    """A form; `asked` is what the part `commit` holds."""
    raw = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    parts = [
        part("delete", path.encode()) if data is None else part("content", data, path) for path, data in rows.items()
    ]
    return b"".join([part("commit", raw), *parts, b"--B--\r\n"])
