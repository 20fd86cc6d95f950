"""Delta tables: a ref has the rows that deltalake reads, and what cannot be read is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import lakebed
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from lakebed_server.tables import delta
from lakebed_server.tables.files import Source
from lakebed_server.tables.messages import DeltaRequest, TableError
from lakebed_server.tables.parts import Kept

from tests.server.tables.support import Files
from tests.support.processes.server import RunningServer, running_server

PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
METADATA = {"metaData": {"id": "1", "partitionColumns": ["day"], "configuration": {}}}


def add(path: str, **more: Any) -> dict[str, Any]:
    return {"add": {"path": path, "partitionValues": {"day": "1"}, "size": 1, **more}}


def replayed(*commits: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    lines = ["\n".join(map(json.dumps, commit)).encode() for commit in commits]
    files = Files({f"t/_delta_log/{number:020}.json": data for number, data in enumerate(lines)})
    request = DeltaRequest("t/", files.described(), 0, 1 << 20)
    made = delta.files_of(request, Source(request.files, request.most_bytes, files.fetch), Kept())
    return [(one.path, one.place) for one in made.files]


def test_a_log_is_replayed_in_order() -> None:
    first: list[Any] = [PROTOCOL, METADATA, add("day=1/a%20b.parquet"), add("day=1/c.parquet")]
    second: list[dict[str, Any]] = [
        {"remove": {"path": "day=1/c.parquet"}},
        add("d.parquet", partitionValues={"day": None}),
    ]
    third: list[dict[str, Any]] = [add("day=1/c.parquet"), {"remove": {"path": "day=1/c.parquet"}}, {"commitInfo": {}}]
    assert replayed(first, second, third) == [
        ("d.parquet", "day=__HIVE_DEFAULT_PARTITION__/d.parquet"),
        ("day=1/a b.parquet", "day=1/a b.parquet"),
        ("day=1/c.parquet", "day=1/c.parquet"),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (add("x.parquet", deletionVector={"storageType": "u", "pathOrInlineDv": "x"}), "deletion vectors"),
        (
            {"metaData": {"partitionColumns": [], "configuration": {"delta.columnMapping.mode": "name"}}},
            "uses column mapping",
        ),
        ({"protocol": {"minReaderVersion": 3, "readerFeatures": ["typeWidening"]}}, "newer reader [(]typeWidening"),
        ({"protocol": {"minReaderVersion": 4}}, "newer reader [(]version 4"),
        (add("s3://other/x.parquet"), "files of another table"),
        (add("/etc/passwd"), "files of another table"),
        ({"add": {"size": 1}}, "damaged"),
        ({"metaData": 7}, "damaged"),
    ],
)
def test_what_plain_files_do_not_show_is_refused(line: dict[str, Any], why: str) -> None:
    with pytest.raises(TableError, match=why) as caught:
        replayed([PROTOCOL, METADATA, add("a.parquet")], [line])
    assert caught.value.kind == "unreadable_table"


def test_a_log_without_a_description_and_no_json_are_refused() -> None:
    with pytest.raises(TableError, match="does not describe it"):
        replayed([PROTOCOL, add("a.parquet")])
    files = Files({"t/_delta_log/00000000000000000000.json": b"{"})
    request = DeltaRequest("t/", files.described(), 0, 1 << 20)
    with pytest.raises(TableError, match="is damaged"):
        delta.files_of(request, Source(request.files, request.most_bytes, files.fetch), Kept())


def test_more_files_than_a_table_may_have() -> None:
    rows = [add(f"{number}.parquet") for number in range(delta.MOST_FILES + 1)]
    with pytest.raises(TableError, match="too large") as caught:
        replayed([PROTOCOL, METADATA, *rows])
    assert caught.value.kind == "table_too_large"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory, environment={"LAKEBED_TABLES_TIME": "60s"}) as server:
        yield server


@pytest.fixture(scope="module")
def repo(server: RunningServer) -> Iterator[lakebed.Repository]:
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        yield lake.repository("delta").create("local://delta")


def rows(start: int, count: int) -> pa.Table:
    ids = list(range(start, start + count))
    return pa.table(
        {"id": ids, "city": [["a b", "ü/x", None][one % 3] for one in ids], "value": [one / 2 for one in ids]}
    )


def stored(branch: lakebed.Branch, folder: Path) -> None:
    """Make the branch have the files of a folder."""
    files = {f"orders/{one.relative_to(folder)}": one for one in folder.rglob("*") if one.is_file()}
    for path, file in files.items():
        branch.put(path, file.read_bytes())


def expected(folder: Path) -> list[tuple[Any, ...]]:
    found = DeltaTable(str(folder)).to_pyarrow_table().select(["id", "value", "city"]).to_pylist()
    return sorted(tuple(row.values()) for row in found)


@pytest.mark.slow
def test_rows_at_each_ref_are_those_of_deltalake(repo: lakebed.Repository, tmp_path: Path) -> None:
    main, folder = repo.branch("main"), tmp_path / "orders"
    versions: dict[str, list[tuple[Any, ...]]] = {}

    def keep(name: str) -> None:
        stored(main, folder)
        main.commit(name)
        repo.tag(name).create("main")
        versions[name] = expected(folder)

    write_deltalake(str(folder), rows(0, 6), partition_by=["city"])
    keep("first")
    write_deltalake(str(folder), rows(6, 6), mode="append")
    DeltaTable(str(folder)).delete("id = 3")
    keep("deleted")
    DeltaTable(str(folder)).create_checkpoint()
    keep("checkpoint")
    write_deltalake(str(folder), rows(20, 3), mode="append")
    keep("after")
    write_deltalake(str(folder), rows(100, 2), mode="overwrite")
    keep("overwritten")
    for name, wanted in versions.items():
        page = repo.tag(name).table_page(
            "orders/", limit=200, columns=["id", "value", "city"], order="id", statistics=True
        )
        assert sorted(page.rows) == wanted, name
        assert page.total_rows == len(wanted)
        assert page.statistics[0].minimum == wanted[0][0]
    assert len(versions["overwritten"]) == 2
    changed = repo.tag("first").diff("deleted").table_page("orders/", key="id")
    assert (changed.added, changed.removed) == (6, 1)


@pytest.mark.slow
def test_logs_with_gaps_and_missing_files_are_refused(repo: lakebed.Repository, tmp_path: Path) -> None:
    branch, folder = repo.branch("gaps").create("main"), tmp_path / "orders"
    branch.delete_many([one.path for one in branch.list("orders/")])
    for number in range(3):
        write_deltalake(str(folder), rows(number, 1), mode="append")
    stored(branch, folder)
    assert branch.table_page("orders/").total_rows == 3
    data = next(one.path for one in branch.list("orders/") if one.path.endswith(".parquet"))
    content = branch.get(data)
    branch.delete(data)
    with pytest.raises(lakebed.TableFormatError, match="which 'gaps' does not have"):
        branch.table_page("orders/")
    branch.put(data, content)
    branch.delete("orders/_delta_log/00000000000000000001.json")
    with pytest.raises(lakebed.TableFormatError, match="versions are missing"):
        branch.table_page("orders/")
