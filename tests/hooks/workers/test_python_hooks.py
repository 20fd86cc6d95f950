"""Python checks in a process of their own: what they get, and what they return."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lakebed_hooks.reading import File, Side

from tests.hooks.workers.running import CHECKS, LAKE, MODULE, Lake, called, parquet, ran

pytestmark = pytest.mark.slow


async def test_a_check_that_passes() -> None:
    outcome, log = await called("passes", {"what": "orders"})
    assert (outcome.state, outcome.message, outcome.details) == ("passed", "", ())
    assert log == b"checked sales orders\n"


async def test_a_check_reads_both_sides_and_refuses() -> None:
    outcome, _ = await called("refuses")
    changes = "[('orders/a.parquet', 'changed'), ('orders/b.parquet', 'added')]"
    assert outcome.state == "refused"
    assert outcome.message == f"3 rows, before 1, {changes},  end!, hello"
    assert outcome.details == (
        {"file": "orders/a.parquet", "rows": len(parquet(id=[1, 2]))},
        {"file": "orders/b.parquet", "rows": len(parquet(id=[3]))},
    )


async def test_a_missing_file() -> None:
    outcome, _ = await called("missing")
    assert outcome.message == "there is no file 'orders/none.parquet' in the candidate"


async def test_a_check_that_a_package_names_in_its_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "packages/acme_rules-1.0.dist-info"
    made.mkdir(parents=True)
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text(f"[lakebed.hooks]\nno-pii = {MODULE}:passes\n")
    monkeypatch.setenv("PYTHONPATH", f"{CHECKS}{os.pathsep}{made.parent}")
    assert (await called("", entry="no-pii"))[0].state == "passed"
    refused, _ = await called("", entry="no-pii", allow=["acme"])
    assert refused.state == "error"
    assert "is not allowed" in refused.message


async def test_a_check_has_nothing_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_SECRET", "top-secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "top-secret")
    monkeypatch.chdir(tmp_path)
    limits = ["RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE"]
    outcome, _ = await called("shows_its_surroundings", {"limits": limits}, seconds=40, memory=1 << 30)
    [found] = outcome.details
    assert "top-secret" not in str(found)
    assert set(found["environment"]) <= {
        "PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "LANG", "LC_ALL", "LC_CTYPE", "TZDIR", "VIRTUAL_ENV", "HOME", "TMPDIR",
        "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "ARROW_DEFAULT_MEMORY_POOL", "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS", "MALLOC_ARENA_MAX",
    }  # fmt: skip
    assert found["cwd"].startswith(f"{tmp_path}/lakebed-hook-")
    assert not {"", ".", found["cwd"], str(tmp_path)} & set(found["path"])
    assert found["limits"] == {
        "RLIMIT_AS": [1 << 30] * 2,
        "RLIMIT_CPU": [81, 81],
        "RLIMIT_NOFILE": [256, 256],
        "RLIMIT_FSIZE": [64 << 20] * 2,
        "RLIMIT_CORE": [0, 0],
    }
    assert found["no_new_privs"] is True
    assert len(found["files"]) <= 5  # standard input, output and error, the pipe, and the list of files itself


async def test_a_temporary_file_is_removed_with_its_folder() -> None:
    outcome, _ = await called("writes_a_file")
    assert "lakebed-hook-" in outcome.message
    assert not Path(outcome.message).exists()


class Broken(Lake):
    """A lake whose storage fails."""

    async def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        raise RuntimeError("the bucket is on fire")

    async def list(self, side: Side, prefix: str, after: str) -> Sequence[File]:
        return await LAKE.list(side, prefix, after)


@pytest.mark.parametrize("kind", ["python", "contract"])
async def test_a_lake_that_cannot_be_read_is_an_error_and_no_refusal(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    properties: dict[str, Any] = {"entry": f"{MODULE}:refuses"}
    if kind == "contract":
        properties = {"path": "orders/*.parquet", "schema": {"id": "int64"}, "only_changed": False}
    with caplog.at_level(logging.ERROR, "lakebed.hooks"):
        outcome, _ = await ran(kind, properties, lake=Broken({}), allow=[MODULE])
    assert outcome.state == "error"
    assert outcome.message.startswith("the server could not read what the hook asked for")
    assert "the bucket is on fire" in caplog.text


async def test_a_contract_reads_the_lake_through_the_pipe() -> None:
    checks = [{"unique": ["id"]}, {"rows": {"max_change": 1.0}}]
    outcome, log = await ran("contract", {"path": "orders/*.parquet", "schema": {"id": "int64"}, "checks": checks})
    assert outcome.state == "refused"
    assert outcome.message == (
        "the contract for 'orders/*.parquet' is broken: rows refused: the files have 3 rows, +200.0% of the 1 rows"
        " of the destination, at most 100.0%"
    )
    assert log.startswith(b"contract for orders/*.parquet: 2 files checked\n3 results passed, 1 refused\n")


async def test_a_contract_opens_local_files(tmp_path: Path) -> None:
    class Local(Lake):
        async def local(self, side: Side, path: str) -> str | None:
            return str(tmp_path / "object-1")

    data = parquet(id=[1, 2, None])
    (tmp_path / "object-1").write_bytes(data)
    lake = Local({"orders/a.parquet": data})
    outcome, _ = await ran("contract", {"path": "orders/*", "checks": [{"not_null": ["id"]}]}, lake=lake)
    assert outcome.details[0]["values"] == [{"row": 2, "value": None}]
    assert lake.reads == 0


async def test_a_file_that_ends_the_process_is_named() -> None:
    """A footer in which one byte is damaged: pyarrow ends the process, by a C++ error that no code catches."""
    data = parquet(id=[1, 2, 3])
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    bad = bytearray(data)
    bad[footer + 36] = 0
    outcome, _ = await ran(
        "contract", {"path": "*", "checks": [{"not_null": ["id"]}]}, lake=Lake({"bad.parquet": bytes(bad)})
    )
    assert (outcome.state, outcome.message) == (
        "error",
        "the hook was ended by SIGABRT after it read 'bad.parquet', before it answered",
    )
