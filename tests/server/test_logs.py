import asyncio
import io
import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest
from lakebed_server.process import logs
from lakebed_server.process.logs import LEVELS, RequestLog, Sink
from lakebed_server.vocabulary import StartError

from tests.server.support import KEY_ID, OBJECTS, UPLOAD, FakeEngine, ask, make_app
from tests.support.waiting import until


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


def logged(level: Any = "DEBUG", style: Any = "json") -> Any:
    stream = io.StringIO()
    return stream, RequestLog(Sink(stream, style), LEVELS[level])


def lines(stream: Any) -> Any:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_one_line_for_each_request() -> None:
    engine = FakeEngine()
    engine.put("secret/path", b"12345")
    stream, log = logged()
    app = make_app(engine, request_log=log)
    answer = ask(app, OBJECTS + "?path=secret%2Fpath", x_request_id="job-1", user_agent="tool/1")
    log.flush()
    (line,) = lines(stream)
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
    stream, log = logged(level)
    app = make_app(engine, request_log=log)
    ask(app, OBJECTS + "?path=a")
    ask(app, UPLOAD + "?path=b", "POST", b"data")
    ask(app, OBJECTS + "?path=nope")
    ask(app, OBJECTS + "?path=a", auth=False)
    engine.fail = RuntimeError("x")
    ask(app, OBJECTS + "?path=a")
    log.flush()
    assert [line["status"] for line in lines(stream)] == expected


def test_slow_reads_are_logged_at_info() -> None:
    assert RequestLog(Sink(io.StringIO()), LEVELS["INFO"]).wants("GET", 200, 1.5)


def test_text_lines_quote_what_needs_it() -> None:
    stream, log = logged(style="text")
    log.write({"path": "/a", "user": "Ann B", "odd": 'q"\n', "none": ""}, 200)
    log.flush()
    line = stream.getvalue()
    assert line.endswith('INFO  request path=/a user="Ann B" odd="q\\"\\n" none=""\n')
    assert line.count("\n") == 1


def test_lines_of_requests_are_written_together_and_warnings_at_once() -> None:
    stream = io.StringIO()
    sink = Sink(stream)

    async def job() -> Any:
        sink.write(20, "request", {}, now=False)
        assert stream.getvalue() == ""
        sink.write(30, "careful", {})
        assert stream.getvalue().count("\n") == 2
        sink.write(20, "request", {}, now=False)
        await until(lambda: stream.getvalue().count("\n") == 3, "the last line is written")

    asyncio.run(job())


def test_configure(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "lake.log"
    log = logs.configure("json", "INFO", str(path))
    logging.getLogger("lakebed.server").warning("hello %s", "you", extra={"request_id": "r1"})
    logging.getLogger("lakebed.server").debug("not this")
    logging.getLogger("other").debug("not this")
    try:
        raise RuntimeError("boom")
    except RuntimeError:
        logging.getLogger("lakebed.server").exception("failed")
    log.flush()
    first, second = lines(io.StringIO(path.read_text()))
    assert (first["message"], first["request_id"], first["level"]) == ("hello you", "r1", "WARN")
    assert "RuntimeError: boom" in second["traceback"]
    logs.configure("text", "NONE", "-")
    assert not logging.getLogger("lakebed.server").isEnabledFor(logging.ERROR)


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"change logging\.output"):
        logs.configure("text", "INFO", str(tmp_path))


def test_a_broken_output_stops_nothing() -> None:
    class Full(io.StringIO):
        full = True

        def write(self, text: str) -> int:
            if self.full:
                raise OSError(28, "No space left on device")
            return super().write(text)

    stream = Full()
    sink = Sink(stream)
    sink.write(30, "lost", {})
    stream.full = False
    sink.write(30, "there is room again", {})
    [said] = stream.getvalue().splitlines()
    assert "there is room again" in said
    stream.close()
    sink.write(30, "nobody hears it", {})


def test_a_line_is_made_in_few_steps() -> None:
    """Counted, since the machine may be slow: every request pays for one."""
    _, log = logged(style="text")
    fields = dict.fromkeys(("method", "path", "operation", "user", "request_id"), "/api/v1/x")
    log.write(fields, 200)  # the first line of a second makes the words for that second
    calls: list[str] = []
    sys.setprofile(lambda frame, event, _: calls.append(event) if event.endswith("call") else None)
    try:
        log.write(fields, 200)
    finally:
        sys.setprofile(None)
    assert 0 < len(calls) < 50, len(calls)
