"""How the files of a table are fetched through the server: in how many requests, and what is held in memory."""

from __future__ import annotations

import datetime as dt
import io
from collections import Counter
from collections.abc import Iterator
from typing import Any

import lakebed
import lakebed_testing
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed import errors
from lakebed._async.http.transport import Transport as AsyncTransport
from lakebed._sync.http.transport import Transport
from lakebed._tables import ranged_read, reading
from lakebed._tables.ranged_read import Ranged
from lakebed.model import ObjectInfo

from tests.sdk.doors import Door
from tests.sdk.forks import in_a_fork

SMALL, MIDDLE, LARGE = 1_000, 30_000, 200_000
"""Rows of 16 bytes that do not compress: 16 KiB, half a MiB, 3 MiB."""


@pytest.fixture(scope="module")
def server() -> Iterator[lakebed_testing.LakebedServer]:
    with lakebed_testing.server() as started:
        yield started


@pytest.fixture
def repo(server: lakebed_testing.LakebedServer) -> Iterator[lakebed.Repository]:
    with server.connect() as lake:
        yield lake.repository("repo").create("mem://repo")
    server.reset()


class Seen:
    """The ranges that were asked for, a repeated one each time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ranges: list[tuple[str, int, int]] = []
        for transport in (AsyncTransport, Transport):
            monkeypatch.setattr(transport, "_send", self._recorded(transport._send))

    def _recorded(self, send: Any) -> Any:
        def sent(transport: Any, call: Any, *rest: Any, **more: Any) -> Any:
            if "Range" in call.headers:
                first, _, last = str(call.headers["Range"]).removeprefix("bytes=").partition("-")
                self.ranges.append((call.params["path"], int(first), int(last) + 1))
            return send(transport, call, *rest, **more)

        return sent

    def per_file(self) -> list[int]:
        """How many requests each file took."""
        return sorted(Counter(path for path, _, _ in self.ranges).values())


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    return Seen(monkeypatch)


def file_of(rows: int, **options: Any) -> bytes:
    random, sink = np.random.default_rng(rows), io.BytesIO()
    table = pa.table({name: random.integers(0, 1 << 62, rows) for name in ("x", "y")})
    pq.write_table(table, sink, use_dictionary=False, **options)
    return sink.getvalue()


def put_table(repo: lakebed.Repository, rows: int, files: int = 3, **options: Any) -> dict[str, int]:
    """Stage a table, and say how large its files are."""
    content = {f"t/{number}.parquet": file_of(rows, **options) for number in range(files)}
    repo.branch("main").put_many(content)
    return {path: len(data) for path, data in content.items()}


def through(door: Door, server: lakebed_testing.LakebedServer, body: Any) -> None:
    async def go(lake: Any) -> None:
        await body(lake.repository("repo").branch("main"))

    door.run(go, endpoint=server.endpoint, key=server.access_key_id, secret=server.secret_access_key)


@pytest.mark.parametrize(("rows", "requests"), [(SMALL, 1), (MIDDLE, 1), (LARGE, 2)])
def test_all_columns_take_one_request_of_a_small_file_and_two_of_a_large_one(
    rows: int, requests: int, door: Door, server: Any, repo: lakebed.Repository, seen: Seen
) -> None:
    sizes = put_table(repo, rows)

    async def body(main: Any) -> None:
        assert (await main.read_table("t")).num_rows == 3 * rows
        assert seen.per_file() == [requests] * 3
        seen.ranges.clear()
        assert sum([batch.num_rows async for batch in main.scan_table("t")]) == 3 * rows
        assert seen.per_file() == [requests] * 3
        reported: list[Any] = []
        await main.read_table("t", progress=reported.append)
        assert reported[-1].bytes >= sum(sizes.values())

    through(door, server, body)


def test_only_requested_columns_of_a_larger_file_are_fetched(
    door: Door, server: Any, repo: lakebed.Repository, seen: Seen
) -> None:
    size = put_table(repo, MIDDLE, 1)["t/0.parquet"]

    async def body(main: Any) -> None:
        assert (await main.scan_table("t").schema()).names == ["x", "y"]
        assert await main.scan_table("t").count_rows() == MIDDLE
        assert sum(end - start for _, start, end in seen.ranges) < size / 2
        seen.ranges.clear()
        assert (await main.read_table("t", columns=["y"])).num_rows == MIDDLE
        assert sum(end - start for _, start, end in seen.ranges) < size * 2 / 3

    through(door, server, body)


def test_small_row_groups_are_fetched_together_and_large_ones_alone(
    repo: lakebed.Repository, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table(repo, LARGE, 1, row_group_size=LARGE // 10)
    scan = repo.branch("main").scan_table("t", batch_size=LARGE)
    expected = scan.to_table().column("x").to_pylist()
    for most, requests in ((reading._AT_ONCE_BYTES, 1), (1 << 20, 4), (1, 10)):
        monkeypatch.setattr(reading, "_AT_ONCE_BYTES", most)
        seen.ranges.clear()
        assert [x for batch in scan for x in batch.column("x").to_pylist()] == expected
        assert len(seen.ranges) == 1 + requests  # the footer, and the rows


def test_filter_skips_row_groups_between_others(repo: lakebed.Repository) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"x": [1] * 10 + [2] * 10 + [1] * 10, "n": range(30)}), sink, row_group_size=10)
    repo.branch("main").put("t/0.parquet", sink.getvalue())
    scan = repo.branch("main").scan_table("t", filters=[("x", "=", 1)])
    assert [n for batch in scan for n in batch.column("n").to_pylist()] == [*range(10), *range(20, 30)]


@pytest.mark.parametrize("rows", [SMALL, LARGE])
def test_failed_range_is_requested_again(
    rows: int, door: Door, server: Any, repo: lakebed.Repository, seen: Seen
) -> None:
    put_table(repo, rows)

    async def body(main: Any) -> None:
        server.faults.unavailable("getObject")
        server.faults.drop_answer("getObject", skip=1)
        assert (await main.read_table("t")).num_rows == 3 * rows

    through(door, server, body)
    assert sum(seen.per_file()) == 2 + 3 * (1 if rows == SMALL else 2)


def test_file_replaced_during_a_scan_raises(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    put_table(repo, LARGE)
    opened = main.scan_table("t").to_reader()  # has seen the footers
    other = bytearray(file_of(LARGE))
    other[1 << 20] ^= 1
    main.put("t/1.parquet", bytes(other))
    with pytest.raises(errors.PreconditionFailedError, match=r"t/1\.parquet changed while it was being read"):
        opened.read_all()


def test_cache_of_small_files_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranged_read, "KEPT", 250)
    asked: list[tuple[str, int, int]] = []

    def read_range(path: str, start: int, length: int, checksum: str) -> pa.Buffer:
        asked.append((path, start, length))
        return pa.py_buffer(bytes(range(start, start + length)))

    files = Ranged(read_range, small=100)
    for name in ("a", "b", "c"):
        info = ObjectInfo(name, 100, "sum", dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
        for _ in range(2):
            with files.open(info) as file:
                file.seek(90)
                assert bytes(file.read(5)) == bytes(range(90, 95))
    assert asked == [("a", 0, 100), ("b", 0, 100), ("c", 90, 5), ("c", 90, 5)]


def test_forked_child_opens_its_own_connection(repo: lakebed.Repository, seen: Seen) -> None:
    put_table(repo, LARGE, 1)
    main = repo.branch("main")

    def read() -> tuple[int, int]:
        seen.ranges.clear()
        return main.read_table("t").num_rows, len(seen.ranges)

    assert read() == (LARGE, 2)
    for _ in range(2):
        assert in_a_fork(read) == (LARGE, 2)
    assert read() == (LARGE, 2)  # the parent's connections were left alone


def test_closed_lake_refuses_reads(server: Any, repo: lakebed.Repository) -> None:
    put_table(repo, LARGE, 1)
    with server.connect() as lake:
        reader = lake.repository("repo").branch("main").scan_table("t").to_reader()
    with pytest.raises(errors.ConfigurationError, match="closed"):
        reader.read_all()
