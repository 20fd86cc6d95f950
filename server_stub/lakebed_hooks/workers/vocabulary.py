"""One call of a hook, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lakebed_hooks.vocabulary import HookEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one call may use. Sizes are in bytes."""

    seconds: float = 60.0
    """From the start of the process to its answer."""

    memory: int = 2 << 30
    """Address space of the process. Each process that it starts has the same bound."""

    read: int = 64 << 30
    """Bytes that it reads through the pipe."""

    log: int = 256 << 10
    """Bytes of its output that are kept."""

    result: int = 1 << 20
    """Bytes of its answer."""

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
