"""Spark meets the rules of a branch: a contract refuses a bad job as a whole, with the row that broke it."""

from __future__ import annotations

import lakebed
import lakebed_spark
import pandas as pd
import pytest
from pyspark.sql import SparkSession

RULE = """
name: orders contract
on: {pre-commit: {branches: [main]}}
hooks:
  - id: orders
    type: contract
    properties:
      path: "orders/**/*.parquet"
      checks:
        - range: {amount: [0, 100]}
"""


def test_a_contract_refuses_a_bad_job_and_takes_the_corrected_one(
    spark: SparkSession, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    repo.set_hook_settings({"orders.yaml": RULE})
    bad = spark.createDataFrame(pd.DataFrame({"id": [1, 2], "amount": [5.0, -4.0]})).coalesce(1)
    with pytest.raises(lakebed.HookRefusedError, match="outside of 0 to 100") as caught:
        lakebed_spark.write(bad, main, "orders")
    (hook,) = repo.runs.hooks(caught.value.run_id)
    (row,) = [one for one in hook.details if one["state"] == "refused"]
    assert row["values"] == [{"row": 1, "value": -4.0}]
    assert [one.path for one in main.list()] == []

    lakebed_spark.write(bad.filter("amount >= 0"), main, "orders")
    assert lakebed_spark.read(spark, main, "orders").count() == 1
