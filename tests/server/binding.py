"""Binds parameters and bodies of made-up requests."""

from __future__ import annotations

from typing import Any

import pytest
from lakebed_server.http.body import RequestBody
from lakebed_server.rest.binder import Binder
from lakebed_server.vocabulary import RequestError
from lakebed_wire.operations import OPERATIONS

from tests.server.support import run

BINDERS = {op.operation_id: Binder(op, json_limit=1000) for op in OPERATIONS}
JSON = {b"content-type": b"application/json"}


def params(
    operation: str, query: str = "", headers: dict[bytes, bytes] | None = None, raw: tuple[str, ...] = ("repo", "main")
) -> Any:
    return BINDERS[operation].params(raw, query.encode(), headers or {})


def body(operation: Any, *pieces: Any, headers: Any = JSON, length: Any = True) -> Any:
    sent = dict(headers)
    if length:
        sent[b"content-length"] = str(sum(map(len, pieces))).encode()
    else:
        sent[b"transfer-encoding"] = b"chunked"
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> Any:
        return messages.pop(0)

    return run(BINDERS[operation].body(RequestBody(receive, sent), sent))


def refused(job: Any, *args: Any, **more: Any) -> Any:
    with pytest.raises(RequestError) as caught:
        job(*args, **more)
    return caught.value
