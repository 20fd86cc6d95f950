"""Spark reads the files of the access history, by the statements of docs/audit.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

import lakebed
import pytest
from pyspark.sql import SparkSession

from tests.docs.snippets import ROOT
from tests.support.processes.server import RunningServer, running_server

PAGE = (ROOT / "docs" / "audit.md").read_text()
PATH = "orders/a.csv"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory, environment={"LAKEBED_HISTORY_ENABLED": "true"}) as running:
        yield running


@pytest.fixture(scope="module")
def commit(server: RunningServer) -> str:
    """A commit of the repository sales, whose file the administrator and Ana have read."""
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        main = lake.repository("sales").create("local://sales").branch("main")
        main.put(PATH, b"1,2\n")
        made = main.commit("first").id
        main.get(PATH)
        lake.users.create("ana")
        key = lake.keys.create("ana")
        with lakebed.connect(server.endpoint, key.id, key.secret) as ana:
            with pytest.raises(PermissionError):
                ana.repository("sales").branch("main").get(PATH)
            lake.users.grant("ana", "sales", "reader")
            assert ana.repository("sales").branch("main").get(PATH) == b"1,2\n"
        assert lake.repository("sales").access_history().num_rows > 0  # writes the rows that wait
    return made


@pytest.fixture(scope="module")
def address(server: RunningServer, commit: str) -> str:
    """The namespace of the repository, as Spark opens it."""
    (found,) = server.data_dir.rglob("sales/_lakebed/history")
    return f"file://{found.parents[1]}"


def test_the_page_opens_the_files(spark: SparkSession, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"^```text\n(history = spark.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    namespace = {"spark": spark}
    exec(code.replace("s3://bucket/audited", address), namespace)
    shown = capsys.readouterr().out
    assert "getObject" in shown
    assert "admin" not in shown


def statements() -> list[str]:
    """The statements of the table of questions about a repository."""
    section = PAGE.partition("## Questions\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and "SELECT" in line]
    return [re.findall(r"`(SELECT .*?)`", row)[0] for row in rows if "rows of the server" not in row]


@pytest.mark.parametrize("statement", statements())
def test_each_question_has_an_answer(spark: SparkSession, address: str, commit: str, statement: str) -> None:
    frame = spark.read.parquet(f"{address}/_lakebed/history/")
    frame.createOrReplaceTempView("history")
    key = frame.where("user = 'ana'").first()
    assert key is not None
    statement = re.sub(r"commit_id = '\.\.\.'", f"commit_id = '{commit}'", statement)
    statement = re.sub(r"access_key_id = '\.\.\.'", f"access_key_id = '{key['access_key_id']}'", statement)
    assert "'...'" not in statement
    assert spark.sql(statement).count() > 0


def test_spark_and_the_sdk_see_the_same_rows(spark: SparkSession, address: str, server: RunningServer) -> None:
    seen = spark.read.parquet(f"{address}/_lakebed/history/").where("operation = 'getObject'").select("user", "status")
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        rows = lake.repository("sales").access_history(operation="getObject").to_pylist()
    assert sorted((row["user"], row["status"]) for row in rows) == sorted(tuple(row) for row in seen.collect())
    assert ("ana", 403) in [tuple(row) for row in seen.collect()]
