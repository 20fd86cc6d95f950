# Generated from sdk/lakebed/_async/http/transport.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The connection: sends calls, repeats those that may be repeated, streams bytes. Knows HTTP and no operation.

Picklable: only the settings are pickled. Another process, a forked child and another event loop make their own sockets.
"""

from __future__ import annotations

import base64
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, Self, TypeVar
from weakref import WeakValueDictionary

import httpx
from tenacity import Retrying, retry_if_exception

from lakebed._compat.sync import Clients, run_in_thread, sleep
from lakebed._gateway import calls
from lakebed._http import loopback, retry, trust
from lakebed._settings import config
from lakebed._settings.config import Settings
from lakebed._sync.http.object_store import Outside
from lakebed._values.signed import Addresses
from lakebed._values.wire import Answer, Call
from lakebed._version import __version__
from lakebed.errors import AuthenticationError, LakebedError

T = TypeVar("T")

_USER_AGENT = f"lakebed-python/{__version__} python/{platform.python_version()}"
_SLOW_READ = 600.0


def recall(endpoint: str, access_key_id: str, timeout: float, retries: int) -> Transport:
    """The connection for a handle that came from elsewhere without its secret: the one in use here, or a new one.

    Raises ConfigurationError when this machine has no credentials.
    """
    known = _IN_USE.get((endpoint, access_key_id))
    if known is not None and not known._clients.is_closed:
        return known
    return Transport(config.resolve(endpoint, None, None, timeout=timeout, retries=retries)).shared()


class Body(Protocol):
    """A request body that is streamed."""

    @property
    def size(self) -> int | None:
        """The length in bytes, when it is known beforehand."""
        ...

    @property
    def replayable(self) -> bool:
        """Whether it can be sent (again)."""
        ...

    def stream(self) -> Iterator[bytes]:
        """The bytes, from the beginning."""
        ...


class Transport:
    """One pool of connections to one server."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        trust.warn_of_clear_text(settings)
        self.policy = retry.Policy(attempts=settings.retries + 1)
        self.outside = Outside(self.policy, settings.timeout)
        """Connections to object stores, for signed addresses."""

        self.addresses = Addresses()
        """Signed addresses to read at."""

        self._clients = Clients(partial(_new_client, settings))
        self._near: bool | None = None

    def shared(self) -> Self:
        """This transport, to be found by `recall` while it is in use."""
        _IN_USE[self.settings.endpoint, self.settings.access_key_id] = self
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings, "policy": self.policy}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["settings"])  # type: ignore[misc]
        self.policy = state["policy"]

    def call(self, call: Call[T], body: Body | None = None) -> T:
        """Send one call and read its answer. Raises the error of ours that the outcome stands for."""
        return calls.read(call, self._answer(call, body))

    def once(self, call: Call[T], body: Body | None = None) -> T:
        """Send one call once, for flows that decide themselves what to do next. Raises `Failed`."""
        return calls.read(call, self._once(call, body))

    def probe(self, call: Call[Any]) -> bool:
        """Send one call once. Whether it succeeded; never raises."""
        try:
            calls.read(call, self._once(call, None))
        except (LakebedError, retry.Failed):
            return False
        return True

    @contextmanager
    def stream(self, call: Call[T]) -> Iterator[tuple[T, Iterator[bytes]]]:
        """Open a download: its described head, and its bytes, which raise `Failed` when they break off."""
        response = self._retrying(call, None, self._open)
        try:
            head = calls.read(call, Answer(response.status_code, _headers(response)))
            yield head, self._bytes(call, response)
        finally:
            response.close()

    def is_near(self) -> bool:
        """Whether the server is on this machine, as its address says."""
        if self._near is None:
            self._near = run_in_thread(loopback.is_here, self.settings.api_url)
        return self._near

    def close(self) -> None:
        """Close the connections. The transport cannot be used afterwards."""
        self.outside.close()
        self._clients.close()

    def _answer(self, call: Call[Any], body: Body | None) -> Answer:
        answer: Answer = self._retrying(call, body, self._once)
        return answer

    def _retrying(self, call: Call[Any], body: Body | None, attempt_once: Any) -> Any:
        policy = self.policy

        def goes_on(error: BaseException) -> bool:
            return retry.wants_more(error) and (body is None or body.replayable)

        attempts = Retrying(
            sleep=self._sleep,
            stop=lambda state: retry.is_over(policy, state),
            wait=lambda state: retry.pause(policy, state),
            retry=retry_if_exception(goes_on),
            reraise=True,
        )
        try:
            return attempts(attempt_once, call, body)
        except retry.Failed as failure:
            raise failure.error from failure.__cause__

    def _sleep(self, seconds: float) -> None:
        sleep(seconds)

    def _once(self, call: Call[Any], body: Body | None) -> Answer:
        response = self._send(call, body, stream=False)
        answer = Answer(response.status_code, _headers(response), response.content)
        if answer.status not in call.success:
            raise self._refused(call, answer)
        return answer

    def _refused(self, call: Call[Any], answer: Answer) -> retry.Failed:
        failed = retry.refused(call, answer)
        if isinstance(failed.error, AuthenticationError):
            key = f"; the SDK sent the {self.settings.shown_key}"
            failed.error.message, failed.error.reason = failed.error.message + key, failed.error.reason + key
        return failed

    def _open(self, call: Call[Any], body: Body | None) -> httpx.Response:
        response = self._send(call, body, stream=True)
        if response.status_code in call.success:
            return response
        try:
            content = response.read()
        except httpx.HTTPError as cause:
            raise retry.broken(call, cause, self.settings.shown_endpoint) from None
        finally:
            response.close()
        raise self._refused(call, Answer(response.status_code, _headers(response), content))

    def _send(self, call: Call[Any], body: Body | None, *, stream: bool) -> httpx.Response:
        http = self._clients.get()
        headers = dict(call.headers)
        if body is not None and body.size is not None:
            headers["Content-Length"] = str(body.size)
        try:
            request = http.build_request(
                call.method,
                call.url,
                params=call.params or None,
                json=call.json,
                content=None if body is None else body.stream(),
                headers=list(headers.items()),  # type: ignore[arg-type]
                timeout=_timeout(self.settings, slow=call.slow),
            )
            return http.send(request, stream=stream)
        except (httpx.HTTPError, httpx.InvalidURL) as cause:
            raise retry.broken(call, cause, self.settings.shown_endpoint) from None

    def _bytes(self, call: Call[Any], response: httpx.Response) -> Iterator[bytes]:
        try:
            for chunk in response.iter_raw():
                yield chunk
        except httpx.HTTPError as cause:
            raise retry.broken(call, cause, self.settings.shown_endpoint) from None


def _new_client(settings: Settings) -> httpx.Client:
    pair = f"{settings.access_key_id}:{settings.secret_access_key}".encode()
    headers = {
        "Authorization": "Basic " + base64.b64encode(pair).decode(),
        "User-Agent": _USER_AGENT,
        "Accept": "application/json",
        **loopback.machine_headers(settings.api_url),
    }
    # Servers close idle connections after some five seconds. Closing first leaves no moment at which a
    # commit is sent into a connection that is being closed, and its outcome becomes unknown.
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=32, keepalive_expiry=3.0)
    return httpx.Client(
        base_url=settings.api_url,
        headers=headers,
        timeout=_timeout(settings, slow=False),
        limits=limits,
        verify=trust.ssl_context(settings) or False,
    )


def _timeout(settings: Settings, *, slow: bool) -> httpx.Timeout:
    limit = settings.timeout
    return httpx.Timeout(limit, connect=min(limit, 10.0), read=max(limit, _SLOW_READ) if slow else limit)


def _headers(response: httpx.Response) -> Mapping[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


_IN_USE: WeakValueDictionary[tuple[str, str], Transport] = WeakValueDictionary()
