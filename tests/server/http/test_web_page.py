"""The page for browsers shares the port with the API and with S3 requests that have the bucket in the path."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from lakebed_server.http.web_page import WebPage
from lakebed_server.process.app import App

from tests.server.support import Answer, ask, make_app

HTML = "text/html,application/xhtml+xml,*/*;q=0.8"
INDEX = "<!doctype html><title>Lakebed</title>"
SCRIPT = b"console.log(1)\n"


@pytest.fixture
def app(tmp_path: Path) -> App:
    assets = tmp_path / "assets"
    assets.mkdir()
    (tmp_path / "index.html").write_text(INDEX)
    (tmp_path / "favicon.svg").write_text("<svg/>")
    (assets / "index-abc.js").write_bytes(SCRIPT)
    (assets / "index-abc.js.gz").write_bytes(gzip.compress(SCRIPT))
    (assets / "index-abc.js.br").write_bytes(b"brotli")
    return make_app(web_page=WebPage(tmp_path))


def browse(app: App, target: str, method: str = "GET", **headers: Any) -> Answer:
    return ask(app, target, method, auth=False, accept=HTML, **headers)


@pytest.mark.parametrize("target", ["/", "/repositories", "/repositories/a/objects?ref=main", "/bucket/key.html"])
def test_a_browser_gets_the_page_for_any_path(app: App, target: str) -> None:
    answer = browse(app, target)
    assert (answer.status, answer.body.decode()) == (200, INDEX)
    assert answer.headers["cache-control"] == "no-cache"


def test_the_page_allows_no_inline_code_and_no_other_host(app: App) -> None:
    headers = browse(app, "/").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "SAMEORIGIN"


def test_programs_get_no_page(app: App) -> None:
    assert ask(app, "/bucket/key", auth=False, accept="*/*").status == 404
    assert "lakebed login" in ask(app, "/", auth=False, accept="*/*").body.decode()


@pytest.mark.parametrize("target", ["/api/v1/nothing", "/iceberg/v1/config", "/oidc/nothing", "/saml/x"])
def test_paths_of_programs_have_no_page(app: App, target: str) -> None:
    answer = browse(app, target)
    assert answer.status in (401, 404)
    assert answer.body.decode() != INDEX


def test_signed_requests_go_to_the_s3_gateway(app: App) -> None:
    signed = browse(app, "/bucket/key", authorization="AWS4-HMAC-SHA256 Credential=x")
    presigned = browse(app, "/bucket/key?X-Amz-Algorithm=AWS4-HMAC-SHA256")
    for answer in (signed, presigned):
        assert answer.status >= 400
        assert b"<Error>" in answer.body


def test_only_reading_gets_the_page(app: App) -> None:
    assert browse(app, "/repositories", "POST").status in (404, 405)
    assert browse(app, "/repositories", "HEAD").status == 200


def test_built_files_are_compressed_and_kept(app: App) -> None:
    plain = ask(app, "/assets/index-abc.js", auth=False, accept="*/*")
    assert (plain.body, plain.headers["content-type"]) == (SCRIPT, "text/javascript; charset=utf-8")
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    packed = ask(app, "/assets/index-abc.js", auth=False, accept_encoding="gzip")
    assert (packed.headers["content-encoding"], gzip.decompress(packed.body)) == ("gzip", SCRIPT)
    best = ask(app, "/assets/index-abc.js", auth=False, accept_encoding="gzip, deflate, br")
    assert (best.headers["content-encoding"], best.body) == ("br", b"brotli")
    again = ask(app, "/assets/index-abc.js", auth=False, if_none_match=plain.headers["etag"])
    assert again.status == 304


def test_files_outside_of_the_folder_are_not_served(app: App, tmp_path: Path) -> None:
    (tmp_path.parent / "secret.txt").write_text("secret")
    for target in ("/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt"):
        assert ask(app, target, auth=False, accept="*/*").status == 404


def test_a_server_without_the_built_page_says_how_to_get_it(tmp_path: Path) -> None:
    app = make_app(web_page=WebPage(tmp_path / "missing"))
    answer = browse(app, "/repositories")
    assert answer.status == 200
    assert "make ui" in answer.body.decode()
    assert "default-src 'none'" in answer.headers["content-security-policy"]
