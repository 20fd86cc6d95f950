"""A real Azurite, the emulator of Azure Blob Storage, from npm: installed below `.cache/` when it is first needed.

    server = shared_azurite()                        # started once in this process, stopped at its end
    with server.in_environment():
        store = CloudObjects(server.namespace())     # az:// takes its settings from the environment

    python -m tests.support.services.azurite         # only installs it, as `make test` does before its tests run

Needs Node.js 20 or newer with npm. It starts, or the test fails with what it said; nothing is skipped.
"""

from __future__ import annotations

import atexit
import base64
import functools
import hashlib
import hmac
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from lakebed_engine.stores.objects.cloud.options import CloudOptions

from tests.support.processes.owned import owned_directory, owned_process
from tests.support.processes.ports import reserved_ports
from tests.support.services.npm_packages import certificates
from tests.support.waiting import PATIENCE

VERSION = "3.35.0"
"""The last version that runs on Node.js 20."""

CONTAINER = "lakebed-test"
ACCOUNT = "devstoreaccount1"
_CACHE = Path(__file__).parents[3] / ".cache"
_API = "2023-11-03"

# the emulator's own account, the same for everybody and everywhere: no secret
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True)
class Azurite:
    """Where it listens."""

    endpoint: str

    def options(self) -> CloudOptions:
        """The options of a store in it."""
        return CloudOptions(allow_http=True, silence_seconds=PATIENCE)

    def namespace(self) -> str:
        """A new namespace."""
        return f"az://{CONTAINER}/t-{uuid4().hex[:12]}"

    @contextmanager
    def in_environment(self) -> Iterator[None]:
        """While inside, `az://` is this server."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.variables.items():
                patch.setenv(name, value)
            yield

    @property
    def variables(self) -> dict[str, str]:
        """What obstore reads."""
        return {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": self.endpoint}

    def make_container(self, name: str) -> None:
        """Raises httpx.HTTPError when it does not listen yet."""
        date = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        headers = {"x-ms-date": date, "x-ms-version": _API}
        canonical = "".join(f"{key}:{value}\n" for key, value in sorted(headers.items()))
        resource = f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
        text = "PUT" + "\n" * 12 + canonical + resource
        digest = hmac.new(base64.b64decode(_KEY), text.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
        url = f"{self.endpoint}/{ACCOUNT}/{name}"
        httpx.put(url, params={"restype": "container"}, headers=headers).raise_for_status()


@functools.cache
def shared_azurite() -> Azurite:
    """The server, started at the first call, stopped when the process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(running_azurite())


@contextmanager
def running_azurite() -> Iterator[Azurite]:
    """Over memory, on a free port, without telemetry."""
    program = _installed()
    with (
        owned_directory("azurite-") as directory,
        reserved_ports(1) as (port,),
    ):
        log = directory / "log"
        flags = ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent"]
        # by itself it hangs up after five seconds: just when a client that stood still for so long goes on
        patient = ["--blobKeepAliveTimeout", "600"]
        command = ["node", str(program), *flags, *patient, "--blobHost", "127.0.0.1", "--blobPort", str(port)]
        server = Azurite(f"http://127.0.0.1:{port}")
        with owned_process(command, directory, log) as process:
            _prepare(server, process, log)
            yield server


def _prepare(server: Azurite, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    problem: Exception | None = None
    while time.monotonic() < deadline and process.poll() is None:
        try:
            server.make_container(CONTAINER)
            return
        except httpx.HTTPError as error:
            problem = error
            time.sleep(0.1)
    said = log.read_text(errors="replace")[-4000:]
    raise AssertionError(f"Azurite did not come up (exit code {process.poll()}): {problem}; it said:\n{said}")


_failures: list[str] = []


def _installed() -> Path:
    """Its program, installed once in a checkout. What failed once is not tried again: each try takes a minute."""
    if _failures:
        raise AssertionError(_failures[0])
    place = _CACHE / f"azurite-{VERSION}"
    program = place / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    if program.is_file():
        return program
    npm = shutil.which("npm")
    assert npm is not None, "the tests of az:// need Node.js 20 or newer, with npm"
    _CACHE.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="azurite-", dir=_CACHE))
    flags = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--omit=optional"]
    done = subprocess.run(
        [npm, "install", "--prefix", str(fresh), *flags, f"azurite@{VERSION}"],
        capture_output=True, text=True, timeout=600, check=False, cwd=fresh, env={**os.environ, **certificates()},
    )  # fmt: skip
    if done.returncode:
        _failures.append(f"npm install azurite failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        raise AssertionError(_failures[0])
    try:
        fresh.rename(place)  # atomic: complete, or not there
    except OSError:
        shutil.rmtree(fresh)
        assert program.is_file(), f"{place} is in the way: remove it"  # else another run was faster
    return program


if __name__ == "__main__":
    _installed()
