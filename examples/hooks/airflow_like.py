"""A server that behaves like Airflow 2 (`/api/v1`, HTTP Basic) or Airflow 3 (`/api/v2`, tokens), to try hooks.

    python examples/hooks/airflow_like.py --api v2 --port 8080
    curl -X POST localhost:8080/auth/token -H 'content-type: application/json' \\
        -d '{"username": "admin", "password": "admin"}'

It has the DAGs `validate`, whose runs succeed, and `broken`, whose runs fail. Runs are `queued`, then `running`, then
`success` or `failed`: each time a client asks for a run, it moves one step.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import secrets
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

Api = Literal["v1", "v2"]
STEPS = ("queued", "running")


@dataclass
class DagRun:
    """A run of a DAG, as the server remembers it."""

    dag_id: str
    dag_run_id: str
    conf: dict[str, Any]
    last: str
    asked: int = 0

    def as_json(self) -> dict[str, Any]:
        """What Airflow returns for a run, without the times."""
        state = STEPS[self.asked] if self.asked < len(STEPS) else self.last
        return {
            "dag_id": self.dag_id,
            "dag_run_id": self.dag_run_id,
            "conf": self.conf,
            "logical_date": None,
            "state": state,
            "run_type": "manual",
        }


@dataclass
class AirflowLike:
    """The server. Use it as a context manager: it serves in a thread of its own.

    `dags`: the state with which the runs of each DAG end, or `running` for a DAG whose runs never end.
    `requests`: method and path of each request. `runs`: by `DAG/ID`. `token_uses`: requests after which a token of v2
    expires.
    """

    api: Api = "v2"
    dags: dict[str, str] = field(default_factory=lambda: {"validate": "success", "broken": "failed"})
    username: str = "admin"
    password: str = "admin"
    host: str = "127.0.0.1"
    port: int = 0
    token_uses: int = 1000
    runs: dict[str, DagRun] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    tokens: dict[str, int] = field(default_factory=dict)

    def __enter__(self) -> AirflowLike:
        self._server = ThreadingHTTPServer((self.host, self.port), self._handler())
        self._server.daemon_threads = True
        self._lock = threading.Lock()
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The `url` of a hook."""
        return f"http://{self.host}:{self.port}"

    def answer(self, method: str, path: str, authorization: str, body: bytes) -> tuple[int, Any]:
        """The status and the JSON document of the answer to a request."""
        with self._lock:
            self.requests.append((method, path))
            if self.api == "v2" and (method, path) == ("POST", "/auth/token"):
                return self._new_token(body)
            if self.api == "v2" and path.startswith("/api/v1"):
                return 404, {"error": "/api/v1 has been removed in Airflow 3, please use its upgraded version /api/v2"}
            found = re.fullmatch(rf"/api/{self.api}/dags/([^/]+)/dagRuns(?:/([^/]+))?", path)
            if found is None:
                return 404, {"title": "Not Found", "status": 404}
            if not self._is_known(authorization):
                return 401, {"title": "Unauthorized", "status": 401}
            dag_id, run_id = found.groups()
            if dag_id not in self.dags:
                return 404, {"detail": f"DAG with dag_id: '{dag_id}' not found", "status": 404, "title": "Not Found"}
            return self._trigger(dag_id, body) if method == "POST" else self._show(dag_id, run_id)

    def _new_token(self, body: bytes) -> tuple[int, Any]:
        sent = _document(body)
        if (sent.get("username"), sent.get("password")) != (self.username, self.password):
            return 401, {"detail": "Invalid credentials"}
        token = secrets.token_urlsafe(24)
        self.tokens[token] = self.token_uses
        return 201, {"access_token": token}

    def _is_known(self, authorization: str) -> bool:
        kind, _, value = authorization.partition(" ")
        if self.api == "v1":
            expected = base64.b64encode(f"{self.username}:{self.password}".encode()).decode()
            return (kind, value) == ("Basic", expected)
        left = self.tokens.get(value, 0) if kind == "Bearer" else 0
        self.tokens[value] = left - 1
        return left > 0

    def _trigger(self, dag_id: str, body: bytes) -> tuple[int, Any]:
        sent = _document(body)
        if self.api == "v2" and "logical_date" not in sent:
            missing = {"type": "missing", "loc": ["body", "logical_date"], "msg": "Field required"}
            return 422, {"detail": [missing]}
        run_id = str(sent.get("dag_run_id") or f"manual__{len(self.runs)}")
        key = f"{dag_id}/{run_id}"
        if key in self.runs:
            detail = f"DAGRun with DAG ID: '{dag_id}' and DAGRun ID: '{run_id}' already exists"
            return 409, {"detail": detail, "status": 409, "title": "Conflict"}
        self.runs[key] = DagRun(dag_id, run_id, sent.get("conf") or {}, self.dags[dag_id])
        return 200, self.runs[key].as_json()

    def _show(self, dag_id: str, run_id: str | None) -> tuple[int, Any]:
        run = self.runs.get(f"{dag_id}/{run_id}")
        if run is None:
            return 404, {"detail": f"DAGRun with DAGRun ID: '{run_id}' not found", "status": 404}
        answer = run.as_json()
        run.asked += 1
        return 200, answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._reply("GET")

            def do_POST(self) -> None:
                self._reply("POST")

            def _reply(self, method: str) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                status, document = server.answer(method, self.path, self.headers.get("authorization", ""), body)
                data = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """The server is quiet. `requests` has what it got."""

        return Handler


def _document(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def main() -> None:
    """Serve until Ctrl+C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--api", choices=("v1", "v2"), default="v2")
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args()
    with AirflowLike(api=options.api, port=options.port) as server:
        print(f"like Airflow {'2' if options.api == 'v1' else '3'} on {server.url}, with DAGs validate and broken")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("stopped")


if __name__ == "__main__":
    main()
