"""The web page of a server: the files that `make ui` built, for browsers, on the port of the API.

S3 requests with the bucket in the path share the port. So a path that is not a built file gets the page only when the
client accepts `text/html`. The gateway has taken signed requests before. docs/decisions/0073 has the reasons.
"""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

BUILT: Final = Path(__file__).resolve().parents[1] / "ui"
"""Where the build puts its files: in the source tree, and in the wheel."""

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "frame-src blob:",  # the browser's own viewer of PDF
        "frame-ancestors 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types dompurify svelte-trusted-html",
    )
)
SAFE: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
NOT_PAGES: Final = ("/api/", "/iceberg/", "/oidc/", "/saml/")
"""Paths of programs. The page is never the answer there, not even to a browser."""

_ENCODINGS: Final = ((".br", "br"), (".gz", "gzip"))
_TYPES: Final = {".js": "text/javascript", ".svg": "image/svg+xml", ".webmanifest": "application/manifest+json"}
_INDEX: Final = "/index.html"
_MISSING: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Lakebed</title>
<h1>This server has no web page</h1>
<p>The server works: programs can use it. The files of its web page were not built. In a clone of the repository, with
Node.js 20.19 or newer, run <code>make ui</code> and start the server again. A released wheel has the files.</p>
<p><a href="/openapi.json">The API, described</a></p></html>
"""


class _File(NamedTuple):
    """A built file. `encoded`: its contents by their Content-Encoding; the empty one is the file itself."""

    media_type: str
    tag: str
    encoded: Mapping[str, bytes]


class WebPage:
    """The built files of a folder, and the page for every other path that a browser opens."""

    def __init__(self, folder: Path = BUILT) -> None:
        self._folder = folder
        paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".br", ".gz")]
        self._paths = {f"/{path.relative_to(folder).as_posix()}": path for path in paths}
        self._read: dict[str, _File] = {}

    def answer(self, request: Request) -> Response | None:
        """The response for a browser. None when the request is not for the page."""
        path = request.url.path
        if request.method not in ("GET", "HEAD"):
            return None
        if path != _INDEX and path in self._paths:
            return self._response(request, path)
        if path.startswith(NOT_PAGES) or "text/html" not in request.headers.get("accept", ""):
            return None
        if _INDEX not in self._paths:
            return _missing()
        return self._response(request, _INDEX)

    def _response(self, request: Request, path: str) -> Response:
        file = self._read.get(path) or self._read.setdefault(path, _read(self._paths[path]))
        headers = {**SAFE, "etag": file.tag, "vary": "accept, accept-encoding"}
        if path == _INDEX:
            headers |= {"content-security-policy": POLICY, "cache-control": "no-cache"}
        elif path.startswith("/assets/"):  # the names contain a hash of the content
            headers["cache-control"] = "public, max-age=31536000, immutable"
        else:
            headers["cache-control"] = "no-cache"
        if file.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        accepted = [one.partition(";")[0].strip() for one in request.headers.get("accept-encoding", "").split(",")]
        encoding = next((name for _, name in _ENCODINGS if name in accepted and name in file.encoded), "")
        if encoding:
            headers["content-encoding"] = encoding
        return Response(file.encoded[encoding], headers=headers, media_type=file.media_type)


def _read(path: Path) -> _File:
    content = path.read_bytes()
    encoded = {"": content}
    for suffix, name in _ENCODINGS:
        packed = path.with_name(path.name + suffix)
        if packed.is_file():
            encoded[name] = packed.read_bytes()
    media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return _File(media_type, f'W/"{hashlib.blake2b(content, digest_size=12).hexdigest()}"', encoded)


def _missing() -> Response:
    policy = {"content-security-policy": "default-src 'none'; frame-ancestors 'none'", "cache-control": "no-store"}
    return Response(_MISSING, headers=SAFE | policy, media_type="text/html")
