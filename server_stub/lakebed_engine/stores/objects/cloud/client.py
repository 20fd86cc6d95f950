"""The obstore clients of one bucket, made at their first use.

obstore runs in its own threads, which a fork does not copy. A call in a forked child would wait without end. So a child
may use cloud stores only if its parent had not used one.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from lakebed_engine.stores.objects.cloud.keys import Place
from lakebed_engine.stores.objects.cloud.options import CloudOptions, handle
from lakebed_engine.vocabulary.errors import StoreUnavailableError

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Handle


class _Process:
    """The process that started obstore's threads."""

    pid: int | None = None


class Client:
    """Two clients of one bucket: `store` retries, `once` does not, for writes that must not be repeated blindly."""

    def __init__(self, place: Place, options: CloudOptions) -> None:
        self.place = place
        self.options = options
        self._lock = threading.Lock()
        self._handles: dict[bool, Handle] = {}
        self._pid = 0

    @property
    def store(self) -> Handle:
        """The client that retries. Raises StoreUnavailableError in a forked child of a process that used one."""
        return self._handle(True)

    @property
    def once(self) -> Handle:
        """The client that sends every request once."""
        return self._handle(False)

    def _handle(self, retry: bool) -> Handle:
        pid = os.getpid()
        if _Process.pid not in (None, pid):
            raise StoreUnavailableError(
                f"cannot use {self.place.uri} in process {pid}: it was forked from process {_Process.pid}, which had "
                "used a cloud store before; fork first, or start processes with spawn"
            )
        with self._lock:
            if self._pid != pid:
                self._handles, self._pid = {}, pid
            if retry not in self._handles:
                self._handles[retry] = handle(self.place, self.options, retry)
            _Process.pid = pid
            return self._handles[retry]
