from typing import Any

import pytest
from lakebed_engine.vocabulary.errors import InvalidRangeError
from lakebed_server.streaming.ranges import parse_range
from lakebed_server.vocabulary import RequestError


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
def test_satisfied(header: str, start: int, length: int) -> None:
    assert parse_range(header, 1000) == (start, length)


@pytest.mark.parametrize(
    ("header", "size", "told"),
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
def test_not_satisfiable(header: str, size: int, told: Any) -> None:
    with pytest.raises(InvalidRangeError) as caught:
        parse_range(header, size)
    assert caught.value.size == told


@pytest.mark.parametrize(
    "header", ["", "0-1", "bytes=", "bytes=a-b", "items=0-1", "bytes=0", "bytes=0-1;", "bytes=٣-٤"]
)
def test_no_range_at_all(header: str) -> None:
    with pytest.raises(RequestError):
        parse_range(header, 1000)
