"""Airflow hooks against a server that behaves like Airflow 2 and 3: start, wait, try again, and failures."""

from __future__ import annotations

import base64
import json
import logging
from typing import Any, Literal

import pytest

from examples.hooks.airflow_like import AirflowLike
from tests.hooks.outbound.calling import call_airflow
from tests.support.services.receiver import running_receiver

pytestmark = pytest.mark.medium  # an HTTP server in a thread

APIS: tuple[Literal["v1", "v2"], ...] = ("v1", "v2")
USERNAME = "jane"
RUN = "lakeFS_hook_schema_r1"
both = pytest.mark.parametrize("api", APIS)


@both
@pytest.mark.parametrize("chosen", ["auto", "same", None])
async def test_start_a_dag_run(api: Literal["v1", "v2"], chosen: str | None) -> None:
    properties: dict[str, Any] = {} if chosen is None else {"api": api if chosen == "same" else chosen}
    with AirflowLike(api) as server:
        called = await call_airflow(url=server.url + "/", dag_conf={"limit": 3, "deep": {"a": [1]}}, **properties)
        assert (called.outcome.state, called.outcome.status) == ("passed", 200)
        assert RUN in called.outcome.message
        conf = server.runs[f"validate/{RUN}"].conf
        assert (conf["limit"], conf["deep"]) == (3, {"a": [1]})
        assert (conf["lakeFS_event"]["event_type"], conf["lakeFS_event"]["branch_id"]) == ("pre-merge", "main")
        assert server.runs[f"validate/{RUN}"].asked == 0  # it did not wait
        assert server.requests[-1] == ("POST", f"/api/{api}/dags/validate/dagRuns")


@both
async def test_the_run_of_a_dag_decides(api: Literal["v1", "v2"]) -> None:
    with AirflowLike(api) as server:
        passed = await call_airflow(url=server.url, wait_for_dag=True)
        assert (passed.outcome.state, server.runs[f"validate/{RUN}"].asked) == ("passed", 3)
        assert "the state of the DAG run is 'running'" in passed.log
        server.runs.clear()
        failed = await call_airflow(url=server.url, wait_for_dag=True, dag_id="broken")
        assert failed.outcome.state == "refused"
        assert failed.outcome.message == f"the DAG run {RUN} of 'broken' failed"


@both
async def test_a_dag_run_that_does_not_end(api: Literal["v1", "v2"]) -> None:
    with AirflowLike(api, dags={"validate": "running"}) as server:
        called = await call_airflow(url=server.url, wait_for_dag=True, timeout="500ms")
        assert (called.outcome.state, called.outcome.retry_after) == ("error", 0)
        assert "did not end within 0.5 s; its state is 'running'" in called.outcome.message
        assert len(called.log) < 3000  # polls are not in the log


@both
async def test_a_second_attempt_finds_the_first_dag_run(api: Literal["v1", "v2"]) -> None:
    with AirflowLike(api) as server:
        await call_airflow(url=server.url)
        again = await call_airflow(url=server.url, wait_for_dag=True)
        assert again.outcome.state == "passed"
        assert "an attempt before this one started it" in again.log
        assert list(server.runs) == [f"validate/{RUN}"]


async def test_a_token_that_expires_during_the_wait() -> None:
    with AirflowLike("v2", token_uses=2) as server:
        called = await call_airflow(url=server.url, wait_for_dag=True)
        assert called.outcome.state == "passed"
        assert len(server.tokens) > 1


@both
@pytest.mark.parametrize("wrong", [{"password": "wr0ng"}, {"username": "eve"}])
async def test_wrong_credentials(api: Literal["v1", "v2"], wrong: dict[str, Any]) -> None:
    with AirflowLike(api) as server:
        called = await call_airflow(url=server.url, **wrong)
        assert (called.outcome.state, called.outcome.status, called.outcome.retry_after) == ("error", 401, -1)
        assert server.runs == {}
        assert "wr0ng" not in called.log + called.outcome.message


@both
async def test_an_unknown_dag(api: Literal["v1", "v2"]) -> None:
    with AirflowLike(api) as server:
        called = await call_airflow(url=server.url, dag_id="other/../validate")
        assert (called.outcome.state, called.outcome.status) == ("error", 404)
        assert "Airflow did not start the DAG 'other/../validate'" in called.outcome.message
        assert server.requests[-1][1] == f"/api/{api}/dags/other%2F..%2Fvalidate/dagRuns"


async def test_the_wrong_api() -> None:
    with AirflowLike("v2") as server:
        assert (await call_airflow(url=server.url, api="v1")).outcome.status == 404
    with AirflowLike("v1") as server:
        assert "gave no token" in (await call_airflow(url=server.url, api="v2")).outcome.message


class Careless(AirflowLike):
    """Returns what it got, credentials included."""

    def answer(self, method: str, path: str, authorization: str, body: bytes) -> tuple[int, Any]:
        status, document = super().answer(method, path, authorization, body)
        return status, {**document, "sent": [authorization, body.decode()]}


@both
@pytest.mark.parametrize("password", ["pa55/wörd", "{{ ENV.LAKEBEDACTION_PASSWORD }}"])
async def test_no_password_and_no_token_is_in_the_log(
    api: Literal["v1", "v2"], password: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with Careless(api, password="pa55/wörd", username=USERNAME) as server:
        called = await call_airflow(
            url=server.url,
            wait_for_dag=True,
            username=USERNAME,
            password=password,
            environment={"LAKEBEDACTION_PASSWORD": "pa55/wörd"},
        )
        assert called.outcome.state == "passed"
        assert '"sent": [' in called.log
        written = called.log + called.outcome.message + caplog.text
        for secret in ("pa55", base64.b64encode(f"{USERNAME}:pa55/wörd".encode()).decode(), *server.tokens):
            assert secret not in written


async def test_a_missing_password() -> None:
    with AirflowLike("v2") as server:
        called = await call_airflow(url=server.url, password="{{ ENV.LAKEFSACTION_NONE }}")
        assert (called.outcome.state, called.outcome.retry_after) == ("error", -1)
        assert "LAKEFSACTION_NONE is not set" in called.outcome.message
        assert server.requests == []


@pytest.mark.parametrize(
    ("path", "words", "retry_after"),
    [
        ("/close", "closed the connection", 0),
        ("/flood", "Airflow sent more than 1 MiB", -1),
        ("/redirect/302?to=http://127.0.0.1/", "gave no token: status 302", -1),
        ("/status/503?header=retry-after:9", "gave no token: status 503", 9),
        ("/status/200?body=" + json.dumps({"access_token": 7}), "gave no token: status 200", -1),
        ("/status/200?body=" + "[" * 5000, "gave no token: status 200", -1),
    ],
)
async def test_other_servers_than_airflow_are_errors(path: str, words: str, retry_after: float) -> None:
    with running_receiver() as receiver:
        # The query hides the rest of the path that the hook adds.
        url = receiver.url + path + ("&" if "?" in path else "?") + "rest="
        called = await call_airflow(url=url)
    assert (called.outcome.state, called.outcome.retry_after) == ("error", retry_after)
    assert words in called.outcome.message
