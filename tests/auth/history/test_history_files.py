"""Readers of the access history open only the files of the days that they ask for."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.errors import NamespaceInUseError
from lakebed_format.keys import HISTORY
from lakebed_server.access_history.recorder import Recorder
from lakebed_server.access_history.rows import SCHEMA, Row, Wanted

from tests.support.counted_files import CountedFiles

DAYS = [dt.datetime(2026, 1, number, 12, tzinfo=dt.UTC) for number in range(1, 11)]


def row(moment: dt.datetime, user: str) -> Row:
    texts = dict.fromkeys((name for name in Row._fields if name not in ("time", "user")), "")
    numbers = {"bytes_in": 0, "bytes_out": 0, "status": 200, "took_us": 1}
    return Row(time=int(moment.timestamp() * 1e6), user=user, **{**texts, **numbers})  # type: ignore[arg-type]


@pytest.fixture
async def recorder(tmp_path: Path) -> AsyncIterator[Recorder]:
    """Ten days with two files each, of users `ana` and `ben`, below `tmp_path/audit`."""
    engine = Engine(MemoryKV(), Stores(tmp_path, durable=False))
    recorder = Recorder(engine, "local://audit")
    for user in ("ana", "ben"):
        for moment in DAYS:
            recorder.record(row(moment, user))
        await recorder.flush()
    yield recorder
    await engine.close()


async def test_pandas_opens_only_the_files_of_its_days(recorder: Recorder, tmp_path: Path) -> None:
    files = CountedFiles()
    frame = pd.read_parquet(
        str(tmp_path / "audit" / HISTORY),
        filesystem=files,
        filters=[("date", ">=", "2026-01-04"), ("date", "<", "2026-01-06"), ("user", "==", "ana")],
        schema=SCHEMA.append(pa.field("date", pa.string())),
    )
    assert list(zip(frame["date"], frame["user"], strict=True)) == [("2026-01-04", "ana"), ("2026-01-05", "ana")]
    days = [path.rpartition("date=")[2].partition("/")[0] for path in files.opened]
    assert sorted(days) == ["2026-01-04", "2026-01-04", "2026-01-05", "2026-01-05"]


async def test_no_repository_is_created_in_the_namespace_of_the_server(tmp_path: Path) -> None:
    engine = Engine(MemoryKV(), Stores(tmp_path, durable=False))
    await engine.repositories.create("sales", "local://sales")
    with pytest.raises(NamespaceInUseError, match="belongs to a repository"):
        await engine.access_history.claim("local://sales")
    for _ in range(2):  # each start
        await engine.access_history.claim("local://audit")
    for may_have_content in (False, True):
        with pytest.raises(NamespaceInUseError, match="the access history of the server"):
            await engine.repositories.create("mine", "local://audit", allow_non_empty=may_have_content)
    await engine.close()


async def test_the_server_reads_only_the_files_of_the_days(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    files = await recorder._files("")
    get = files.read

    async def counting(key: str) -> bytes:
        read.append(key)
        return await get(key)

    async def same(_: str) -> object:
        return files

    monkeypatch.setattr(files, "read", counting)
    monkeypatch.setattr(recorder, "_files", same)
    wanted = Wanted(DAYS[3].timestamp(), DAYS[4].timestamp() + 1, user="ana")
    tables = [table async for table in await recorder.read("", wanted)]
    assert sum(table.num_rows for table in tables) == 2
    assert sorted(key.removeprefix(HISTORY)[:15] for key in read) == [
        *["date=2026-01-04"] * 2,
        *["date=2026-01-05"] * 2,
    ]
