"""Where requests go: a connection, a repository and a ref, as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakebed._async.http.transport import Transport

if TYPE_CHECKING:
    from lakebed._direct.shared_directory import SharedDirectory


@dataclass(slots=True)
class Storage:
    """Cached facts about a repository's storage. All handles that come from one repository handle share it."""

    shared: SharedDirectory | None = None
    """Its files on this machine; None until `objects.shared_directory` has asked the server."""


@dataclass(frozen=True, slots=True)
class Target:
    """One ref of one repository, and the connection to reach it by."""

    transport: Transport
    storage: Storage
    repository: str
    ref: str

    def __str__(self) -> str:
        return f"lakebed://{self.repository}/{self.ref}"

    def at(self, ref: str) -> Target:
        """Another ref of the repository."""
        return replace(self, ref=ref)

    def over(self, transport: Transport) -> Target:
        """The same ref by another connection."""
        return replace(self, transport=transport)
