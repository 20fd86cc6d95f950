"""Checks orders with expectations of Great Expectations."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")  # a check calls no other host

import great_expectations as gx
import great_expectations.expectations as gxe
from lakebed_hooks import HookEvent, ReadOnlyRepo, Refuse

ORDERS = (
    gxe.ExpectColumnValuesToBeUnique(column="order_id"),
    gxe.ExpectColumnValuesToBeBetween(column="amount", min_value=0, max_value=1_000_000),
)


def check(event: HookEvent, lake: ReadOnlyRepo, args: dict[str, Any]) -> Refuse | None:
    """Validate all files that `path` chooses, as one frame."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("lakebed").add_dataframe_asset("orders")
    frame = {"dataframe": lake.read_pandas(args["path"])}
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch(frame)
    found = batch.validate(gx.ExpectationSuite("orders", expectations=list(ORDERS)))
    broken = [one for one in found.results if not one.success]
    if not broken:
        return None
    details = [
        {
            "check": one.expectation_config.type,
            "column": one.expectation_config.kwargs["column"],
            "state": "refused",
            "bad": one.result["unexpected_count"],
            "values": [{"value": str(value)} for value in one.result["partial_unexpected_list"][:10]],
        }
        for one in broken
    ]
    first = details[0]
    return Refuse(f"{first['column']}: {first['check']} fails for {first['bad']} values", details)
