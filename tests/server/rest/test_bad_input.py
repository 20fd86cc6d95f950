"""Invalid requests: the server refuses them, names the broken rule, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from tests.server.lake import MAIN, REPO, Lake
from tests.server.support import Answer, ask

LS = REPO + "/refs/main/objects/ls"
OBJECT = REPO + "/refs/main/objects?path=a.csv"
PMPU = MAIN + "/staging/pmpu"


@pytest.fixture(scope="module")
def shared() -> Iterator[Lake]:
    lake = Lake()
    lake("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    lake.put("a.csv", b"0123456789")
    lake.commit("one")
    lake.put("b.csv", b"uncommitted")
    yield lake
    lake.close()


@pytest.fixture
def lake(shared: Lake) -> Iterator[Lake]:
    """What the tests share must be as it was, whatever was sent."""
    before = state(shared)
    yield shared
    assert state(shared) == before


def state(lake: Lake) -> Any:
    return [
        lake("GET", target)
        for target in (LS, REPO + "/branches", REPO + "/tags", REPO + "/refs/main/commits", MAIN + "/diff", REPO)
    ] + [lake("GET", REPO + "/metadata"), lake("GET", REPO + "/workspaces?state=all")]


def send(lake: Lake, method: str, target: str, body: Any = None, **headers: Any) -> Answer:
    raw = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
    return ask(lake.app, "/api/v1" + target, method, raw, runner=lake.runner, **headers)


LONG = {"k": "v" * (10 << 20)}


@pytest.mark.parametrize(
    ("method", "target", "body", "status", "said"),
    [
        # amounts
        *[
            ("GET", f"{LS}?amount={amount}", None, 400, "amount")
            for amount in ("1001", "-2", "1e99", "x", "", "99999999999999999999")
        ],
        ("GET", f"{LS}?amount=1&amount=2", None, 400, "given twice"),
        ("POST", PMPU + "?path=a&parts=-1", None, 400, "parts"),
        ("GET", f"{REPO}/tasks/x?wait=61", None, 400, "wait"),
        # types
        ("POST", MAIN + "/commits", {"message": 1}, 400, "message"),
        ("POST", MAIN + "/commits", {"message": None}, 400, "message"),
        ("POST", MAIN + "/commits", {}, 400, "message"),
        ("POST", MAIN + "/commits", [], 400, "object"),
        ("POST", MAIN + "/commits", b"", 400, "required"),
        ("POST", MAIN + "/commits", b"{", 400, "body"),
        ("POST", MAIN + "/commits", b"\xff\xfe", 400, "body"),
        ("POST", MAIN + "/commits", b"[" * 100_000, 400, "body"),
        ("POST", MAIN + "/commits", {"message": "x", "date": 1.5}, 400, "date"),
        ("POST", MAIN + "/commits", {"message": "x", "date": 2**63}, 400, "date"),
        ("POST", MAIN + "/commits", {"message": "x", "metadata": {"k": 1}}, 400, "metadata"),
        ("POST", MAIN + "/commits", {"message": "x", "allow_empty": "yes"}, 400, "allow_empty"),
        ("POST", MAIN + "/commits/async", {"message": 1}, 400, "message"),
        ("POST", MAIN + "/import", {"paths": "x", "commit": {"message": ""}}, 400, "paths"),
        ("POST", MAIN + "/import", {"paths": [{"type": "object"}], "commit": {"message": ""}}, 400, "path"),
        (
            "PUT",
            MAIN + "/staging/backing?path=x",
            {"staging": {}, "checksum": "x", "size_bytes": -1},
            400,
            "size_bytes",
        ),
        ("PUT", MAIN + "/staging/backing?path=x", {"checksum": "x", "size_bytes": 1}, 400, "staging"),
        ("PUT", MAIN + "/objects?path=x", {"physical_address": "", "checksum": "x", "size_bytes": 1}, 400, "physical"),
        ("PUT", REPO + "/refs/restore", {"commits_meta_range_id": "x"}, 400, "meta_range_id"),
        ("GET", f"{REPO}/refs/main/objects/stat?path=a.csv&user_metadata=maybe", None, 400, "user_metadata"),
        ("PUT", f"{PMPU}/u/parts/0?path=a", {"physical_address": "x"}, 400, "partNumber"),
        ("PUT", f"{PMPU}/u/parts/x?path=a", {"physical_address": "x"}, 400, "partNumber"),
        # encoding
        ("GET", f"{REPO}/refs/main/objects?path=%zz", None, 400, "percent"),
        ("GET", f"{REPO}/refs/main/objects?path=%ff", None, 400, "UTF-8"),
        ("GET", f"{REPO}/refs/%E0%A4%A/objects?path=a", None, 400, "percent"),
        ("GET", f"{REPO}/refs/main%00/objects?path=a", None, 400, "control"),
        ("GET", f"{REPO}/refs/../objects?path=a", None, 400, "segments"),
        ("GET", f"{REPO}/metadata/range/%2e%2e", None, 400, "segments"),
        # paths
        ("GET", f"{REPO}/refs/main/objects?path=", None, 400, "path"),
        ("GET", f"{REPO}/refs/main/objects", None, 400, "path"),
        ("GET", f"{REPO}/refs/main/objects?path={'a' * 1025}", None, 400, "1025 bytes"),
        # too much
        ("POST", MAIN + "/objects/delete", {"paths": ["a.csv"] * 1001}, 400, "1000"),
        ("POST", MAIN + "/commits", {"message": "x", "metadata": LONG}, 400, "bytes"),
        ("POST", REPO + "/metadata", {"metadata": LONG}, 400, "bytes"),
        ("PUT", MAIN + "/objects/stat/user_metadata?path=a.csv", {"set": LONG}, 400, "bytes"),
        ("POST", MAIN + "/import", {"paths": [], "commit": {"message": ""}}, 400, "paths"),
    ],
)
def test_a_bad_request_is_refused_with_its_rule(
    lake: Lake, method: str, target: str, body: Any, status: int, said: str
) -> None:
    answer = send(lake, method, target, body, content_type="application/json")
    assert answer.status == status, answer.body[:300]
    assert said in answer.json["message"]
    assert len(answer.body) < 2000  # what was sent is not sent back


@pytest.mark.parametrize(
    "sent", ["bytes=", "bytes=a-b", "bytes=-", "items=0-1", "bytes 0-1", "0-1", "bytes=1-2-3", "x"]
)
def test_an_invalid_range_header_is_refused(lake: Lake, sent: str) -> None:
    answer = send(lake, "GET", OBJECT, range=sent)
    assert (answer.status, answer.kind) in ((400, "invalid_request"), (416, "invalid_range"))


@pytest.mark.parametrize("sent", ["bytes=10-", "bytes=99-100", "bytes=0-1,3-4", "bytes=5-4", "bytes=-0"])
def test_a_range_that_the_object_has_not(lake: Lake, sent: str) -> None:
    assert send(lake, "GET", OBJECT, range=sent).status == 416
    head = send(lake, "HEAD", OBJECT, range=sent)
    assert (head.status, head.body) == (416, b"")


def test_unknown_fields_and_parameters_are_ignored(lake: Lake) -> None:
    assert send(lake, "GET", f"{LS}?unknown=%zz&other=1").status in (200, 400)
    body = {"name": "main", "source": "main", "unknown": {"deep": [1]}}
    assert send(lake, "POST", REPO + "/branches", body, content_type="application/json").status == 409


def test_a_body_of_another_type(lake: Lake) -> None:
    answer = send(lake, "POST", MAIN + "/commits", {"message": "x"}, content_type="text/plain")
    assert (answer.status, answer.kind) == (400, "invalid_request")
    answer = send(lake, "POST", MAIN + "/objects?path=x", b"raw", content_type="multipart/form-data")
    assert (answer.status, answer.kind) == (400, "invalid_request")
    form = b'--b\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--b--\r\n'
    answer = send(lake, "POST", MAIN + "/objects?path=x", form, content_type="multipart/form-data; boundary=b")
    assert (answer.status, answer.kind) == (400, "invalid_request")


def test_form_with_two_contents_stores_the_first(lake: Lake) -> None:
    """A form with the content twice is one object: the first part counts, as the contract says."""
    part = '--b\r\nContent-Disposition: form-data; name="content"\r\n\r\n{}\r\n'
    form = (part.format("first") + part.format("second") + "--b--\r\n").encode()
    answer = send(lake, "POST", MAIN + "/objects?path=two", form, content_type="multipart/form-data; boundary=b")
    assert answer.status == 201
    assert send(lake, "GET", REPO + "/refs/main/objects?path=two").body == b"first"
    lake("PUT", MAIN, {"type": "object", "path": "two"}, 204)
