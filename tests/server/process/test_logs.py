"""The server's log: one line per event and per request, as text or JSON, at the level that the settings name."""

import io
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.vocabulary.errors import StoreFullError
from lakebed_server.http.request import Call
from lakebed_server.http.request_cycle import level_of
from lakebed_server.process import logs
from lakebed_server.process.app import create_app
from lakebed_server.process.logs import LineFormatter, LogHandler
from lakebed_server.rest import errors as rest_errors
from lakebed_server.s3.responses import errors as s3_errors
from lakebed_server.vocabulary import Message, StartError

from tests.server.support import KEY_ID, OBJECTS, UPLOAD, FakeEngine, ask, log_to_stream, make_app, services


@pytest.fixture(autouse=True)
def _restore() -> Any:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    yield
    for handler in [h for h in root.handlers if h not in before[1]]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(before[0])
    logging.disable(logging.NOTSET)
    for name in ("lakebed", "uvicorn", "python_multipart"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_each_request_is_logged_in_a_single_line() -> None:
    engine = FakeEngine()
    engine.put("secret/path", b"12345")
    with log_to_stream("DEBUG", "json") as stream:
        answer = ask(make_app(engine), OBJECTS + "?path=secret%2Fpath", x_request_id="job-1", user_agent="tool/1")
    (line,) = lines(stream.getvalue())
    assert line.pop("time").endswith("Z")
    assert line.pop("ms") > 0
    assert line == {
        "level": "INFO",
        "message": "request",
        "method": "GET",
        "path": OBJECTS,
        "operation": "getObject",
        "status": 200,
        "received": 0,
        "sent": 5,
        "user": "admin",
        "access_key_id": KEY_ID,
        "address": "192.0.2.1",
        "user_agent": "tool/1",
        "request_id": answer.headers["x-request-id"],
    }


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("DEBUG", [200, 201, 404, 401, 500]),
        ("INFO", [201, 404, 401, 500]),
        ("WARN", [500]),
        ("ERROR", [500]),
        ("NONE", []),
    ],
)
def test_levels(level: str, expected: list[int]) -> None:
    engine = FakeEngine()
    engine.put("a", b"x")
    app = make_app(engine)
    with log_to_stream(level, "json") as stream:
        ask(app, OBJECTS + "?path=a")
        ask(app, UPLOAD + "?path=b", "POST", b"data")
        ask(app, OBJECTS + "?path=nope")
        ask(app, OBJECTS + "?path=a", auth=False)
        engine.fail = RuntimeError("x")
        ask(app, OBJECTS + "?path=a")
    assert [line["status"] for line in lines(stream.getvalue())] == expected


@pytest.mark.parametrize(
    ("method", "status", "is_slow", "level"),
    [
        ("GET", 200, False, logging.DEBUG),
        ("GET", 200, True, logging.WARNING),
        ("GET", 404, False, logging.INFO),
        ("POST", 201, False, logging.INFO),
        ("POST", 201, True, logging.WARNING),
        ("GET", 503, True, logging.ERROR),
    ],
)
def test_the_level_of_a_request(method: str, status: int, is_slow: bool, level: int) -> None:
    assert level_of(method, status, is_slow=is_slow) == level


@pytest.mark.parametrize(("bound", "message"), [(1e-9, "slow request"), (60.0, "request"), (0.0, "request")])
def test_slow_requests_have_a_line_of_their_own(bound: float, message: str) -> None:
    app = create_app(replace(services(FakeEngine()), slow_request=bound))
    with log_to_stream("INFO", "json") as stream:
        ask(app, UPLOAD + "?path=b", "POST", b"data")
    (line,) = lines(stream.getvalue())
    assert line["message"] == message
    assert line["level"] == ("WARN" if message == "slow request" else "INFO")
    assert line["operation"] == "uploadObject"


@pytest.mark.parametrize(("error", "has_trace"), [(StoreFullError("no space"), False), (RuntimeError("x"), True)])
@pytest.mark.parametrize("style", ["rest", "s3"])
def test_a_full_disk_writes_no_traceback(
    error: Exception, has_trace: bool, style: str, caplog: pytest.LogCaptureFixture
) -> None:
    respond = rest_errors.respond if style == "rest" else s3_errors.respond
    scope = {"type": "http", "method": "PUT", "path": "/a", "headers": [], "scheme": "http", "client": ("::1", 1)}

    async def receive() -> Message:
        raise AssertionError("no body is read")

    respond(error, Call(scope, receive, services(FakeEngine())))
    (record,) = caplog.records
    assert bool(record.exc_info) == has_trace
    assert ("no space" in record.getMessage()) != has_trace


def test_text_lines_quote_what_needs_it() -> None:
    fields = {"path": "/a", "user": "Ann B", "odd": 'q"\n', "none": ""}
    record = logging.makeLogRecord({"msg": "request", "levelno": 20, "levelname": "INFO", "fields": fields})
    line = LineFormatter("text").format(record)
    assert line.endswith('INFO  request path=/a user="Ann B" odd="q\\"\\n" none=""')
    assert line.count("\n") == 0


def test_configure(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "lake.log"
    logs.configure("json", "INFO", str(path))
    logging.getLogger("lakebed.server").warning("hello %s", "you", extra={"request_id": "r1"})
    logging.getLogger("lakebed.server").debug("not this")
    logging.getLogger("other").debug("not this")
    try:
        raise RuntimeError("boom")
    except RuntimeError:
        logging.getLogger("lakebed.server").exception("failed")
    first, second = lines(path.read_text())
    assert (first["message"], first["request_id"], first["level"]) == ("hello you", "r1", "WARN")
    assert "RuntimeError: boom" in second["traceback"]
    assert path.stat().st_mode & 0o777 == 0o600
    logs.configure("text", "NONE", "-")
    assert not logging.getLogger("lakebed.server").isEnabledFor(logging.ERROR)


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"change logging\.output"):
        logs.configure("text", "INFO", str(tmp_path))


def test_the_log_goes_on_in_the_old_file_when_the_new_one_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "lake.log"
    handler = logs.configure("text", "INFO", str(path))
    assert handler is not None
    moved = path.rename(tmp_path / "lake.log.1")
    path.mkdir()
    handler.reopen()
    assert "logging continues in the old file" in moved.read_text()
    path.rmdir()
    handler.reopen()
    logging.getLogger("lakebed.server").warning("in the new one")
    assert "in the new one" in path.read_text()


def test_a_broken_output_stops_nothing(tmp_path: Path) -> None:
    class Full(io.StringIO):
        full = True

        def write(self, text: str) -> int:
            if self.full:
                raise OSError(28, "No space left on device")
            return super().write(text)

    handler = LogHandler(str(tmp_path / "lake.log"), "text")
    stream = Full()
    before = handler.setStream(stream)
    assert before is not None
    before.close()
    warning = logging.makeLogRecord({"msg": "there is room again", "levelno": 30, "levelname": "WARNING"})
    handler.handle(logging.makeLogRecord({"msg": "lost", "levelno": 30, "levelname": "WARNING"}))
    stream.full = False
    handler.handle(warning)
    [said] = stream.getvalue().splitlines()
    assert "there is room again" in said
    stream.close()
    handler.handle(warning)
    handler.close()
