"""The receivers of `examples/hooks`, as a user starts them: in a process of their own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from examples.hooks.slack_like import SlackLike
from tests.hooks.outbound.calling import call_airflow, call_webhook
from tests.support.processes.server import clean_environment
from tests.support.waiting import PATIENCE

EXAMPLES = Path(__file__).parents[3] / "examples/hooks"


@contextmanager
def started(name: str, *words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL of a receiver on any free port."""
    command = [sys.executable, "-u", str(EXAMPLES / name), "--port", "0", *words]
    with subprocess.Popen(command, env=clean_environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+?(?=[\s,])", process.stdout.readline())
            assert found is not None
            yield found[0], process
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("api", ["v1", "v2"])
async def test_an_airflow_in_a_process(api: str) -> None:
    with started("airflow_like.py", "--api", api) as (url, process):
        for dag_id, state in (("validate", "passed"), ("broken", "refused")):
            called = await call_airflow(url=url, dag_id=dag_id, wait_for_dag=True)
            assert called.outcome.state == state
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        assert (out, process.returncode) == ("stopped\n", 0)


@pytest.mark.slow
async def test_a_slack_in_a_process_prints_messages() -> None:
    with started("slack_like.py") as (url, process):
        assert (await call_webhook(url=url)).outcome.state == "passed"
        assert process.stdout is not None
        assert process.stdout.readline() == 'pre-merge in sales: main is now bbbbbbbb (jane: "Add July")\n'


@pytest.mark.medium
async def test_a_slack_takes_messages_and_events() -> None:
    with SlackLike() as slack:
        called = await call_webhook(url=slack.url)
        assert called.outcome.state == "passed"
        assert "ok" in called.log
        assert slack.messages == ['pre-merge in sales: main is now bbbbbbbb (jane: "Add July")']


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"text": "hello"}', (200, "ok")),
        (json.dumps({"event_type": "post-create-tag", "repository_id": "r", "tag_id": "v1"}).encode(), (200, "ok")),
        (b"{}", (400, "no_text")),
        (b"[]", (400, "invalid_payload")),
        (b"text", (400, "invalid_payload")),
    ],
)
def test_what_a_slack_answers(body: bytes, expected: tuple[int, str]) -> None:
    slack = SlackLike()
    assert slack.answer(body) == expected
    assert len(slack.messages) == (expected[0] == 200)
