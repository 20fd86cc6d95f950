"""The values of a migration: commits and objects of the source, and the report. They are the same for every source."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SourceCommit:
    """A commit of the source. `created` in Unix seconds. `is_empty`: it is known to contain no object."""

    id: str
    parents: tuple[str, ...]
    message: str
    committer: str
    created: int
    metadata: Mapping[str, str] = field(default_factory=dict)
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class SourceObject:
    """An object of the source.

    `open` reads its content from the beginning, and can be called again. `checksum` is a hex MD5, or any other text
    when the source states none. `strict`: a `checksum` in the form of an MD5 is that of the content. Some sources state
    other values in this form. `address`: objects with the same address have the same content; empty when unknown.
    """

    path: str
    size: int | None
    checksum: str
    open: Callable[[], Iterator[bytes]]
    address: str = ""
    strict: bool = False
    content_type: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """A short name of content, type and metadata together; empty when the address is unknown."""
        if not self.address:
            return ""
        parts = [
            self.address,
            self.content_type or "",
            *(f"{key}={self.metadata[key]}" for key in sorted(self.metadata)),
        ]
        return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between a commit and its first parent. `objects` is read once."""

    objects: Iterable[SourceObject]
    removed: Iterable[str] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the migration did not bring. `kind`: branch, tag, object, uncommitted, settings, actions."""

    kind: str
    name: str
    why: str


@dataclass(slots=True)
class Report:
    """The result of a migration. `read_twice`: objects without a usable MD5, compared with a second read.

    `shared`: objects whose content was migrated before under another path or commit, and was not read again.
    """

    commits: int = 0
    commits_before: int = 0
    branches: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    objects: int = 0
    bytes: int = 0
    shared: int = 0
    read_twice: int = 0
    renamed: dict[str, str] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, kind: str, name: str, why: str) -> None:
        """Remember what was not brought, once."""
        one = LeftOut(kind, name, why)
        if one not in self.left_out:
            self.left_out.append(one)

    def record(self) -> dict[str, Any]:
        """As JSON values."""
        names = ("commits", "commits_before", "branches", "tags", "objects", "bytes", "shared", "read_twice")
        renamed = {"renamed": dict(self.renamed)} if self.renamed else {}
        left = [{"kind": one.kind, "name": one.name, "why": one.why} for one in self.left_out]
        return {name: getattr(self, name) for name in names} | renamed | {"left_out": left}
