"""Bytes over a real socket: uploads, forms, ranges, odd paths, and clients that leave or are refused half-way."""

import hashlib
import logging
from typing import Any

import pytest
from lakebed_engine.vocabulary import errors
from lakebed_server.vocabulary import ClientGoneError

from tests.server.support import OBJECTS, UPLOAD, FakeEngine, Wire, make_app, serving
from tests.support.waiting import wait_until

MIB = 1 << 20


@pytest.fixture(scope="module")
def server() -> Any:
    engine = FakeEngine()
    with serving(make_app(engine)) as port:
        yield engine, port


@pytest.fixture
def engine(server: tuple[FakeEngine, int]) -> Any:
    engine = server[0]
    engine.stored.clear()
    engine.uploads.clear()
    engine.interrupted.clear()
    engine.fail = None
    return engine


@pytest.fixture
def wire(server: tuple[FakeEngine, int], engine: FakeEngine) -> Any:
    with Wire(server[1]) as wire:
        yield wire


def ended_requests(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """The log records of requests. The server writes one at the end of each."""
    return [record for record in caplog.records if record.name == "lakebed.requests"]


def form(boundary: str, *parts: Any) -> Any:
    rows = []
    for headers, data in parts:
        rows += [b"--" + boundary.encode(), *(h.encode() for h in headers), b"", data]
    return b"\r\n".join([*rows, b"--" + boundary.encode() + b"--", b""])


def content(data: bytes, *more: Any, name: Any = "content", filename: Any = "f") -> Any:
    return ([f'Content-Disposition: form-data; name="{name}"; filename="{filename}"', *more], data)


def upload_form(wire: Wire, raw: Any, boundary: Any = "B", target: Any = UPLOAD + "?path=a") -> Any:
    wire.head(
        f"POST {target}", f"Content-Type: multipart/form-data; boundary={boundary}", f"Content-Length: {len(raw)}"
    )
    wire.send(raw)
    return wire.answer()


# raw uploads


def test_raw_upload_with_metadata(wire: Wire, engine: FakeEngine) -> None:
    wire.head(
        f"POST {UPLOAD}?path=a%2Fb%20c",
        "Content-Type: text/x-odd; q=1",
        "Content-Length: 5",
        "X-Lakefs-Meta-Owner: Ann",
        "X-Lakebed-Meta-Size: groß",
        "X-LakeFS-Internal-client-mtime: 12",
        "X-Lakefs-Meta-: nothing",
    )
    wire.send(b"hello")
    answer = wire.answer()
    assert answer.status == 201
    assert answer.json == {
        "path": "a/b c",
        "path_type": "object",
        "physical_address": "mem://repo/data/a/b c",
        "checksum": hashlib.md5(b"hello").hexdigest(),
        "mtime": 1_700_000_000,
        "size_bytes": 5,
        "metadata": {"owner": "Ann", "size": "groß", "::lakefs::client-mtime": "12"},
        "content_type": "text/x-odd; q=1",
    }


def test_chunked_upload_and_no_content_type(wire: Wire, engine: FakeEngine) -> None:
    wire.head(f"POST {UPLOAD}?path=a", "Transfer-Encoding: chunked")
    for piece in (b"x" * 10, b"y" * 70_000, b"z"):
        wire.send(b"%x\r\n%s\r\n" % (len(piece), piece))
    wire.send(b"0\r\n\r\n")
    assert wire.answer().json["size_bytes"] == 70_011
    assert engine.uploads[-1].content_type == "application/octet-stream"


def test_an_empty_object(wire: Wire, engine: FakeEngine) -> None:
    wire.head(f"POST {UPLOAD}?path=empty", "Content-Length: 0")
    assert wire.answer().json["size_bytes"] == 0
    wire.head(f"GET {OBJECTS}?path=empty")
    assert wire.answer().status == 200
    wire.head(f"GET {OBJECTS}?path=empty", "Range: bytes=0-")
    answer = wire.answer()
    assert (answer.status, answer.headers["content-range"]) == (416, "bytes */0")


def test_a_large_object_up_and_down(wire: Wire, engine: FakeEngine) -> None:
    data = bytes(range(256)) * (5 * MIB // 256) + b"tail"
    wire.head(f"POST {UPLOAD}?path=big", f"Content-Length: {len(data)}")
    wire.send(data)
    assert wire.answer().json["checksum"] == hashlib.md5(data).hexdigest()
    wire.head(f"GET {OBJECTS}?path=big")
    answer = wire.answer()
    assert answer.body == data
    wire.head(f"GET {OBJECTS}?path=big", f"Range: bytes={MIB - 3}-{2 * MIB + 1}")
    assert wire.answer().body == data[MIB - 3 : 2 * MIB + 2]


def test_conditions_reach_the_engine(wire: Wire, engine: FakeEngine) -> None:
    wire.head(f"POST {UPLOAD}?path=a&force=true", "Content-Length: 0", "If-None-Match: *")
    assert wire.answer().status == 201
    wire.head(f"POST {UPLOAD}?path=a", "Content-Length: 0", 'If-Match: "abc"')
    assert wire.answer().status == 201
    wire.head(f"POST {UPLOAD}?path=a", "Content-Length: 0", 'If-None-Match: "abc"')
    assert wire.answer().status == 201
    wire.head(f"POST {UPLOAD}?path=a", "Content-Length: 0", "If-Match: *")
    assert wire.answer().status == 201
    first, second, third, fourth = engine.uploads
    assert (first.if_none_match, first.if_match, first.force) == (True, None, True)
    assert (second.if_none_match, second.if_match, second.force) == (False, "abc", False)
    assert (third.if_none_match, third.unlike, third.if_match) == (False, "abc", None)
    assert (fourth.if_none_match, fourth.if_match) == (False, "*")


@pytest.mark.parametrize("length", [10, 3 * MIB])
def test_a_truncated_upload_leaves_nothing(
    server: tuple[FakeEngine, int], engine: FakeEngine, length: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "lakebed.requests")
    with Wire(server[1]) as wire:
        wire.head(f"POST {UPLOAD}?path=a", f"Content-Length: {length}")
        wire.send(b"x" * (length - 1))
    wait_until(lambda: ended_requests(caplog), "the request ends")
    assert isinstance(engine.interrupted[0], ClientGoneError)
    assert not engine.stored
    failures = [record for record in caplog.records if record.name != "lakebed.requests"]
    assert not failures, "a client that leaves is not a failure of the server"


def test_a_truncated_chunked_upload_leaves_nothing(server: tuple[FakeEngine, int], engine: FakeEngine) -> None:
    with Wire(server[1]) as wire:
        wire.head(f"POST {UPLOAD}?path=a", "Transfer-Encoding: chunked")
        wire.send(b"5\r\nhello\r\n")
    wait_until(lambda: engine.interrupted)
    assert not engine.stored


def test_a_broken_chunk_leaves_nothing(wire: Wire, engine: FakeEngine) -> None:
    wire.head(f"POST {UPLOAD}?path=a", "Transfer-Encoding: chunked")
    wire.send(b"5\r\nhello\r\nnonsense\r\n")
    assert wire.answer().status == 400
    wait_until(lambda: engine.interrupted)
    assert not engine.stored


# forms


def test_a_form(wire: Wire, engine: FakeEngine) -> None:
    raw = form(
        "B",
        (['Content-Disposition: form-data; name="other"'], b"not this"),
        content(b"a,b\n1,2\n", "Content-Type: text/csv"),
        content(b"the second is ignored", "Content-Type: text/plain"),
    )
    answer = upload_form(wire, raw)
    assert answer.status == 201
    assert (answer.json["content_type"], answer.json["size_bytes"]) == ("text/csv", 8)
    assert engine.stored["a"][1] == b"a,b\n1,2\n"


def test_the_type_of_a_part_may_be_absent(wire: Wire, engine: FakeEngine) -> None:
    assert upload_form(wire, form("B", content(b"x"))).json["content_type"] == "application/octet-stream"


@pytest.mark.parametrize("boundary", ["B", "----WebKitFormBoundary7MA4YWxk", "a'()+_,-./:=?b", "x" * 70, "B--", "0"])
def test_odd_boundaries(wire: Wire, engine: FakeEngine, boundary: str) -> None:
    data = b"\r\n--" + boundary[:-1].encode() + b"\r\n-\r\n--\r\n"
    raw = form(boundary, content(data))
    assert upload_form(wire, raw, f'"{boundary}"').status == 201
    assert engine.stored["a"][1] == data


def test_boundaries_split_at_every_byte(wire: Wire, engine: FakeEngine) -> None:
    data = b"abc\r\n--Bound\r\n--boundar\r\n\r\n"
    raw = form("boundary", content(data))
    wire.head(
        f"POST {UPLOAD}?path=a", "Content-Type: multipart/form-data; boundary=boundary", "Transfer-Encoding: chunked"
    )
    for at in range(len(raw)):
        wire.send(b"1\r\n" + raw[at : at + 1] + b"\r\n")
    wire.send(b"0\r\n\r\n")
    assert wire.answer().status == 201
    assert engine.stored["a"][1] == data


def test_boundaries_around_the_size_of_a_read(wire: Wire, engine: FakeEngine) -> None:
    head = len(form("B", content(b""))) - len(b"\r\n--B--\r\n")
    for size in (65_536, 262_144):
        for shift in range(-8, 9):
            data = b"\r\n--A" * (size // 5) + b"x" * 9
            data = data[: size - head + shift]
            assert upload_form(wire, form("B", content(data))).status == 201
            assert engine.stored["a"][1] == data


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"--B",
        b"nonsense",
        b"--B\r\nbroken\r\n\r\nx\r\n--B--\r\n",
        b'--B\r\nContent-Disposition: form-data; name="content"\r\n\r\nx',
        b'--B\r\nContent-Disposition: form-data; name="content"\r\n\r\nx\r\n--B',
        b'--B\r\nContent-Disposition: form-data; name="content"\r\n\r\nx\r\n--Bnonsense',
        b"--B\r\nContent-Type: text/plain\r\n\r\nx\r\n--B--\r\n",
        form("B", content(b"x", name="other")),
        form("B", content(b"x")).replace(b"\r\n--B--", b"\r\n--B\r\nbroken\r\n\r\n--B--"),
        form("B", content(b"x", "Content-Type: \x7f")),
        b"--B--\r\n",
    ],
)
def test_malformed_forms_are_400_and_stage_nothing(wire: Wire, engine: FakeEngine, raw: Any) -> None:
    answer = upload_form(wire, raw)
    assert (answer.status, answer.kind) == (400, "invalid_request")
    assert not engine.stored


def test_a_form_without_a_boundary(wire: Wire, engine: FakeEngine) -> None:
    wire.head(f"POST {UPLOAD}?path=a", "Content-Type: multipart/form-data", "Content-Length: 3")
    wire.send(b"abc")
    assert wire.answer().status == 400


def test_a_truncated_form_leaves_nothing(server: tuple[FakeEngine, int], engine: FakeEngine) -> None:
    raw = form("B", content(b"x" * 100_000))
    with Wire(server[1]) as wire:
        wire.head(
            f"POST {UPLOAD}?path=a", "Content-Type: multipart/form-data; boundary=B", f"Content-Length: {len(raw)}"
        )
        wire.send(raw[:-10])
    wait_until(lambda: engine.interrupted)
    assert not engine.stored


def test_a_batch(wire: Wire, engine: FakeEngine) -> None:
    engine.put("old", b"x")
    raw = form(
        "B",
        content(b"1" * 300_000, "Content-Type: text/csv", filename="t%C3%A9/a%20b%252F.csv"),
        content(b"old", name="delete"),
        content(b"", "X-Lakebed-Meta-K: v", filename="t/empty"),
    )
    answer = upload_form(wire, raw, target=UPLOAD + "/batch")
    assert answer.status == 201
    rows = answer.json["results"]
    assert [(r["path"], r["size_bytes"], r["content_type"], r["metadata"]) for r in rows] == [
        ("té/a b%2F.csv", 300_000, "text/csv", {}),
        ("t/empty", 0, "application/octet-stream", {"k": "v"}),
    ]
    assert set(engine.stored) == {"té/a b%2F.csv", "t/empty"}


@pytest.mark.parametrize(
    "part",
    [
        content(b"x", filename=""),
        content(b"x", filename="%zz"),
        content(b"x", filename="%FF"),
        content(b"x", name="other"),
        content(b"%FF", name="delete"),
        content(b"x" * 5000, name="delete"),
        content(b"x", "Content-Type: \x7f"),
    ],
)
def test_a_batch_with_one_bad_part_does_nothing(wire: Wire, engine: FakeEngine, part: Any) -> None:
    raw = form("B", content(b"good", filename="good"), part)
    assert upload_form(wire, raw, target=UPLOAD + "/batch").status == 400
    assert not engine.stored


def test_a_batch_that_ends_early_does_nothing(wire: Wire, engine: FakeEngine) -> None:
    raw = form("B", content(b"good", filename="good"), content(b"x", filename="x"))[:-20]
    assert upload_form(wire, raw, target=UPLOAD + "/batch").status == 400
    assert not engine.stored


def test_a_batch_is_a_form(wire: Wire, engine: FakeEngine) -> None:
    wire.head(f"POST {UPLOAD}/batch", "Content-Length: 1", "Content-Type: text/csv")
    wire.send(b"x")
    assert wire.answer().status == 400


# downloads


def test_headers_of_a_download(wire: Wire, engine: FakeEngine) -> None:
    entry = engine.put("a", b"0123456789")
    wire.head(f"GET {OBJECTS}?path=a")
    answer = wire.answer()
    assert (answer.status, answer.body) == (200, b"0123456789")
    assert answer.headers["etag"] == f'"{entry.checksum}"'
    assert answer.headers["content-type"] == "text/csv"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["last-modified"] == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert answer.headers["content-disposition"] == "attachment; filename=\"a\"; filename*=UTF-8''a"
    wire.head(f"HEAD {OBJECTS}?path=a")
    head = wire.answer(head=True)
    assert head.status == 200
    for name in ("etag", "content-type", "accept-ranges", "last-modified", "content-length"):
        assert head.headers[name] == answer.headers[name]


@pytest.mark.parametrize(
    ("asked", "status", "reported", "body"),
    [
        ("bytes=0-0", 206, "bytes 0-0/10", b"0"),
        ("bytes=2-4", 206, "bytes 2-4/10", b"234"),
        ("bytes=8-99", 206, "bytes 8-9/10", b"89"),
        ("bytes=-3", 206, "bytes 7-9/10", b"789"),
        ("bytes=-99", 206, "bytes 0-9/10", b"0123456789"),
        ("bytes=10-", 416, "bytes */10", None),
        ("bytes=5-4", 416, None, None),
        ("bytes=0-1,3-4", 416, None, None),
        ("lines=0-1", 400, None, None),
    ],
)
def test_ranges(wire: Wire, engine: FakeEngine, asked: str, status: int, reported: Any, body: Any) -> None:
    engine.put("a", b"0123456789")
    wire.head(f"GET {OBJECTS}?path=a", f"Range: {asked}")
    answer = wire.answer()
    assert (answer.status, answer.headers.get("content-range")) == (status, reported)
    assert body is None or answer.body == body
    wire.head(f"HEAD {OBJECTS}?path=a", f"Range: {asked}")
    head = wire.answer(head=True)
    assert (head.status, head.headers.get("content-range")) == (status, reported)
    assert body is None or head.headers["content-length"] == str(len(body))


def test_not_modified(wire: Wire, engine: FakeEngine) -> None:
    entry = engine.put("a", b"0123456789")
    for sent, status in ((f'"{entry.checksum}"', 304), (entry.checksum, 200), ("*", 200), ('"x"', 200)):
        wire.head(f"GET {OBJECTS}?path=a", f"If-None-Match: {sent}", "Range: bytes=0-0" if status == 304 else "X: y")
        answer = wire.answer()
        assert answer.status == status
    wire.head(f"GET {OBJECTS}?path=a", f'If-None-Match: "{entry.checksum}"')
    answer = wire.answer()
    assert answer.headers["etag"] == f'"{entry.checksum}"'
    assert "content-length" not in answer.headers


def test_missing_objects_and_missing_data(wire: Wire, engine: FakeEngine) -> None:
    for method in ("GET", "HEAD"):
        wire.head(f"{method} {OBJECTS}?path=nope")
        answer = wire.answer(head=method == "HEAD")
        assert answer.status == 404
    engine.put("a", b"x")
    engine.stored["b"] = engine.stored.pop("a")  # its entry points to data that is not there
    wire.head(f"GET {OBJECTS}?path=b")
    answer = wire.answer()
    assert (answer.status, answer.kind) == (410, "object_gone")


def test_presign_is_refused(wire: Wire, engine: FakeEngine) -> None:
    engine.put("a", b"x")
    for target in (f"{OBJECTS}?path=a", f"{OBJECTS}/stat?path=a", f"{OBJECTS}/ls?"):
        wire.head(f"GET {target}&presign=True")
        assert wire.answer().status == 400


def test_a_store_that_gives_too_little_breaks_the_connection(wire: Wire, engine: FakeEngine) -> None:
    engine.put("a", b"x" * 100)
    entry, _ = engine.stored["a"]
    engine.stored["a"] = (entry, b"x" * 60)
    wire.head(f"GET {OBJECTS}?path=a")
    with pytest.raises(EOFError):
        wire.answer()


def test_an_odd_stored_content_type_does_not_break_the_answer(wire: Wire, engine: FakeEngine) -> None:
    engine.put("a", b"x", content_type="bad\r\nX-Evil: 1")
    wire.head(f"GET {OBJECTS}?path=a")
    assert wire.answer().headers["content-type"] == "application/octet-stream"


def test_a_reader_that_leaves_stops_the_stream(
    server: tuple[FakeEngine, int], engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "lakebed.requests")
    engine.put("a", b"x" * (64 * MIB))
    engine.given = 0
    with Wire(server[1]) as wire:
        wire.head(f"GET {OBJECTS}?path=a")
        wire.socket.recv(1000)
        wait_until(lambda: engine.given > 0, "the stream has begun")
    wait_until(lambda: ended_requests(caplog), "the request ends")
    assert engine.given < 60


# paths


@pytest.mark.parametrize(
    ("raw", "status", "branch"),
    [
        ("feature%2Fx", 200, "feature/x"),
        ("a%252Fb", 200, "a%2Fb"),
        ("h%C3%A9", 200, "hé"),
        ("main%7E1", 200, "main~1"),
        ("main~1%5E2", 200, "main~1^2"),
        ("%zz", 400, None),
        ("%00", 400, None),
        ("%FF", 400, None),
        ("a%0Ab", 400, None),
        ("..", 400, None),
        ("%2e%2E", 400, None),
        (".", 400, None),
        ("", 404, None),
        ("a/", 404, None),
    ],
)
def test_raw_paths(wire: Wire, engine: FakeEngine, raw: Any, status: int, branch: str | None) -> None:
    engine.seen.clear()
    wire.head(f"GET /api/v1/repositories/repo/branches/{raw}")
    answer = wire.answer()
    assert answer.status == status
    assert [row[1] for row in engine.seen] == ([branch] if branch else [])


def test_double_slashes_are_not_found(wire: Wire, engine: FakeEngine) -> None:
    for path in ("/api/v1//repositories", "//api/v1/repositories", "/api/v1/repositories//repo"):
        wire.head(f"GET {path}")
        assert wire.answer().status == 404


@pytest.mark.medium
def test_a_root_path_is_stripped_first() -> None:
    with serving(make_app(), root_path="/lake") as port, Wire(port) as wire:
        wire.head("GET /api/v1/repositories/repo/branches/a%2Fb")
        assert wire.answer().json["id"] == "a/b"
        wire.head("GET /_health")
        assert wire.answer().status == 200


# refusals while a body is on its way


def test_a_refusal_of_a_short_body_keeps_the_connection(wire: Wire, engine: FakeEngine) -> None:
    wire.head("POST /api/v1/repositories/repo/branches/nope/objects?path=a", "Content-Length: 1000")
    wire.send(b"x" * 1000)
    answer = wire.answer()
    assert (answer.status, answer.kind) == (404, "branch_not_found")
    assert "connection" not in answer.headers
    wire.head("GET /api/v1/healthcheck")
    assert wire.answer().status == 204


def test_a_refusal_is_read_by_a_client_that_is_still_sending(wire: Wire, engine: FakeEngine) -> None:
    size = 8 * MIB
    wire.head("POST /api/v1/repositories/repo/branches/nope/objects?path=a", f"Content-Length: {size}")
    for _ in range(size // MIB):
        wire.send(b"x" * MIB)
    answer = wire.answer()
    assert (answer.status, answer.kind, answer.headers["connection"]) == (404, "branch_not_found", "close")
    assert wire.closed()


def test_credentials_are_checked_before_the_body(server: tuple[FakeEngine, int], engine: FakeEngine) -> None:
    with Wire(server[1]) as wire:
        wire.send(
            b"POST "
            + UPLOAD.encode()
            + b"?path=a HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"
            + b"x" * 5000
        )
        answer = wire.answer()
        assert (answer.status, answer.headers["connection"]) == (401, "close")


def test_expect_100_is_not_answered_with_continue_when_refused(wire: Wire, engine: FakeEngine) -> None:
    wire.head(
        "POST /api/v1/repositories/repo/branches/nope/objects?path=a", "Content-Length: 100", "Expect: 100-continue"
    )
    answer = wire.answer()
    assert answer.status == 404
    assert wire.closed()


def test_expect_100_is_answered_when_the_body_is_wanted(wire: Wire, engine: FakeEngine) -> None:
    wire.head(f"POST {UPLOAD}?path=a", "Content-Length: 3", "Expect: 100-continue")
    assert wire.answer().status == 100
    wire.send(b"abc")
    assert wire.answer().status == 201


def test_a_store_that_fails_in_the_middle(wire: Wire, engine: FakeEngine) -> None:
    engine.fail = errors.StoreFullError("/srv/disk is full")
    wire.head(f"POST {UPLOAD}?path=a", "Content-Length: 100")
    wire.send(b"x" * 100)
    answer = wire.answer()
    assert (answer.status, answer.kind) == (507, "store_full")
    assert "/srv" not in answer.body.decode()


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(wire: Wire, engine: FakeEngine) -> None:
    wire.head("POST /api/v1/repositories", f"Content-Length: {1 << 40}", "Content-Type: application/json")
    answer = wire.answer()
    assert (answer.status, answer.kind) == (400, "request_too_large")


def test_pipelined_requests_after_a_refusal(wire: Wire, engine: FakeEngine) -> None:
    body = b"{}"
    request = (
        "POST /api/v1/repositories HTTP/1.1\r\nHost: x\r\nAuthorization: Basic eA==\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    wire.send(request + b"GET /api/v1/healthcheck HTTP/1.1\r\nHost: x\r\n\r\n")
    assert wire.answer().status == 401
    assert wire.answer().status == 204
