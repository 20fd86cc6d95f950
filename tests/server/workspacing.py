"""What the tests of workspaces over HTTP share: a client of one repository, and objects written past the server."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from lakebed._http import exchange

from tests.support.processes.server import RunningServer
from tests.support.waiting import PATIENCE

Json = Any


class Api:
    """HTTP against one repository of a running server: what comes back is JSON, text, or an error's body."""

    def __init__(self, server: RunningServer, repository: str) -> None:
        self.http = httpx.Client(
            base_url=f"{server.endpoint}/api/v1",
            auth=(server.access_key_id, server.secret_access_key),
            headers=exchange.machine_headers(server.endpoint),
            timeout=PATIENCE,
            trust_env=False,
        )
        self.repo = f"/repositories/{repository}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def send(self, method: str, target: str, body: Json = None, **headers: str) -> httpx.Response:
        """A request below the repository. Bytes go as they are, the rest as JSON."""
        if isinstance(body, bytes):
            return self.http.request(method, self.repo + target, content=body, headers=headers)
        return self.http.request(method, self.repo + target, json=body, headers=headers)

    def __call__(self, method: str, target: str, body: Json = None, expect: int = 0, **headers: str) -> Json:
        """As `send`, and what it answered; any 2xx unless `expect` says another status."""
        answer = self.send(method, target, body, **headers)
        assert answer.status_code == expect if expect else answer.is_success, f"{answer.status_code} {answer.text}"
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.text

    def fails(self, method: str, target: str, body: Json, status: int, kind: str) -> Json:
        """As `send`; the error's body, which is of this status and kind."""
        answer = self.send(method, target, body)
        assert (answer.status_code, answer.json().get("kind")) == (status, kind), answer.text
        return answer.json()

    def workspace(self, **creation: Any) -> Json:
        """A new workspace, on main by default."""
        return self("POST", "/workspaces", {"branch": "main", **creation}, 201)

    def put(self, branch: str, path: str, data: bytes) -> Json:
        """Upload through the server."""
        return self("POST", f"/branches/{quote(branch, safe='')}/objects?path={quote(path, safe='')}", data, 201)

    def paths(self, ref: str) -> list[str]:
        """What a ref shows."""
        page = self("GET", f"/refs/{quote(ref, safe='')}/objects/ls?amount=1000")
        return [row["path"] for row in page["results"]]

    def text(self, ref: str, path: str) -> str:
        """The content of an object."""
        answer = self.send("GET", f"/refs/{quote(ref, safe='')}/objects?path={quote(path, safe='')}")
        assert answer.status_code == 200, answer.text
        return answer.text

    def log(self, ref: str = "main") -> list[Json]:
        """All commits of a ref, newest first."""
        found: list[Json] = []
        after = ""
        while True:
            page = self("GET", f"/refs/{ref}/commits?amount=1000&after={after}")
            found += page["results"]
            after = page["pagination"]["next_offset"]
            if not page["pagination"]["has_more"]:
                return found


def write_below(found: Json, path: str, data: bytes) -> Json:
    """Write an object as another tool does, below a local prefix; gives what registers it."""
    target = Path(found["local_path"]) / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return registration(found, path, data)


def registration(found: Json, path: str, data: bytes, **more: Any) -> Json:
    """What registers an object that was written below the prefix."""
    return {
        "path": path,
        "physical_address": found["storage_prefix"] + path,
        "checksum": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        "size_bytes": len(data),
        **more,
    }


def layer_file(rows: Sequence[Mapping[str, Any]], schema: pa.Schema | None = None, **options: Any) -> bytes:
    """A Parquet file of rows."""
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), buffer, **options)
    return buffer.getvalue()
