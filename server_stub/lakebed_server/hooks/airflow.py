"""Airflow hooks: start a run of a DAG, and wait for its end if the hook says so.

Airflow 2 has `/api/v1` with HTTP Basic. Airflow 3 has `/api/v2` with a token. The id of the DAG run contains the id of
the run of the action. So a second attempt finds the DAG run that a first one started, whose answer was lost.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import msgspec
from lakebed_hooks import Outcome, payload
from lakebed_hooks.vocabulary import HookError

from lakebed_server.hooks.calls import NO_RETRY, Call
from lakebed_server.outbound import Answer, OutboundError

POLL_SECONDS: Final = 5.0
REQUEST_SECONDS: Final = 5.0
"""The most seconds of one request."""


class _Failed(Exception):
    """The call ends with this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


async def call(attempt: Call, *, poll_seconds: float = POLL_SECONDS) -> Outcome:
    """Start the DAG run, and wait for it if wanted. Raises nothing for what Airflow or a hook does wrong."""
    loop = asyncio.get_running_loop()
    airflow = _Airflow(attempt, loop.time() + attempt.timeout)
    try:
        await airflow.sign_in()
        await airflow.start()
        if not attempt.hook.properties.get("wait_for_dag", False):
            return Outcome("passed", f"started the DAG run {airflow.run_id}", status=200)
        return await airflow.wait(poll_seconds)
    except _Failed as error:
        return error.outcome
    except OutboundError as error:
        return attempt.failed(error)
    except HookError as error:
        attempt.note(error.message)
        return Outcome("error", error.message, retry_after=NO_RETRY)


class _Airflow:
    """The server of one hook, until a time of the event loop's clock."""

    def __init__(self, attempt: Call, end: float) -> None:
        self._attempt = attempt
        self._end = end
        self._properties = attempt.hook.properties
        self._root = str(self._properties["url"]).rstrip("/")
        self._dag = str(self._properties["dag_id"])
        self._api = self._properties.get("api", "auto")
        self._authorization = ""
        self.run_id = f"lakeFS_hook_{attempt.hook.id}_{attempt.event.run_id}"

    async def sign_in(self) -> None:
        """Get a token of Airflow 3, or find that this is Airflow 2. Raises OutboundError, HookError and _Failed."""
        fill = self._attempt.secrets.fill
        username, password = fill(self._properties["username"]), fill(self._properties["password"])
        self._attempt.secrets.hide(password)
        self._authorization = ""  # the token that expired
        if self._api == "v1":
            self._use_basic(username, password)
            return
        document = {"username": username, "password": password}
        answer = await self._request("POST", "/auth/token", document)
        token = (_document(answer) or {}).get("access_token")
        if answer.status in (200, 201) and isinstance(token, str) and token:
            self._attempt.secrets.hide(token)
            self._authorization, self._api = f"Bearer {token}", "v2"
        elif self._api == "auto" and answer.status in (404, 405):
            self._attempt.note("there is no /auth/token, as in Airflow 2: using /api/v1")
            self._use_basic(username, password)
            self._api = "v1"
        else:
            raise self._unusable("Airflow gave no token", answer)

    async def start(self) -> None:
        """Start the DAG run. Do nothing if it exists. Raises OutboundError and _Failed."""
        conf = {**self._properties.get("dag_conf", {}), "lakeFS_event": payload.fields(self._attempt.event)}
        document: dict[str, Any] = {"dag_run_id": self.run_id, "conf": conf}
        if self._api == "v2":
            document["logical_date"] = None
        answer = await self._request("POST", self._runs, document)
        if answer.status == 409:
            self._attempt.note("the DAG run exists: an attempt before this one started it")
        elif not 200 <= answer.status < 300:
            raise self._unusable(f"Airflow did not start the DAG {self._dag!r}", answer)

    async def wait(self, poll_seconds: float) -> Outcome:
        """Ask for the state of the DAG run until it ends. Raises OutboundError and _Failed."""
        state = "queued"
        while (left := self._left()) > 0:
            await asyncio.sleep(min(poll_seconds, left))
            if self._left() <= 0:
                break
            before, state = state, await self._state(state)
            if state != before:
                self._attempt.note(f"the state of the DAG run is {state!r}")
            if state == "success":
                return Outcome("passed", f"the DAG run {self.run_id} succeeded", status=200)
            if state == "failed":
                return Outcome("refused", f"the DAG run {self.run_id} of {self._dag!r} failed", retry_after=NO_RETRY)
        message = f"the DAG run {self.run_id} of {self._dag!r} did not end within {self._attempt.timeout:.3g} s"
        return Outcome("error", f"{message}; its state is {state!r}")

    async def _state(self, before: str) -> str:
        """The state of the DAG run. One request without an answer does not end the wait."""
        try:
            answer = await self._request("GET", f"{self._runs}/{quote(self.run_id, safe='')}", is_poll=True)
            if answer.status == 401 and self._api == "v2":  # the token expired
                await self.sign_in()
                return before
        except OutboundError as error:
            self._attempt.note(f"{error}; asking again")
            return before
        if answer.status in (408, 425, 429) or answer.status >= 500:
            return before
        state = (_document(answer) or {}).get("state")
        if answer.status != 200 or not isinstance(state, str):
            raise self._unusable(f"Airflow did not return the state of the DAG run {self.run_id}", answer)
        return state[:100]

    @property
    def _runs(self) -> str:
        return f"/api/{self._api}/dags/{quote(self._dag, safe='')}/dagRuns"

    def _use_basic(self, username: str, password: str) -> None:
        self._authorization = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()

    def _left(self) -> float:
        return self._end - asyncio.get_running_loop().time()

    async def _request(
        self,
        method: str,
        path: str,
        document: Mapping[str, Any] | None = None,
        *,
        is_poll: bool = False,
    ) -> Answer:
        """The answer of Airflow. The log has no token, and no poll. Raises OutboundError and _Failed."""
        headers = {"accept": "application/json"}
        if self._authorization:
            headers["authorization"] = self._authorization
        if document is not None:
            headers["content-type"] = "application/json"
        if not is_poll:
            self._attempt.note(f"{method} {self._root}{path}")
        answer = await self._attempt.receivers.request(
            method,
            self._root + path,
            seconds=min(REQUEST_SECONDS, self._left()),
            headers=headers,
            body=None if document is None else msgspec.json.encode(document),
        )
        if path == "/auth/token":
            self._attempt.note(f"status {answer.status} {answer.reason}")
        elif not is_poll:
            self._attempt.show(answer)
        if not answer.whole:
            raise _Failed(Outcome("error", "Airflow sent more than 1 MiB", retry_after=NO_RETRY, status=answer.status))
        return answer

    def _unusable(self, what: str, answer: Answer) -> _Failed:
        return _Failed(self._attempt.not_usable(f"{what}: status {answer.status} {answer.reason}", answer))


def _document(answer: Answer) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
