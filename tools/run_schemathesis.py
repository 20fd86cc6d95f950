"""Run schemathesis over the whole of openapi.yaml against a real `lakebed serve`; fail on what it finds.

    python tools/run_schemathesis.py [--max-examples 3] [-- ...]

What follows `--` goes to `schemathesis run` as it is. The checks are chosen in tests/schemathesis/schemathesis.toml.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # started as a script: `tests` is not on the path

from tests.support.processes.server import RunningServer, running_server  # noqa: E402
from tests.support.sizes import tier  # noqa: E402
from tests.support.stored_runs import store_runs  # noqa: E402
from tests.support.waiting import PATIENCE  # noqa: E402


class Seeder:
    """Makes the things that `tests/schemathesis/hooks.py` names."""

    def __init__(self, server: RunningServer) -> None:
        pair = f"{server.access_key_id}:{server.secret_access_key}"
        self.authorization = "Basic " + base64.b64encode(pair.encode()).decode()
        self._host = server.endpoint.removeprefix("http://")

    def make(self) -> None:
        """A repository with commits, branches, a tag, a merge and uncommitted changes; a user, a group and a policy."""
        self._post("/repositories", '{"name":"lake","storage_namespace":"local://lake"}')
        statement = '{"effect":"allow","action":["fs:Read*"],"resource":"*"}'
        self._post("/auth/users", '{"id":"robot"}')
        self._post("/auth/groups", '{"id":"sales"}')
        self._post("/auth/policies", f'{{"id":"sales-readers","statement":[{statement}]}}')
        lake = "/repositories/lake"
        for path in ("a.csv", "dir/b.csv", "dir/%C3%BC%20%F0%9F%98%80.csv"):
            self._post(f"{lake}/branches/main/objects?path={path}", "a,b\n1,2\n")
        self._post(f"{lake}/branches/main/commits", '{"message":"first"}')
        for name in ("dev", "tx"):
            self._post(f"{lake}/branches", f'{{"name":"{name}","source":"main"}}')
            self._post(f"{lake}/branches/{name}/objects?path=a.csv", f"{name}\n")
            self._post(f"{lake}/branches/{name}/commits", f'{{"message":"{name}"}}')
        self._post(f"{lake}/tags", '{"id":"v1","ref":"main"}')
        self._post(f"{lake}/refs/dev/merge/main", "{}")
        self._post(f"{lake}/branches/dev/objects?path=uncommitted", "x")
        for number in "123":
            self._post(f"{lake}/workspaces", f'{{"branch":"main","id":"{number:0>32}"}}')
            self._post(f"{lake}/branches/main%2B{number:0>32}/objects?path=w{number}.csv", "w")
        self._post(f"{lake}/workspaces/{'3':0>32}/commit", "{}")  # closed

    def _post(self, path: str, body: str) -> None:
        connection = http.client.HTTPConnection(self._host, timeout=PATIENCE)
        headers = {"Authorization": self.authorization, "Content-Type": "application/json"}
        connection.request("POST", "/api/v1" + path, body.encode(), headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        if response.status >= 300:
            raise SystemExit(f"cannot prepare the run: {path}: {response.status} {text}")


def commands(server: RunningServer, authorization: str, options: argparse.Namespace) -> list[list[str]]:
    """Return the command lines of schemathesis: scenarios of calls, for a number of seconds, then each operation alone.

    The scenarios come first, because objects of the second run would collide with those of the first.
    """
    shared = [
        *(
            sys.executable,
            "-m",
            "schemathesis.cli",
            "--config-file",
            str(ROOT / "tests/schemathesis/schemathesis.toml"),
        ),
        *("run", str(ROOT / "openapi.yaml"), "--url", f"{server.endpoint}/api/v1"),
        *("--header", f"Authorization: {authorization}"),
        *("--max-examples", str(options.max_examples), "--seed", str(options.seed)),
        *("--no-shrink", "--continue-on-failure", "--request-timeout", f"{PATIENCE:.0f}"),
        *("--suppress-health-check", "too_slow"),  # of the machine, which is not what is tested
        *options.more,
    ]
    scenarios = ["--phases", "stateful", "--max-time", str(options.stateful_seconds)]
    return [[*shared, *scenarios], [*shared, "--phases", "examples,coverage,fuzzing"]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Start a server, fill it, run, and give schemathesis's exit code; of two that differ, the greater one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    soak = tier() == "soak"
    parser.add_argument("--max-examples", type=int, default=8 if soak else 3)
    parser.add_argument("--stateful-seconds", type=int, default=35 if soak else 15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("more", nargs="*", help="for `schemathesis run`, after --")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory, running_server(Path(directory) / "data") as server:
        seeder = Seeder(server)
        seeder.make()
        store_runs(server, "lake")
        environment = {
            **os.environ,
            "SCHEMATHESIS_HOOKS": "hooks",
            "PYTHONPATH": f"{ROOT / 'tests/schemathesis'}{os.pathsep}{ROOT}",
        }
        environment["LAKEBED_SERVER_PID"] = str(server.process.pid)
        lines = commands(server, seeder.authorization, options)
        return max(subprocess.run(line, env=environment, cwd=directory, check=False).returncode for line in lines)


if __name__ == "__main__":
    sys.exit(main())
