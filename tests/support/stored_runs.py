"""Runs of hooks of a real server without hooks: written to its stores from this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from lakebed_engine.vocabulary.hooks import HookRun, Run
from lakebed_server.cli.maintenance_commands import read_settings
from lakebed_server.process.wiring import open_engine

from tests.support.processes.server import RunningServer

REFUSED, PASSED = f"{1:020x}", f"{2:020x}"
"""Ids of two runs. The first one is newer."""

DETAILS: list[dict[str, Any]] = [
    {
        "file": "orders/1.parquet",
        "check": "range",
        "column": "amount",
        "state": "refused",
        "message": "2 values are outside of 0 to 9",
        "rows": 100,
        "bad": 2,
        "values": [{"row": 3, "value": -1}, {"row": 7, "value": 12}],
        "source": "scan",
    },
    {"file": "orders/1.parquet", "check": "not_null", "column": "id", "state": "passed", "values": []},
]


def store_runs(server: RunningServer, repository: str) -> None:
    """A run that was refused, with a hook of each state and a log, and before it a run that passed."""
    moment = 1_700_000_000.5
    hooks = [
        HookRun(
            id="0000_0000",
            action="orders",
            hook_id="contract",
            type="contract",
            state="refused",
            started=moment,
            ended=moment + 1,
            message="the contract is broken",
            details=DETAILS,
        ),
        HookRun(id="0000_0001", action="orders", hook_id="notify", type="webhook", state="skipped"),
        HookRun(id="0001_0000", action="names", hook_id="py", type="python", state="passed", started=moment),
    ]
    refused = Run(
        id=REFUSED,
        event_type="pre-merge",
        branch="main",
        source_ref="s" * 64,
        commit_id="c" * 64,
        user="ana",
        started=moment,
        ended=moment + 2,
        state="refused",
        message="orders/contract: the contract is broken",
        hooks=hooks,
    )
    passed = Run(id=PASSED, event_type="post-commit", branch="dev", started=moment - 9, ended=moment, state="passed")
    asyncio.run(_store(server, repository, [(refused, {"0000_0000": b"row 3: -1\n\xff\x1b[2J\n"}), (passed, {})]))


async def _store(server: RunningServer, repository: str, runs: Sequence[tuple[Run, Mapping[str, bytes]]]) -> None:
    async with open_engine(read_settings(None, str(server.data_dir)), "refuse") as engine:
        for run, logs in runs:
            await engine.hooks.save_run(repository, run, logs)
