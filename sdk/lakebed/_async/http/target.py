"""Where requests go: a connection, a repository and a ref, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lakebed._async.http.transport import Transport


@dataclass(slots=True)
class Storage:
    """What is known of a repository's storage. Both are None until `objects.shared_directory` has asked the server."""

    namespace: str | None = None
    """The URI that the addresses of its objects begin with; it ends in `/`."""

    directory: str | None = None
    """The directory of this machine that holds them; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Session:
    """A connection, and what the handles of one repository have learned over it."""

    transport: Transport
    storage: Storage = field(default_factory=Storage)

    def over(self, transport: Transport) -> Session:
        """The same over another transport."""
        return replace(self, transport=transport)


@dataclass(frozen=True, slots=True)
class Target:
    """One ref of one repository, and the session to reach it by."""

    session: Session
    repository: str
    ref: str

    def __str__(self) -> str:
        return f"lakebed://{self.repository}/{self.ref}"

    @property
    def transport(self) -> Transport:
        """The connection."""
        return self.session.transport

    @property
    def names(self) -> tuple[str, str]:
        """Repository and ref, as most operations take them."""
        return self.repository, self.ref

    def at(self, ref: str) -> Target:
        """Another ref of the repository."""
        return replace(self, ref=ref)
