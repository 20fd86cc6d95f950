"""The example with Great Expectations refuses bad data and accepts good, with the real package in a worker process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import lakebed
import lakebed_testing
import pyarrow as pa
import pytest
from lakebed_testing import LakebedServer

HERE = Path(__file__).parents[2] / "examples" / "hooks"
GOOD = {"order_id": [1, 2, 3], "amount": [10.0, 20.0, 30.0]}
BAD = {"order_id": [4, 4, 6], "amount": [10.0, -20.0, 30.0]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LakebedServer]:
    monkeypatch.setenv("PYTHONPATH", str(HERE))  # here the package of checks is not installed
    allowed = "lakebed_checks.great_expectations_orders:check"
    with lakebed_testing.server({"hooks.python.allow": allowed}) as running:
        yield running


@pytest.mark.soak  # tests/hooks runs the example with Pandera, by the same worker process
def test_expectations_refuse_bad_data_and_accept_good(server: LakebedServer) -> None:
    repo = server.connect().repository("expected").create("mem://expected")
    main = repo.branch("main")
    main.write_parquet("orders/may.parquet", pa.table(GOOD))
    main.commit("orders of May")
    repo.set_hook_settings({"rule.yaml": (HERE / "actions" / "great_expectations.yaml").read_text("utf-8")})
    dev = repo.branch("dev").create("main")
    dev.write_parquet("orders/june.parquet", pa.table(BAD))
    dev.commit("bad orders")
    before = main.commit_info().id
    with pytest.raises(lakebed.HookRefusedError, match="order_id: expect_column_values_to_be_unique fails") as caught:
        dev.merge_into("main")
    assert main.commit_info().id == before
    (hook,) = repo.runs.hooks(caught.value.run_id)
    assert [(row["column"], row["bad"]) for row in hook.details] == [("order_id", 2), ("amount", 1)]
    assert hook.details[1]["values"] == [{"value": "-20.0"}]

    dev.write_parquet("orders/june.parquet", pa.table({"order_id": [4, 5, 6], "amount": [1.0, 2.0, 3.0]}))
    dev.commit("good orders")
    assert dev.merge_into("main").commit_id == main.commit_info().id
