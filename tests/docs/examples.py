"""A lake in which the examples of the docstrings run: the names that they use, and what these must contain."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lakebed
import pandas as pd

STATEMENTS = [{"effect": "allow", "action": ["fs:Read*"], "resource": "*"}]


def namespace_of(lake: lakebed.Lake, folder: Path) -> dict[str, Any]:
    """The names of the examples: `lake`, `repo`, `main`, `dev`, `ws`, `pull`, `frame` and others."""
    repo = lake.repository("weather").create("mem://weather")
    main = repo.branch("main")
    frame = pd.DataFrame({"id": [1, 2], "amount": [1.0, 2.0], "total": [1.0, 2.0], "day": ["mon", "tue"]})
    main.put_many({"raw/a.csv": b"id;name\n1;x\n", "raw/a.json": b'{"id": 1}\n', "a.csv": b"0", "old.csv": b"0"})
    main.put_many({"video.mp4": b"0" * 9, "photos/2026/1.jpg": b"1", "days.parquet": b""})
    main.write_parquet("days.parquet", frame)
    main.write_parquet("orders/", frame, partition_by=["day"])
    main.write_feather("cache.feather", frame)
    main.commit("load")
    repo.tag("v1").create("main")
    main.put("raw/a.csv", b"id;name\n2;y\n")
    main.commit("correct")
    main.put("raw/c.csv", b"new")
    main.commit("add")
    dev = repo.branch("dev").create("main")
    dev.write_parquet("orders/", frame.assign(amount=[1.0, 3.0]), partition_by=["day"], mode="overwrite")
    dev.put("orders/june.csv", b"id,price\n")
    dev.commit("add June")
    for user in ("ana", "ben"):
        lake.users.create(user)
    lake.groups.create("interns")
    lake.policies.create("readers", STATEMENTS)
    pull = repo.pulls.create("dev", "main", "Add June")
    ws = main.workspace("a workspace").create()
    ws.put_many({"a.csv": b"9", "b.tmp": b"9"})
    (folder / "album").mkdir()
    (folder / "album/1.jpg").write_bytes(b"1")
    (folder / "b.csv").write_bytes(b"1")
    (folder / "contract.yaml").write_text("name: nothing")
    some = SimpleNamespace(id="7e5de23d2db6b795c25f", run_id="7e5de23d2db6b795c25f", operation_id="none")
    return {
        "lake": lake, "lakebed": lakebed, "repo": repo, "main": main, "dev": dev, "ws": ws, "pull": pull,
        "frame": frame, "df": frame, "pd": pd, "timedelta": timedelta, "Path": Path,
        "table": main.read_table("days.parquet"),
        "data": b"1", "commit_id": main.commit_info().id, "error": some, "run": some, "hook": some, "delivery": some,
    }  # fmt: skip
