"""A schema change must not break readers: no column goes away, and no type becomes another one."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq
from lakebed_hooks import HookEvent, ReadOnlyRepo, Refuse


def check(event: HookEvent, lake: ReadOnlyRepo, args: dict[str, Any]) -> Refuse | None:
    """Compare each changed Parquet file with the file at the same path of the destination."""
    broken = []
    for change in lake.changes():
        if change.kind != "changed" or not change.path.endswith(".parquet"):
            continue
        new, old = pq.read_schema(lake.open(change.path)), pq.read_schema(lake.base.open(change.path))
        for field in old:
            if field.name not in new.names:
                broken.append({"file": change.path, "column": field.name, "message": "is gone"})
            elif new.field(field.name).type != field.type:
                now = new.field(field.name).type
                broken.append({"file": change.path, "column": field.name, "message": f"was {field.type}, is {now}"})
    if not broken:
        return None
    first = broken[0]
    return Refuse(f"readers would break: column {first['column']!r} of {first['file']} {first['message']}", broken)
