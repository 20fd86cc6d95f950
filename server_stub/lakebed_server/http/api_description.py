"""The description of the REST API, for clients: `/openapi.json` and `/openapi.yaml`."""

from __future__ import annotations

import asyncio
import functools
import threading
from pathlib import Path
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

SAFE: Final = {"x-content-type-options": "nosniff", "x-frame-options": "SAMEORIGIN"}
"""The headers of every text outside of the API."""

_READING: Final = threading.Lock()
"""Only one request reads the spec: many clients without a key may ask for it at the same time."""


def routes() -> tuple[Route, ...]:
    """The two paths."""
    return Route("/openapi.json", _as_json), Route("/openapi.yaml", _as_yaml)


def read_spec() -> bytes | None:
    """openapi.yaml as JSON. None if this installation does not carry it."""
    with _READING:
        return _read_spec()


@functools.cache
def read_spec_text() -> bytes | None:
    """openapi.yaml, from the package or from the source tree. None if this installation does not carry it."""
    import lakebed_wire

    package = Path(lakebed_wire.__file__).parent
    for path in (package / "openapi.yaml", package.parent.parent / "openapi.yaml"):
        if path.is_file():
            return path.read_bytes()
    return None


async def _as_json(_: Request) -> Response:
    return _described(await asyncio.to_thread(read_spec), "application/json")


async def _as_yaml(_: Request) -> Response:
    return _described(await asyncio.to_thread(read_spec_text), "application/yaml")


def _described(body: bytes | None, media_type: str) -> Response:
    if body is None:
        return PlainTextResponse("this installation does not carry openapi.yaml\n", 404, SAFE)
    return Response(body, media_type=media_type, headers=SAFE)


@functools.cache
def _read_spec() -> bytes | None:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C needs a tenth of the time
    text = read_spec_text()
    return None if text is None else msgspec.json.encode(yaml.load(text, loader))  # noqa: S506
