# Generated from sdk/lakebed/_async/http/lazy_workspace.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""A transport that creates a workspace before the first request about it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from lakebed._sync.http.transport import Transport


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
