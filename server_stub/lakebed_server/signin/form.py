"""Reads the form of a request that comes without a session, within a limit."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request

TYPE: Final = "application/x-www-form-urlencoded"
_MOST_FIELDS: Final = 100


async def read(request: Request, limit: int) -> dict[str, str] | None:
    """The fields of a form. None if it is not a form, has more than `limit` bytes, or has a field twice."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != TYPE:
        return None
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit:
            return None
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return None
    form = dict(fields)
    return form if len(form) == len(fields) else None
