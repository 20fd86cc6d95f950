# Generated from sdk/lakebed/_async/http/target.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Where requests go: a connection, a repository and a ref, as one value.

A transport can create a workspace before the first request about it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakebed._sync.http.transport import Transport

if TYPE_CHECKING:
    from lakebed._direct.shared_directory import SharedDirectory
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any


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


class Opening(Transport):
    """The transport of a workspace that does not exist yet: the first request creates it."""

    def __init__(self, inner: Transport, opened: Callable[[], Any]) -> None:
        super().__init__(inner.settings)
        self.policy = inner.policy
        self.outside, self.addresses = inner.outside, inner.addresses
        self._inner = inner
        self._opened = opened

    def call(self, call: Any, body: Any = None) -> Any:
        """As the transport does."""
        self._opened()
        return self._inner.call(call, body)

    def once(self, call: Any, body: Any = None) -> Any:
        """As the transport does."""
        self._opened()
        return self._inner.once(call, body)

    @contextmanager
    def stream(self, call: Any) -> Any:
        """As the transport does."""
        self._opened()
        with self._inner.stream(call) as opened:
            yield opened
