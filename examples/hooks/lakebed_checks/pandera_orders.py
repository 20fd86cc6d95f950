"""Checks orders with a schema of pandera."""

from __future__ import annotations

from typing import Any

import pandera.pandas as pa
from lakebed_hooks import HookEvent, ReadOnlyRepo, Refuse

ORDERS = pa.DataFrameSchema(
    {
        "order_id": pa.Column(int, unique=True),
        "amount": pa.Column(float, pa.Check.in_range(0, 1_000_000)),
    }
)


def check(event: HookEvent, lake: ReadOnlyRepo, args: dict[str, Any]) -> Refuse | None:
    """Validate all files that `path` chooses, as one frame."""
    frame = lake.read_pandas(args["path"])
    try:
        ORDERS.validate(frame, lazy=True)
    except pa.errors.SchemaErrors as error:
        cases = error.failure_cases.head(10).astype(str).to_dict("records")
        first = cases[0]
        return Refuse(f"{first['column']}: {first['check']} fails for {first['failure_case']}", cases)
    return None
