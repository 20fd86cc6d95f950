"""The server that a test uses: how to connect to it, and how to reset it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakebed_server.auth.records import new_credential
from lakebed_server.settings.load import load

from lakebed_testing.faults import Faults
from lakebed_testing.host import Host

if TYPE_CHECKING:
    import lakebed
    import lakebed.aio

_MEMORY: Mapping[str, object] = {
    "listen.port": 0,
    "kv.type": "memory",
    "objects.local.root": "",
    "objects.cloud": False,
    "cleanup.sweep_interval": 0,
    "refs.snapshot": "off",
    "server.shutdown_timeout": 2,
}


class LakebedServer:
    """A running server in this process. `lakebed_testing.server()` makes one."""

    __module__ = "lakebed_testing"

    def __init__(self, host: Host, faults: Faults, access_key_id: str, secret_access_key: str) -> None:
        self._host = host
        self.faults = faults
        self.endpoint = f"http://127.0.0.1:{host.port}"
        self.access_key_id = access_key_id
        self.secret_access_key = secret_access_key

    def __repr__(self) -> str:
        return f"<LakebedServer {self.endpoint}>"

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which `lakebed.connect()` and the command find the server."""
        return {
            "LAKEBED_ENDPOINT": self.endpoint,
            "LAKEBED_ACCESS_KEY_ID": self.access_key_id,
            "LAKEBED_SECRET_ACCESS_KEY": self.secret_access_key,
        }

    def connect(self, *, timeout: float = 60.0, retries: int = 5) -> lakebed.Lake:
        """A client of the server. The caller closes it, best with `with`."""
        import lakebed

        return lakebed.connect(
            self.endpoint, self.access_key_id, self.secret_access_key, timeout=timeout, retries=retries
        )

    def connect_async(self, *, timeout: float = 60.0, retries: int = 5) -> lakebed.aio.Lake:
        """A client with `await`, for the event loop of the test."""
        import lakebed.aio

        return lakebed.aio.connect(
            self.endpoint, self.access_key_id, self.secret_access_key, timeout=timeout, retries=retries
        )

    def reset(self) -> None:
        """Remove everything: repositories, objects and faults. Clients stay connected.

        Raises UnusedFaultsError, after that, when no request met some of the armed faults.
        """
        if self._host.is_elsewhere:
            raise RuntimeError("a server is reset in the process that started it; this is a child of that process")
        try:
            self.faults.settle()
        finally:
            if self._host.was_used:
                self._host.renew()


@contextmanager
def server(settings: Mapping[str, object] | None = None) -> Iterator[LakebedServer]:
    """Run a server until the end of the block, on a free port and on stores in memory.

    It is what `lakebed serve` runs, on a thread of this process. `settings` are keys of docs/configuration.md, such as
    `{"objects.local.root": str(tmp_path)}`. They override the settings that keep everything in memory. A reset removes
    only what is in memory. Several servers may run at the same time.

    Raises StartError, which names a wrong setting, and UnusedFaultsError at the end, as `reset` does.
    """
    made = new_credential("admin", 0)
    pair = {"admin.access_key_id": made.access_key_id, "admin.secret_access_key": made.secret_access_key}
    chosen = load(flags={**_MEMORY, **pair, **(settings or {})}, env={}, files=False).settings
    faults = Faults()
    host = Host(chosen, faults)
    host.start()
    try:
        yield LakebedServer(host, faults, chosen.admin.access_key_id, chosen.admin.secret_access_key)
        faults.settle()
    finally:
        host.stop()
