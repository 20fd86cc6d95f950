"""Three real servers on one PostgreSQL and one S3 server, each behind a proxy of ours."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

from tests.support.faults.tcp_proxy import TcpProxy
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.postgres import PASSWORD, USER, Postgres
from tests.support.services.s3 import S3Server
from tests.support.services.s3_settings import settings_of

SERVERS = 3
_STARTS = 5
"""Tries to start a server: a fault of the database may end one."""


class Cluster:
    """The servers by number. `endpoints` holds where each one listens, or listened last."""

    def __init__(
        self,
        place: Path,
        postgres: Postgres,
        bucket: S3Server,
        schema: str,
        program: Sequence[str] = (),
        mutant: str = "",
    ) -> None:
        self.postgres = postgres
        self.databases = [TcpProxy(str(postgres.directory / ".s.PGSQL.5432")) for _ in range(SERVERS)]
        host, port = bucket.endpoint.removeprefix("http://").split(":")
        self.bucket = TcpProxy((host, int(port)))
        self.namespace = bucket.namespace()
        self.endpoints = [""] * SERVERS
        self._s3 = bucket
        self._place = place
        self._schema = schema
        self._program = program
        self._mutant = mutant
        self._stack = ExitStack()
        self._running: list[tuple[ExitStack, RunningServer] | None] = [None] * SERVERS
        self._ending = threading.Event()

    def __enter__(self) -> Cluster:
        with ExitStack() as stack:
            for proxy in [*self.databases, self.bucket]:
                stack.enter_context(proxy)
            stack.callback(self._stop)
            with ThreadPoolExecutor() as threads:
                list(threads.map(self.start, range(SERVERS)))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, number: int) -> None:
        """Start a server that is not running. Raises AssertionError when it does not come up."""
        for attempt in range(_STARTS):
            stack = ExitStack()
            try:
                server = stack.enter_context(
                    running_server(
                        self._place / f"server-{number}", environment=self._settings(number), program=self._program
                    )
                )
            except AssertionError:
                if attempt == _STARTS - 1 or self._ending.is_set():
                    raise
            else:
                self._running[number] = stack, server
                self.endpoints[number] = server.endpoint
                return

    def kill(self, number: int) -> None:
        """SIGKILL."""
        stack, server = self._required(number)
        server.process.kill()
        server.process.wait()
        self._running[number] = None
        stack.close()

    def pause(self, number: int) -> None:
        """SIGSTOP: the process stops, and its connections stay open."""
        self._required(number)[1].process.send_signal(signal.SIGSTOP)

    def go_on(self, number: int) -> None:
        """SIGCONT."""
        self._required(number)[1].process.send_signal(signal.SIGCONT)

    def crash_the_database(self) -> None:
        """End PostgreSQL without a shutdown and start it again: it recovers what it had acknowledged."""
        self.postgres.kill()
        self.postgres.start()

    def key(self) -> tuple[str, str]:
        """The access key of the admin."""
        server = next(one for one in self._running if one is not None)[1]
        return server.access_key_id, server.secret_access_key

    def _required(self, number: int) -> tuple[ExitStack, RunningServer]:
        found = self._running[number]
        assert found is not None, f"server {number} is not running"
        return found

    def _settings(self, number: int) -> dict[str, str]:
        dsn = f"postgresql://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:{self.databases[number].port}/postgres"
        return {
            **settings_of(self._s3),
            "LAKEBED_OBJECTS_S3_ENDPOINT": f"http://127.0.0.1:{self.bucket.port}",
            "LAKEBED_KV_TYPE": "postgres",
            "LAKEBED_KV_POSTGRES_DSN": dsn,
            "LAKEBED_KV_POSTGRES_SCHEMA": self._schema,
            "LAKEBED_AUTH_SECRET_KEY": "the secret that all three servers share 0123456789",
            "TEST_HISTORY_MUTANT": self._mutant,
        }

    def _stop(self) -> None:
        """Kill every server that runs or is paused. No client waits for an answer any more."""
        self._ending.set()
        for number in range(SERVERS):
            if self._running[number] is not None:
                self.kill(number)
