"""Stamps: rows that must land in the same batch as a commit, or the commit must not land."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lakebed_engine.stores.kv.base import Check, Put
from lakebed_engine.vocabulary.records import Commit


@dataclass(frozen=True, slots=True)
class Stamp:
    """`check` and the rows that `ended` makes of the commit go into the batch; `require` raises when it cannot land."""

    check: Check
    ended: Callable[[Commit], Sequence[Put]]
    require: Callable[[], Awaitable[None]]
