"""One call of a hook, its limits, and the messages between the server and the process of the hook.

The process sends JSON texts, each after its length (4 bytes). The server sends frames: the number of the request
(4 bytes), a kind (1 byte), the length (4 bytes), and the content. The server decodes only JSON.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from lakebed_hooks.vocabulary import Changes, HookEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one call. Sizes are in bytes."""

    seconds: float = 60.0
    """Seconds from the start of the process to its outcome."""

    memory: int = 2 << 30
    """Address space of the process. Each process that it starts has the same limit."""

    read: int = 64 << 30
    """Bytes that it reads through the pipe."""

    log: int = 256 << 10
    """Maximum bytes of its output that are kept."""

    result: int = 1 << 20
    """Maximum bytes of its outcome."""

    file: int = 64 << 20
    """Bytes of a temporary file. Contracts write none."""

    open_files: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One call of a hook of type `contract` or `python`.

    `properties`: as in the action file. `file`, `line`: where the hook is, for errors. `allow`: the packages and
    functions that Python hooks may use, from the settings of the server.
    """

    type: Literal["contract", "python"]
    event: HookEvent
    properties: Mapping[str, Any]
    file: str = ""
    line: int = 0
    allow: tuple[str, ...] = field(default=())


LENGTH: Final = struct.Struct(">I")
FRAME: Final = struct.Struct(">IBI")

JSON: Final = 0
BYTES: Final = 1
MISSING: Final = 2
"""The file does not exist. The content is its path."""
REFUSED: Final = 3
"""The request is not allowed. The content says why."""

REQUEST_MOST: Final = 256 << 10
"""Maximum bytes of a request. Only the outcome of a hook may be longer."""

PATHS_MOST: Final = 200
"""Paths of one request."""

PATH_MOST: Final = 1024
"""Characters of a path."""


def job_text(job: Job, limits: Limits) -> bytes:
    """The first frame to a process."""
    return json.dumps({"job": asdict(job), "limits": asdict(limits)}, default=str).encode()


def job_of(data: bytes) -> tuple[Job, Limits]:
    """The job of the first frame."""
    said = json.loads(data)
    job = said["job"]
    event = job["event"]
    if event["changes"] is not None:
        event["changes"]["paths"] = tuple(event["changes"]["paths"])
        event["changes"] = Changes(**event["changes"])
    job["event"] = HookEvent(**event)
    job["allow"] = tuple(job["allow"])
    return Job(**job), Limits(**said["limits"])


def message_of(data: bytes) -> dict[str, Any]:
    """A message of a process, which may send anything. Raises ValueError."""
    try:
        said = json.loads(data, parse_constant=str)
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None
    if not isinstance(said, dict):
        raise ValueError("a message that is not an object")
    return said
