"""The permissions that an operation needs, as a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Need(NamedTuple):
    """An action on a resource.

    `branch` and `ref` replace those of the context, for an operation that concerns two branches (a copy, a merge).
    """

    action: str
    resource: str
    branch: str | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True, init=False)
class AllOf:
    """Every part must be allowed. Without parts: the operation needs no permission."""

    parts: tuple[Needs, ...]

    def __init__(self, *parts: Needs) -> None:
        object.__setattr__(self, "parts", parts)


@dataclass(frozen=True, slots=True, init=False)
class AnyOf:
    """One part must be allowed, and no part may be denied."""

    parts: tuple[Needs, ...]

    def __init__(self, *parts: Needs) -> None:
        if not parts:
            raise ValueError("AnyOf needs at least one part")
        object.__setattr__(self, "parts", parts)


Needs: TypeAlias = Need | AllOf | AnyOf
