"""What a page in a browser can do to a real server: the probes H5 and M9 of the security review, and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from botocore import auth as botocore_auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]

from tests.support.processes.server import RunningServer, running_server

pytestmark = pytest.mark.slow

EVIL = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
SCRIPT = b"<script>fetch('/api/v1/auth/users/admin/credentials', {method: 'POST'})</script>"
KEYS = "/api/v1/auth/users/admin/credentials"

SAFE_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "content-disposition": "attachment",
    "cache-control": "private, no-store",
}


class Lake:
    """Plain HTTP to a repository of its own, as the user that the call names."""

    def __init__(self, server: RunningServer, client: httpx.Client) -> None:
        self.server = server
        self.client = client
        self.pair = (server.access_key_id, server.secret_access_key)
        self.name = f"pages-{uuid4().hex[:12]}"
        body = {"name": self.name, "storage_namespace": f"local://{self.name}"}
        assert client.post("/api/v1/repositories", json=body, auth=self.pair).status_code == 201
        login = {"access_key_id": self.pair[0], "secret_access_key": self.pair[1]}
        answer = client.post("/api/v1/auth/login", json=login)
        self.token = answer.json()["token"]
        self.set_cookie = answer.headers["set-cookie"]
        client.cookies.clear()
        self.cookie = {"Cookie": self.set_cookie.partition(";")[0]}

    def put(self, path: str, content_type: str, data: bytes = SCRIPT) -> None:
        answer = self.client.post(
            f"/api/v1/repositories/{self.name}/branches/main/objects",
            params={"path": path},
            content=data,
            headers={"Content-Type": content_type},
            auth=self.pair,
        )
        assert answer.status_code == 201, answer.text

    def get(self, path: str, ref: str = "main", method: str = "GET", **headers: str) -> httpx.Response:
        """As a browser that is logged in."""
        url = f"/api/v1/repositories/{self.name}/refs/{ref}/objects"
        return self.client.request(method, url, params={"path": path}, headers={**self.cookie, **headers})

    def commit(self) -> str:
        url = f"/api/v1/repositories/{self.name}/branches/main/commits"
        return str(self.client.post(url, json={"message": "x"}, auth=self.pair).json()["id"])

    def s3(
        self,
        method: str,
        target: str,
        data: bytes = b"",
        sent: Mapping[str, str] | None = None,
        *,
        presigned: bool = False,
    ) -> httpx.Response:
        """A request to the gateway, signed by botocore: in a header, or in the URL."""
        url = f"{self.server.endpoint}/{self.name}/{target}"
        request = AWSRequest(method, url, data=b"" if presigned else data)
        key = Credentials(*self.pair)
        if presigned:
            botocore_auth.S3SigV4QueryAuth(key, "s3", "us-east-1", expires=60).add_auth(request)
        else:
            botocore_auth.S3SigV4Auth(key, "s3", "us-east-1").add_auth(request)
        headers = {**dict(request.headers.items()), **(sent or {})}
        return self.client.request(method, request.url, content=data, headers=headers)


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.endpoint, timeout=60) as made:
        yield made


@pytest.fixture(scope="module")
def pages(server: RunningServer, client: httpx.Client) -> Lake:
    return Lake(server, client)


def safe_headers_of(answer: httpx.Response) -> dict[str, str | None]:
    return {name: answer.headers.get(name) for name in SAFE_HEADERS}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("sent", [{}, {"Range": "bytes=0-5"}], ids=["whole", "range"])
@pytest.mark.parametrize("content_type", ["text/html", "image/svg+xml", "application/xhtml+xml", "text/csv", "x"])
def test_an_html_object_does_not_run_as_a_page(
    pages: Lake, content_type: str, sent: dict[str, str], method: str
) -> None:
    pages.put("x.html", content_type)
    rest = pages.get("x.html", method=method, **sent)
    assert rest.status_code == (206 if sent else 200)
    assert safe_headers_of(rest) == {
        **SAFE_HEADERS,
        "content-disposition": "attachment; filename=\"x.html\"; filename*=UTF-8''x.html",
    }
    for presigned in (False, True):
        answer = pages.s3(method, "main/x.html", sent=sent, presigned=presigned)
        assert answer.status_code == (206 if sent else 200), answer.text
        assert safe_headers_of(answer) == SAFE_HEADERS
        assert answer.headers["content-type"] == content_type


def test_a_presigned_url_makes_no_page_of_an_object(pages: Lake) -> None:
    pages.put("x.txt", "text/plain")
    for query in (
        "response-content-type=text%2Fhtml",
        "response-content-type=text%2Fhtml&response-content-disposition=inline",
    ):
        answer = pages.s3("GET", f"main/x.txt?{query}", presigned=True)
        assert answer.headers["content-type"] == "text/html"
        assert safe_headers_of(answer) == SAFE_HEADERS


@pytest.mark.parametrize("content_type", ["text/plain", "text/plain; charset=utf-8", "IMAGE/PNG", "application/json"])
def test_browsers_may_show_types_without_code(pages: Lake, content_type: str) -> None:
    pages.put("x.txt", content_type)
    for answer in (pages.get("x.txt"), pages.s3("GET", "main/x.txt")):
        assert safe_headers_of(answer) == {**SAFE_HEADERS, "content-disposition": None}


def test_an_object_says_how_it_is_kept_but_not_that_it_is_shown(pages: Lake) -> None:
    sent = {
        "cache-control": "max-age=60",
        "content-disposition": 'inline; filename="a;b.html"',
        "content-type": "text/html",
    }
    assert pages.s3("PUT", "main/kept", SCRIPT, sent).status_code == 200
    answer = pages.s3("GET", "main/kept")
    assert safe_headers_of(answer) == {
        **SAFE_HEADERS,
        "cache-control": "max-age=60",
        "content-disposition": 'attachment; filename="a;b.html"',
    }


def test_only_the_id_of_a_commit_may_be_kept(pages: Lake) -> None:
    pages.put("kept.txt", "text/plain")
    commit = pages.commit()
    fixed = "private, max-age=86400, immutable"
    for ref, wanted in [(commit, fixed), ("main", "private, no-store"), (commit[:20], "private, no-store")]:
        assert pages.get("kept.txt", ref).headers["cache-control"] == wanted
        assert pages.s3("GET", f"{ref}/kept.txt").headers["cache-control"] == wanted
        etag = pages.get("kept.txt", ref).headers["etag"]
        for unchanged in (
            pages.get("kept.txt", ref, **{"If-None-Match": etag}),
            pages.s3("GET", f"{ref}/kept.txt", sent={"If-None-Match": etag}),
        ):
            assert (unchanged.status_code, unchanged.headers["cache-control"]) == (304, wanted)


def test_errors_of_the_gateway_are_not_sniffed(pages: Lake) -> None:
    answer = pages.s3("GET", "main/nothing")
    assert (answer.status_code, answer.headers["x-content-type-options"]) == (404, "nosniff")


def test_a_page_of_another_origin_creates_no_key_with_a_cookie(pages: Lake, client: httpx.Client) -> None:
    """The probe of H5: a cookie, a foreign origin, no body, no type."""
    answer = client.post(KEYS, headers={**pages.cookie, **EVIL})
    assert (answer.status_code, answer.json()["kind"]) == (403, "foreign_origin")
    here = {"Origin": pages.server.endpoint, "Sec-Fetch-Site": "same-origin"}
    for headers in ({}, here):
        made = client.post(KEYS, headers={**pages.cookie, **headers})
        assert (made.status_code, made.json()["kind"]) == (403, "key_required")
        gone = client.delete(f"{KEYS}/{pages.pair[0]}", headers={**pages.cookie, **headers})
        assert (gone.status_code, gone.json()["kind"]) == (403, "key_required")
    made = client.post(KEYS, headers={"Authorization": f"Bearer {pages.token}"})
    assert made.status_code == 201
    assert client.delete(f"{KEYS}/{made.json()['access_key_id']}", auth=pages.pair).status_code == 204


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "nonsense"},
    ],
)
def test_a_page_of_another_origin_changes_nothing(pages: Lake, client: httpx.Client, headers: dict[str, str]) -> None:
    """The probe of M9: a cookie, or a form with a key that the browser remembers."""
    url = f"/api/v1/repositories/{pages.name}/branches/main/objects?path=form"
    form = {"content": ("x", b"by a form")}
    login = {"access_key_id": pages.pair[0], "secret_access_key": pages.pair[1]}
    for answer in (
        client.post(url, files=form, headers=headers, auth=pages.pair),
        client.post(url, content=b"x", headers={**pages.cookie, **headers}),
        client.delete(url, headers={**pages.cookie, **headers}),
        client.post("/api/v1/auth/login", json=login, headers=headers),
    ):
        assert (answer.status_code, answer.json()["kind"]) == (403, "foreign_origin")
        assert "send the request from" in answer.json()["message"]
    assert pages.get("form").status_code == 404
    by_header = pages.s3("PUT", "main/form", b"x", headers)
    assert (by_header.status_code, b"AccessDenied" in by_header.content) == (403, True)
    assert pages.get("form").status_code == 404


def test_reads_and_our_own_pages_and_programs_are_let_through(pages: Lake, client: httpx.Client) -> None:
    url = f"/api/v1/repositories/{pages.name}/branches/main/objects?path=own"
    host = urlsplit(pages.server.endpoint).netloc
    for headers in (
        {},
        {"Origin": f"http://{host}"},
        {"Origin": f"https://{host.upper()}"},  # a proxy ends TLS
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://lake.example"},  # a proxy names another Host
        {"Sec-Fetch-Site": "none"},
    ):
        assert client.post(url, content=b"x", headers=headers, auth=pages.pair).status_code == 201
    assert pages.get("own", **EVIL).status_code == 200


def test_a_presigned_url_is_good_from_any_page(pages: Lake) -> None:
    assert pages.s3("PUT", "main/presigned", b"x", EVIL, presigned=True).status_code == 200
    assert pages.get("presigned").content == b"x"


def test_browsers_are_not_asked_for_a_key(client: httpx.Client) -> None:
    for headers in ({"Sec-Fetch-Mode": "navigate"}, {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)"}):
        answer = client.get("/api/v1/user", headers=headers)
        assert (answer.status_code, "www-authenticate" in answer.headers) == (401, False)
    assert client.get("/api/v1/user").headers["www-authenticate"] == 'Basic realm="lakebed"'


def test_the_cookie_has_no_script_and_no_other_site(pages: Lake) -> None:
    assert pages.set_cookie.startswith("internal_auth_session=")
    assert pages.set_cookie.endswith("; HttpOnly; SameSite=Strict")


def test_the_cookie_is_this_hosts_alone(tmp_path: Path) -> None:
    """Behind a proxy that ends TLS, and that the server trusts."""
    proxies = {"LAKEBED_LISTEN_TRUSTED_PROXIES": "127.0.0.1"}
    with (
        running_server(tmp_path / "data", environment=proxies) as server,
        httpx.Client(base_url=server.endpoint, timeout=60) as client,
    ):
        body = {"access_key_id": server.access_key_id, "secret_access_key": server.secret_access_key}
        tls = {"X-Forwarded-Proto": "https"}
        cookie = client.post("/api/v1/auth/login", json=body, headers=tls).headers["set-cookie"]
        client.cookies.clear()
        assert cookie.startswith("__Host-internal_auth_session=")
        assert cookie.endswith("; HttpOnly; SameSite=Strict; Secure")
        assert "; Path=/;" in cookie
        assert "Domain" not in cookie
        value = cookie.partition(";")[0]
        assert client.get("/api/v1/user", headers={**tls, "Cookie": value}).status_code == 200
        # a neighbouring host could have set this one
        plain = value.removeprefix("__Host-")
        assert client.get("/api/v1/user", headers={**tls, "Cookie": plain}).status_code == 401
