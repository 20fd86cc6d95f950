"""A server of the shared API in front of a Lakebed server: it has only what every such server has, and its oddities.

It passes requests on, and records them. It refuses every other path and parameter with 404, so a migration that needs
an addition of Lakebed fails. The oddities are those of facts/rest_api.md that a reader meets: no field of Lakebed's
own, checksums that are no MD5, a 410 with the body of a success, and answers that break off.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx

_REPO = r"/api/v1/repositories/[^/]+"
SHARED = {
    "getRepository": (rf"{_REPO}", set()),
    "listBranches": (rf"{_REPO}/branches", {"after", "amount", "prefix"}),
    "listTags": (rf"{_REPO}/tags", {"after", "amount", "prefix"}),
    "logCommits": (rf"{_REPO}/refs/[^/]+/commits", {"after", "amount"}),
    "diffRefs": (rf"{_REPO}/refs/[^/]+/diff/[^/]+", {"after", "amount", "type"}),
    "diffBranch": (rf"{_REPO}/branches/[^/]+/diff", {"after", "amount"}),
    "listObjects": (rf"{_REPO}/refs/[^/]+/objects/ls", {"after", "amount", "prefix"}),
    "statObject": (rf"{_REPO}/refs/[^/]+/objects/stat", {"path"}),
    "getObject": (rf"{_REPO}/refs/[^/]+/objects", {"path"}),
    "getBranchProtectionRules": (rf"{_REPO}/settings/branch_protection", set()),
    "getGCRules": (rf"{_REPO}/settings/gc_rules", set()),
    "getRepositoryMetadata": (rf"{_REPO}/metadata", set()),
    "listPullRequests": (rf"{_REPO}/pulls", {"status"}),
}
"""Paths and parameters of the operations that a migration may use."""

FIELDS = {
    "listObjects": {
        "path",
        "path_type",
        "physical_address",
        "checksum",
        "size_bytes",
        "mtime",
        "metadata",
        "content_type",
    },
    "logCommits": {
        "id",
        "parents",
        "committer",
        "message",
        "creation_date",
        "meta_range_id",
        "metadata",
        "generation",
        "version",
    },
    "diffRefs": {"type", "path", "path_type", "size_bytes"},
    "diffBranch": {"type", "path", "path_type", "size_bytes"},
    "listBranches": {"id", "commit_id"},
    "listTags": {"id", "commit_id"},
}
"""The fields of rows that every such server sends."""


@dataclass
class Foreign:
    """`checksums`: paths with another checksum than an MD5. `gone`: paths without data. `breaks`: paths whose next
    answer ends early. `busy`: how many requests get 503. `page`: the largest page.
    """

    endpoint: str = ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    checksums: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    breaks: set[str] = field(default_factory=set)
    stop_after: int | None = None
    """The number of contents after which every answer is 503."""
    busy: int = 0
    page: int = 2

    def count(self, operation: str) -> int:
        return sum(name == operation for name, _ in self.seen)


@contextmanager
def foreign_server(upstream: str) -> Iterator[Foreign]:
    """Start it on a free port of 127.0.0.1."""
    state = Foreign()
    client = httpx.Client(base_url=upstream, timeout=60)

    class Handler(_Handler):
        foreign = state
        http = client

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        client.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    foreign: Foreign
    http: httpx.Client

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        given = parse_qs(url.query, keep_blank_values=True)
        names = [
            name for name, (path, allowed) in SHARED.items() if re.fullmatch(path, url.path) and set(given) <= allowed
        ]
        if not names:
            self.foreign.seen.append(("refused", self.path))
            self._answer(404, {"message": "invalid API endpoint"})
            return
        operation, path = names[0], given.get("path", [""])[0]
        self.foreign.seen.append((operation, unquote(self.path)))
        stop = self.foreign.stop_after
        if stop is not None and self.foreign.count("getObject") > stop:
            self._answer(503, {"message": "the server stops"})
        elif self.foreign.busy > 0:
            self.foreign.busy -= 1
            self._answer(503, {"message": "busy"})
        else:
            self._pass_on(operation, path, given)

    def _pass_on(self, operation: str, path: str, given: dict[str, list[str]]) -> None:
        if "amount" in given:
            given["amount"] = [str(min(int(given["amount"][0]), self.foreign.page))]
        headers = {"Authorization": self.headers.get("Authorization", "")}
        answer = self.http.get(urlsplit(self.path).path, params=given, headers=headers)
        if operation == "getObject" and answer.status_code == 200:
            self._content(path, answer.content)
            return
        body = answer.json()
        for row in [body, *(body.get("results", []) if isinstance(body, dict) else [])]:
            if isinstance(row, dict) and row.get("path") in self.foreign.checksums and "checksum" in row:
                row["checksum"] = self.foreign.checksums[row["path"]]
        if operation in FIELDS and answer.status_code == 200:
            rows = [{key: row[key] for key in row if key in FIELDS[operation]} for row in body["results"]]
            body = {"pagination": body["pagination"], "results": rows}
        gone = operation == "statObject" and path in self.foreign.gone
        self._answer(410 if gone else answer.status_code, body)

    def _content(self, path: str, content: bytes) -> None:
        if path in self.foreign.gone:
            self._answer(410, {"message": "No data"})
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if path in self.foreign.breaks:
            self.foreign.breaks.discard(path)
            content = content[: len(content) // 2]
            self.close_connection = True
        self.wfile.write(content)

    def _answer(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
