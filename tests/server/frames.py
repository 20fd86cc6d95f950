"""Reads the frames of getObjects without code of the project."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Frames(NamedTuple):
    """What a response of getObjects has."""

    contents: dict[str, bytes]
    heads: dict[str, Any]
    errors: dict[str, Any]
    order: list[str]
    end: Any


def read_frames(body: bytes) -> Frames:
    """The frames of a response; `end` is None for a response that broke off."""
    contents: dict[str, bytes] = {}
    heads: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    order: list[str] = []
    end = None
    path = ""
    at = 0
    while at < len(body):
        kind, length = body[at : at + 1], int.from_bytes(body[at + 1 : at + 5], "big")
        content = body[at + 5 : at + 5 + length]
        at += 5 + length
        if kind == b"D":
            contents[path] += content
            continue
        value = json.loads(content)
        if kind == b"Z":
            assert at == len(body)
            end = value
            continue
        path = value["path"]
        if not order or order[-1] != path or kind == b"H":
            order.append(path)
        if kind == b"H":
            heads[path], contents[path] = value, b""
        else:
            assert kind == b"E"
            errors[path] = value
    return Frames(contents, heads, errors, order, end)
