"""The state of a KV store before it is opened, for `lakebed doctor --server` and `lakebed upgrade check`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KvState:
    """The state of a KV store. Reading it changes nothing.

    `version` is that of the tables, None when there are none yet, and `known` the newest that this build knows. `size`
    is in bytes. `ahead`: seconds by which the database's clock is ahead of this machine's, None when it is the same
    clock. `function` is the version of `apply` in PostgreSQL, `known_function` that of this build; 0 for other drivers.
    `remarks` are sentences about settings of the database that endanger data or service.
    """

    place: str
    software: str
    version: int | None
    known: int
    size: int
    ahead: float | None = None
    function: int = 0
    known_function: int = 0
    remarks: tuple[str, ...] = ()
