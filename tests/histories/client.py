"""A client of the servers: one request at a time, over plain HTTP, without retries; every operation is an event.

What an answer means for the history is decided here, and by the promises of docs/errors.md: 429, 503 and 507 say that
nothing was changed, so such an operation `failed`. A lost answer and every other 5xx say nothing: `unknown`.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from tests.histories.history import Event, History, Outcome

REPOSITORY = "/api/v1/repositories/lake"
_NOTHING_CHANGED = frozenset({429, 503, 507})
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
STRANGE = "unexpected: "
"""How the answer of an event begins that no operation should get."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request came to. `response` is None when there was none."""

    outcome: Outcome
    text: str
    server: int
    call: float
    end: float
    response: httpx.Response | None = None

    @property
    def found(self) -> bool:
        """Whether what was asked for is there."""
        return self.response is not None and self.response.status_code == 200

    @property
    def body(self) -> str:
        """As text."""
        assert self.response is not None
        return self.response.text

    def json(self) -> Any:
        """As JSON."""
        assert self.response is not None
        return self.response.json()


class Client:
    """One identity. It stays with one server for a while, or takes another one for each request."""

    def __init__(
        self,
        number: int,
        key: tuple[str, str],
        endpoints: Callable[[], list[str]],
        history: History,
        chance: random.Random,
        *,
        patience: tuple[float, float] = (2.0, 5.0),
    ) -> None:
        self.number = number
        self.history = history
        self.chance = chance
        self._endpoints = endpoints
        self._patience = patience
        self._http = httpx.Client(auth=key, trust_env=False)
        self._server = number
        self._stays = 0

    def close(self) -> None:
        self._http.close()

    def ask(
        self,
        method: str,
        target: str,
        *,
        ok: Collection[int] = (200, 201, 204),
        refused: Collection[int] = (),
        known: Mapping[int, str] | None = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        content: bytes | None = None,
    ) -> Answer:
        """Send a request below the repository. `known`: statuses that say that nothing happened, with their kind."""
        endpoints = self._endpoints()
        server = self._choice(len(endpoints))
        timeout = httpx.Timeout(self.chance.uniform(*self._patience), connect=1.0)
        call = time.monotonic()
        try:
            response = self._http.request(
                method, endpoints[server] + REPOSITORY + target,
                params=params, headers=headers, json=json, content=content, timeout=timeout,
            )  # fmt: skip
        except httpx.TransportError as error:
            end = time.monotonic()
            self._stays = 0  # another server may answer
            unsent = isinstance(error, _UNSENT)
            return Answer("failed" if unsent else "unknown", type(error).__name__, server, call, end)
        end = time.monotonic()
        status = response.status_code
        if status in ok:
            return Answer("ok", "", server, call, end, response)
        kind = str(response.json().get("kind")) if "json" in response.headers.get("content-type", "") else ""
        text = f"{status} {kind}"
        if status in refused:
            return Answer("refused", text, server, call, end, response)
        if status in _NOTHING_CHANGED or (known or {}).get(status) == kind:
            return Answer("failed", text, server, call, end, response)
        if kind != "outcome_unknown":
            text = f"{STRANGE}{text} {response.text[:200]}"
        return Answer("unknown" if status >= 500 else "failed", text, server, call, end, response)

    def note(self, answer: Answer, act: str, key: str, **more: Any) -> None:
        """Make the answer an event of the history."""
        given = {"call": answer.call, "end": answer.end, "outcome": answer.outcome, **more}
        self.history.add(Event(client=self.number, act=act, key=key, server=answer.server, answer=answer.text, **given))

    def _choice(self, servers: int) -> int:
        if self._stays <= 0:
            self._server = self.chance.randrange(servers)
            self._stays = self.chance.choice([1, 1, 1, 100])
        self._stays -= 1
        return self._server


def etag_of(value: str) -> str:
    """The ETag of an object with this content."""
    return hashlib.md5(value.encode()).hexdigest()
