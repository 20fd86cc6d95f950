import threading
import time
from typing import Any

import pytest
from lakebed_engine.vocabulary.errors import InvalidRangeError
from lakebed_server.http.ranges import parse_range, part_of
from lakebed_server.vocabulary import RequestError

from tests.server.support import OBJECTS, FakeEngine, Wire, make_app, serving


@pytest.mark.parametrize(
    ("header", "start", "length"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-99", 0, 100),
        ("bytes=0-999", 0, 1000),
        ("bytes=0-1000", 0, 1000),
        ("bytes=990-99999999999999999999999", 990, 10),
        ("bytes=999-", 999, 1),
        ("bytes=0-", 0, 1000),
        ("bytes=-1", 999, 1),
        ("bytes=-1000", 0, 1000),
        ("bytes=-5000", 0, 1000),
        ("bytes=007-008", 7, 2),
    ],
)
def test_valid_ranges_are_parsed(header: str, start: int, length: int) -> None:
    assert parse_range(header, 1000) == (start, length)


@pytest.mark.parametrize(
    ("header", "size", "reported"),
    [
        ("bytes=1000-", 1000, 1000),
        ("bytes=1000-1001", 1000, 1000),
        ("bytes=99999999999999999999999-", 1000, 1000),
        ("bytes=-0", 1000, 1000),
        ("bytes=0-0", 0, 0),
        ("bytes=0-", 0, 0),
        ("bytes=-5", 0, 0),
        ("bytes=5-4", 1000, None),
        ("bytes=-", 1000, None),
        ("bytes=0-1,3-4", 1000, None),
        ("bytes=0-1, 3-4", 1000, None),
    ],
)
def test_not_satisfiable(header: str, size: int, reported: Any) -> None:
    with pytest.raises(InvalidRangeError) as caught:
        parse_range(header, size)
    assert caught.value.size == reported


@pytest.mark.parametrize(
    "header",
    [
        *("", "0-1", "bytes=", "bytes=a-b", "items=0-1", "bytes=0", "bytes=0-1;", "bytes=٣-٤", "bytes=0-1-2"),
        *("bytes=0-1,", "bytes=" + "0" * 122 + "-", "bytes=" + "0-1," * 40 + "0-1", "bytes=" + "-1" * 24 + "x"),
    ],
)
def test_no_range_at_all(header: str) -> None:
    with pytest.raises(RequestError):
        parse_range(header, 1000)


def test_a_range_in_a_body_is_named_by_its_field() -> None:
    assert part_of("body copy_source.range", "", 1000) == (0, 1000)
    assert part_of("body copy_source.range", "bytes=5-9", 1000) == (5, 5)
    for text in ("bytes=a", "bytes=5-4", "bytes=" + "-1" * 2000 + "x"):
        with pytest.raises(RequestError, match=r"body copy_source\.range"):
            part_of("body copy_source.range", text, 1000)


@pytest.mark.medium
@pytest.mark.parametrize("header", ["bytes=" + "-1" * 24 + "x", "bytes=" + "-1" * 61 + "x", "bytes=" + "1-1, " * 9000])
def test_no_range_header_holds_up_the_server(header: str) -> None:
    engine = FakeEngine()
    engine.put("a", b"x" * 100)
    waited: list[float] = []
    with serving(make_app(engine)) as port, Wire(port) as one, Wire(port) as other:
        other.head("GET /_health")
        assert other.answer().status == 200
        done = threading.Event()

        def look() -> None:
            while not (waited and done.is_set()):
                started = time.perf_counter()
                other.head("GET /_health")
                assert other.answer().status == 200
                waited.append(time.perf_counter() - started)

        looking = threading.Thread(target=look)
        looking.start()
        started = time.perf_counter()
        for method in ("GET", "HEAD"):
            one.head(f"{method} {OBJECTS}?path=a", f"Range: {header}")
            assert one.answer(head=method == "HEAD").status == 400
        took = time.perf_counter() - started
        done.set()
        looking.join()
    assert took < 1
    assert max(waited) < 1
