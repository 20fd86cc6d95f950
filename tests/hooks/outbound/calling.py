"""Calls of hooks in tests: `call_webhook(receiver, url="/echo", secret="...")`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakebed_hooks import Hook, HookEvent, Outcome
from lakebed_server.hooks import airflow, webhook
from lakebed_server.hooks.calls import Call, Secrets
from lakebed_server.outbound import Receivers

from tests.support.waiting import PATIENCE

NOW = 1_796_000_000
LOCAL = ("127.0.0.1",)
EVENT = HookEvent(
    event_type="pre-merge",
    event_time=NOW,
    action_name="checks",
    hook_id="schema",
    repository_id="sales",
    branch_id="main",
    source_ref="a" * 64,
    commit_id="b" * 64,
    commit_message="Add July",
    committer="jane",
    commit_metadata={"k": "v"},
    merge_source="dev",
    run_id="r1",
)


@dataclass
class Called:
    """How a call ended, and its log."""

    outcome: Outcome
    lines: list[str] = field(default_factory=list)

    @property
    def log(self) -> str:
        return "".join(self.lines)


async def call_webhook(
    *, environment: Mapping[str, str] | None = None, seconds: float = PATIENCE, now: float = NOW, **properties: Any
) -> Called:
    """Call a webhook with these properties."""
    lines: list[str] = []
    async with Receivers(LOCAL) as receivers:
        attempt = Call(
            hook=Hook("schema", "webhook", properties),
            event=EVENT,
            id="msg_1",
            now=now,
            seconds=seconds,
            receivers=receivers,
            secrets=Secrets(environment or {}),
            log=lines.append,
            source="https://lake.example.com/repositories/sales",
        )
        return Called(await webhook.call(attempt), lines)


async def call_airflow(
    *, environment: Mapping[str, str] | None = None, seconds: float = PATIENCE, **properties: Any
) -> Called:
    """Call an Airflow hook with these properties. It asks for the state of a DAG run without a pause."""
    lines: list[str] = []
    given = {"dag_id": "validate", "username": "admin", "password": "admin", **properties}
    async with Receivers(LOCAL) as receivers:
        attempt = Call(
            hook=Hook("schema", "airflow", given),
            event=EVENT,
            id="msg_1",
            now=NOW,
            seconds=seconds,
            receivers=receivers,
            secrets=Secrets(environment or {}),
            log=lines.append,
        )
        return Called(await airflow.call(attempt, poll_seconds=0.01), lines)
