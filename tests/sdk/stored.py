"""What a server stored, as the transfer tests see it."""

from __future__ import annotations

import email
import email.policy
import hashlib
from typing import Any

import httpx


def stored(data: bytes, path: str = "a") -> dict[str, Any]:
    checksum = hashlib.md5(data).hexdigest()
    row = {"path": path, "path_type": "object", "physical_address": "x", "checksum": checksum, "mtime": 1}
    return {**row, "size_bytes": len(data)}


def parsed(request: httpx.Request, body: bytes) -> list[tuple[str, str | None, str | None, bytes]]:
    """A form as another library reads it."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    message = email.message_from_bytes(head + body, policy=email.policy.HTTP)
    return [
        (
            str(part.get_param("name", header="content-disposition")),
            part.get_filename(),
            part.get("content-type"),
            bytes(part.get_payload(decode=True)),
        )
        for part in message.iter_parts()
    ]
