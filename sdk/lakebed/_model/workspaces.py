"""Workspaces, the addresses to write their objects to, and the results of scans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from lakebed._render.columns import Columns


@dataclass(frozen=True, slots=True)
class WorkspaceInfo:
    """A workspace as the server describes it. `state`: open, or why it is closed: committed, reverted, popped, expired.

    Other tools may write below `storage_prefix`, which ends in a slash. `local_path` is the same as a directory, for
    clients on the server's machine or with the data path `direct`. `data_paths` are the ways for object bytes that the
    server offers, best first.
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("name", "string"),
        ("branch", "string"),
        ("base_commit_id", "string"),
        ("state", "string"),
        ("creator", "string"),
        ("created", "time"),
        ("expires", "time"),
        ("message", "string"),
        ("commit_id", "string"),
        ("storage_prefix", "string"),
    )

    id: str
    name: str
    branch: str
    base_commit_id: str
    state: str
    creator: str
    created: datetime
    expires: datetime
    storage_prefix: str
    local_path: str = ""
    message: str = ""
    commit_id: str | None = None
    claims: tuple[str, ...] = ()
    data_paths: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it can be written to and committed."""
        return self.state == "open"

    def __repr__(self) -> str:
        return f"<Workspace {self.name} {self.state}>"


@dataclass(frozen=True, slots=True)
class ScanRefusal:
    """A file that a scan did not register, for example a link."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The result of a scan: the numbers of registered (new or changed), vanished and unchanged objects.

    `refused` counts the files that the scan did not register. `refusals` has the first 100 of them.
    """

    registered: int
    vanished: int
    unchanged: int
    refused: int = 0
    refusals: tuple[ScanRefusal, ...] = ()


@dataclass(frozen=True, slots=True)
class UploadUrl:
    """A signed address to write one object until it expires. Any holder can write: keep it secret."""

    path: str
    physical_address: str
    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False, hash=False)
    expires: datetime


@dataclass(frozen=True, slots=True)
class StagedAddress:
    """The address to write the content of an object to, before `link` shows it. `url` is signed: keep it secret.

    `url` and `expires` are set only when the caller asked for a signed address.
    """

    path: str
    physical_address: str
    url: str = field(default="", repr=False)
    expires: datetime | None = None
