"""readTable: a real server, by HTTP, the SDK and the command."""

from __future__ import annotations

import io
from collections.abc import Iterator

import lakebed
import lakebed.aio
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.support import Command
from tests.support.processes.server import RunningServer, running_server

pytestmark = pytest.mark.slow

MARKUP = "t/<img src=x onerror=alert(1)>.csv"
RTL = "t/\u202egnp.تقرير.csv"
EMOJI = "t/😀.csv"
LONG = "t/" + "n" * 1018 + ".csv"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    environment = {"LAKEBED_TABLES_TIME": "60s", "LAKEBED_TABLES_READ": "1MiB", "LAKEBED_LOGGING_LEVEL": "INFO"}
    with running_server(tmp_path_factory, environment=environment) as server:
        yield server


@pytest.fixture(scope="module")
def main(server: RunningServer) -> Iterator[lakebed.Branch]:
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        main = lake.repository("tables").create("local://tables").branch("main")
        main.put("orders/day=1/a.parquet", parquet(pa.table({"id": [1, 2], "amount": [5.0, 7.5]})))
        main.put("orders/day=2/b.parquet", parquet(pa.table({"id": [3], "amount": [1.0]})))
        main.put("orders/_hidden/c.parquet", b"no table")
        main.put("orders/readme.txt", b"no table")
        for path in (MARKUP, RTL, EMOJI, LONG):
            main.put(path, b"a\n1\n")
        main.put("broken.parquet", b"PAR1 is all it has")
        main.put("empty.parquet", b"")
        main.put("empty.csv", b"")
        main.put("large.csv", b"a,b\n" + b"1,2\n" * 1_000_000)
        main.put("large.arrow", b"ARROW1\0\0" + bytes(2 << 20))
        main.put("picture.png", b"x")
        main.put("delta/_delta_log/00000000000000000000.json", b"{}")
        main.put("delta/a.parquet", parquet(pa.table({"id": [1]})))
        main.commit("tables")
        yield main


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_a_folder_is_a_table(main: lakebed.Branch) -> None:
    found = main.table_page("orders/", order="amount", descending=True, limit=2, statistics=True)
    assert found.columns == ("id", "amount", "day")
    assert found.rows == ((2, 7.5, 1), (1, 5.0, 1))
    assert (found.files, found.total_rows, found.has_more, found.format) == (2, 3, True, "parquet")
    assert [(one.column, one.minimum, one.maximum, one.distinct) for one in found.statistics] == [
        ("id", 1, 3, 3),
        ("amount", 1.0, 7.5, 3),
        ("day", 1, 2, 2),
    ]
    assert found.statistics[1].histogram[0] == lakebed.HistogramBin(1.0, 1.325, 1)
    assert repr(found) == "<TablePage orders/: 2 of 3 rows, 3 columns>"
    assert "<td>7.5</td>" in found._repr_html_()


async def test_the_async_sdk_has_the_same(main: lakebed.Branch, server: RunningServer) -> None:
    async with lakebed.aio.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        found = await lake.repository("tables").ref("main").table_page("orders/")
    assert found == main.table_page("orders/")


@pytest.mark.parametrize("path", [MARKUP, RTL, EMOJI, LONG])
def test_hostile_names(main: lakebed.Branch, path: str) -> None:
    found = main.table_page(path)
    assert (found.path, found.rows) == (path, ((1,),))


@pytest.mark.parametrize(
    ("path", "error", "kind"),
    [
        ("none.parquet", lakebed.ObjectNotFoundError, "object_not_found"),
        ("none/", lakebed.ObjectNotFoundError, "object_not_found"),
        ("broken.parquet", lakebed.TableFormatError, "unreadable_table"),
        ("empty.parquet", lakebed.TableFormatError, "unreadable_table"),
        ("picture.png", lakebed.TableFormatError, "unreadable_table"),
        ("delta/", lakebed.TableFormatError, "unreadable_table"),
        ("large.arrow", lakebed.TableFormatError, "unreadable_table"),
    ],
)
def test_files_that_are_not_tables_are_refused(
    main: lakebed.Branch, path: str, error: type[Exception], kind: str
) -> None:
    with pytest.raises(error) as caught:
        main.table_page(path)
    assert caught.value.kind == kind  # type: ignore[attr-defined]


def test_zero_bytes_of_csv_and_a_file_beyond_the_bound(main: lakebed.Branch) -> None:
    assert main.table_page("empty.csv").total_rows == 0
    found = main.table_page("large.csv", limit=1)
    assert (found.rows, found.complete, found.total_rows, found.has_more) == (((1, 2),), False, None, True)
    with pytest.raises(lakebed.InvalidRequestError, match="narrow by columns or use Python") as caught:
        main.table_page("large.csv", order="a")
    assert (caught.value.kind, caught.value.status) == ("table_too_large", 413)


@pytest.mark.parametrize("content", [b"a,b", b"\xef\xbb\xbfa,b", b"a,b\n", b"a,b\r\n"])
def test_a_header_without_rows_and_without_an_end_of_line(main: lakebed.Branch, content: bytes) -> None:
    main.put("header.csv", content)
    found = main.table_page("header.csv")
    assert (found.columns, found.rows, found.total_rows) == (("a", "b"), (), 0)


def test_a_limit_beyond_200_and_an_unknown_column_are_refused(main: lakebed.Branch) -> None:
    with pytest.raises(lakebed.InvalidRequestError):
        main.table_page("orders/", limit=201)
    with pytest.raises(lakebed.InvalidRequestError):
        main.table_page("orders/", format="avro")  # type: ignore[arg-type]
    assert main.table_page("orders/", format="parquet").total_rows == 3
    with pytest.raises(lakebed.InvalidRequestError, match="no column 'x': the columns are 'id', 'amount', 'day'"):
        main.table_page("orders/", columns=["x"])


def test_the_command_prints_columns(main: lakebed.Branch, server: RunningServer) -> None:
    run = Command(server.environment)
    text = run("fs", "head", "tables/main/orders/", "--statistics").text
    assert text.splitlines()[:4] == ["id  amount  day", " 1     5.0    1", " 2     7.5    1", " 3     1.0    2"]
    assert "column  nulls  distinct  minimum  maximum" in text
    found = run("fs", "head", "tables/main/orders/", "--columns", "amount", "-n", "1", "--json").json
    assert (found["rows"], found["columns"]) == ([[5.0]], ["amount"])


def test_a_user_reads_only_tables_whose_files_are_all_allowed(main: lakebed.Branch, server: RunningServer) -> None:
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        lake.users.create("ana")
        lake.policies.create(
            "half",
            [
                {"effect": "allow", "action": ["fs:ListObjects"], "resource": "arn:lakefs:fs:::repository/tables"},
                {
                    "effect": "allow",
                    "action": ["fs:ReadObject"],
                    "resource": "arn:lakefs:fs:::repository/tables/object/orders/",
                },
                {
                    "effect": "allow",
                    "action": ["fs:ReadObject"],
                    "resource": "arn:lakefs:fs:::repository/tables/object/orders/day=1/*",
                },
            ],
        )
        lake.users.attach("ana", "half")
        key = lake.keys.create(user="ana")
    with lakebed.connect(server.endpoint, key.id, key.secret or "") as lake:
        ana = lake.repository("tables").ref("main")
        with pytest.raises(lakebed.PermissionDeniedError, match=r"day=2/b\.parquet"):
            ana.table_page("orders/")
        assert ana.table_page("orders/day=1/a.parquet").total_rows == 2


@pytest.fixture(scope="module")
def dev(main: lakebed.Branch) -> lakebed.Branch:
    """A branch that changes one of two files, after which main goes on."""
    main.put("prices/a.parquet", parquet(pa.table({"item": ["pen", "ink"], "price": [1.0, 2.0]})))
    main.put("prices/b.parquet", parquet(pa.table({"item": ["cap"], "price": [3.0]})))
    main.commit("prices")
    dev = main.repository.branch("dev").create("main")
    dev.put("prices/a.parquet", parquet(pa.table({"item": ["pen", "new"], "price": [1.5, 9.0]})))
    dev.put("only/x.parquet", parquet(pa.table({"item": ["x"]})))
    dev.commit("new prices")
    main.put("prices/b.parquet", parquet(pa.table({"item": ["cap"], "price": [4.0]})))
    main.commit("main goes on")
    return dev


def test_rows_that_differ_between_refs(main: lakebed.Branch, dev: lakebed.Branch) -> None:
    found = main.diff(dev).table_page("prices/", key="item")
    assert found.rows == (
        lakebed.TableDiffRow("changed", ("pen", 1.0), ("pen", 1.5), ("price",)),
        lakebed.TableDiffRow("added", None, ("new", 9.0)),
        lakebed.TableDiffRow("removed", ("ink", 2.0), None),
    )
    assert repr(found) == "<TableDiffPage prices/: 1 added, 1 removed, 1 changed>"
    both = main.diff(dev, two_dot=True).table_page("prices/", key="item", change="changed")
    assert [row.after for row in both.rows] == [("cap", 3.0), ("pen", 1.5)]
    assert main.diff(dev).table_page("prices/b.parquet", key="item").rows == ()
    assert main.diff(dev).table_page("only/", key="item").added == 1
    with pytest.raises(lakebed.ObjectNotFoundError):
        main.diff(dev).table_page("nothing/", key="item")


def test_uncommitted_rows(main: lakebed.Branch, dev: lakebed.Branch) -> None:
    dev.put("prices/a.parquet", parquet(pa.table({"item": ["pen", "new"], "price": [1.5, 10.0]})))
    found = dev.uncommitted().table_page("prices/", key="item")
    assert [(row.before, row.after) for row in found.rows] == [(("new", 9.0), ("new", 10.0))]
    assert main.diff(dev).table_page("prices/", key="item").rows[1].after == ("new", 9.0), "a branch is its last commit"
    dev.reset()


async def test_the_async_sdk_compares_too(main: lakebed.Branch, dev: lakebed.Branch, server: RunningServer) -> None:
    async with lakebed.aio.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        ref = lake.repository("tables").ref("main")
        assert (await ref.diff("dev").table_page("prices/", key=["item"])).changed == 1


def test_the_command_shows_rows(main: lakebed.Branch, dev: lakebed.Branch, server: RunningServer) -> None:
    run = Command(server.environment)
    lines = ["~ item=pen: price 1.0 -> 1.5", "+ item=new price=9.0", "- item=ink price=2.0"]
    done = run("diff", "tables/main", "dev", "prices/", "--key", "item")
    assert done.text.splitlines() == lines
    assert "1 changed, 1 added, 1 removed" in done.err
    found = run("diff", "tables/main", "dev", "prices/", "--key", "item", "--json").json
    assert found["added"] == [{"item": "new", "price": 9.0}]
    assert run("diff", "tables/main", "dev", "prices/", code=2).err
