# Generated from sdk/lakebed/_async/http/transport.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The connection: sends calls, retries calls that are safe to repeat, and streams bytes. It knows no operations.

Pickling keeps only the settings. Another process, a forked child and another event loop open their own sockets.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar
from weakref import WeakValueDictionary

from lakebed._compat.sync import Clients, run_in_thread
from lakebed._compat.sync_http import Client, Response, new_client
from lakebed._gateway import calls
from lakebed._http import exchange, retry, trust
from lakebed._http.exchange import USER_AGENT, HttpError, Options, Request, with_query
from lakebed._settings import config
from lakebed._settings.config import Settings
from lakebed._sync.http.attempts import LengthChanged, SentBody, repeated, source_error
from lakebed._sync.http.object_store import Outside
from lakebed._sync.http.renewal import Renewal
from lakebed._values.signed import Addresses
from lakebed._values.wire import Answer, Call
from lakebed.errors import AuthenticationError, LakebedError, NotFoundError

if TYPE_CHECKING:
    from lakebed._sync.http.suggestions import Suggestions

T = TypeVar("T")

_SLOW_READ = 600.0

_NAMES = frozenset({"repository_not_found", "branch_not_found", "tag_not_found", "ref_not_found"})
"""Kinds of errors that get suggestions. A missing path gets them only if a person reads the error."""


def recall(endpoint: str, identity: str, timeout: float, retries: int) -> Transport:
    """Return the connection for an unpickled handle, which carries no secret: the connection in use here, or a new one.

    Raises ConfigurationError when this machine has no credentials.
    """
    known = _IN_USE.get((endpoint, identity))
    if known is not None and not known._clients.is_closed:
        return known
    return Transport(config.recalled(endpoint, identity, timeout=timeout, retries=retries)).shared()


class Body(Protocol):
    """A request body that is streamed."""

    @property
    def size(self) -> int | None:
        """The length in bytes, if it is known."""
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
        self._api_url = settings.api_url
        trust.warn_of_clear_text(settings)
        self.policy = retry.Policy(attempts=settings.retries + 1)
        self.outside = Outside(self.policy, settings.timeout, settings.http)
        """Connections to object stores, for signed addresses."""

        self.addresses = Addresses()
        """Signed addresses to read at."""

        self._headers = _headers(settings)
        self._renewal = Renewal(settings) if settings.token else None
        self._clients = Clients(partial(_new_client, settings))
        self._near: bool | None = None
        self._suggestions: Suggestions | None = None

    def shared(self) -> Self:
        """Return this transport, registered so that `recall` finds it while it is in use."""
        _IN_USE[self.settings.endpoint, self.settings.identity] = self
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings, "policy": self.policy}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["settings"])  # type: ignore[misc]
        self.policy = state["policy"]

    def call(self, call: Call[T], body: Body | None = None) -> T:
        """Send one call and return its answer. Raises the error that the answer describes.

        The error for a repository, branch or tag that does not exist also names similar ones.
        """
        try:
            return calls.read(call, self._answer(call, body))
        except NotFoundError as error:
            if error.kind in _NAMES and call.advised:
                self.advise(error, call.subject.also)
            raise

    def advise(self, error: NotFoundError, also: Sequence[str] = ()) -> None:
        """Add similar names to an error, when a request of two seconds finds some. Raises nothing of its own.

        `also`: all refs that the request read.
        """
        from lakebed._sync.http.suggestions import Suggestions

        if self._suggestions is None:
            self._suggestions = Suggestions(self._peek)
        self._suggestions.add_to(error, also)

    def _peek(self, call: Call[T], seconds: float) -> T | None:
        try:
            return calls.read(call, self._once(call, None, seconds))
        except (LakebedError, retry.Failed):
            return None

    def once(self, call: Call[T], body: Body | None = None) -> T:
        """Send one call once, for flows that decide the next step themselves. Raises `Failed`."""
        return calls.read(call, self._once(call, body))

    def probe(self, call: Call[Any]) -> bool:
        """Send one call once, and return whether it succeeded. Never raises."""
        try:
            calls.read(call, self._once(call, None))
        except (LakebedError, retry.Failed):
            return False
        return True

    @contextmanager
    def stream(self, call: Call[T]) -> Iterator[tuple[T, Iterator[bytes]]]:
        """Start a download. Returns the head and the bytes, which raise `Failed` if the download breaks."""
        response = repeated(self.policy, partial(self._open, call, None))
        try:
            head = calls.read(call, Answer(response.status, response.headers))
            yield head, self._bytes(call, response)
        finally:
            response.close()

    def is_near(self) -> bool:
        """Whether the server is on this machine, according to its address."""
        if self._near is None:
            self._near = run_in_thread(exchange.is_here, self._api_url)
        return self._near

    def close(self) -> None:
        """Close the connections. The transport cannot be used afterwards."""
        self.outside.close()
        self._clients.close()

    def _answer(self, call: Call[Any], body: Body | None) -> Answer:
        return repeated(self.policy, partial(self._once, call, body), _may_repeat(body))

    def _once(self, call: Call[Any], body: Body | None, seconds: float | None = None) -> Answer:
        response = self._send(call, body, stream=False, seconds=seconds)
        answer = Answer(response.status, response.headers, response.content)
        if answer.status not in call.success:
            raise self._refused(call, answer)
        return answer

    def _refused(self, call: Call[Any], answer: Answer) -> retry.Failed:
        failed = retry.refused(call, answer)
        if isinstance(failed.error, AuthenticationError):
            key = f"; the SDK sent the {self.settings.shown_credentials}"
            if self.settings.token:
                key = f"; the sign-in has expired: run `lakebed login`{key}"
            failed.error.message, failed.error.reason = failed.error.message + key, failed.error.reason + key
        return failed

    def _open(self, call: Call[Any], body: Body | None) -> Response:
        response = self._send(call, body, stream=True)
        if response.status in call.success:
            return response
        try:
            content = response.read()
        except HttpError as cause:
            raise retry.broken(call, cause, self.settings.shown_endpoint) from None
        finally:
            response.close()
        raise self._refused(call, Answer(response.status, response.headers, content))

    def _renew(self) -> None:
        if self._renewal is None:
            return
        token = self._renewal.token(self.settings.token, self.once)
        if token is not None:
            self.settings = replace(self.settings, token=token)
            self._headers = _headers(self.settings)

    def _send(self, call: Call[Any], body: Body | None, *, stream: bool, seconds: float | None = None) -> Response:
        self._renew()
        headers = {**self._headers, **call.headers}
        content: bytes | Iterator[bytes] | None = None
        sent = None
        if body is not None:
            sent = SentBody(body.stream(), body.size)
            content = sent.pieces()
            if body.size is not None:
                headers["Content-Length"] = str(body.size)
        elif call.json is not None:
            content = json.dumps(call.json, ensure_ascii=False, separators=(",", ":")).encode()
            headers["Content-Type"] = "application/json"
        url = with_query(self._api_url + call.url, call.params)
        limit = min(self.settings.timeout, seconds or self.settings.timeout)
        request = Request(call.method, url, headers, max(limit, _SLOW_READ) if call.slow else limit, content)
        try:
            return self._clients.get().send(request, stream=stream)
        except HttpError as cause:
            if sent is not None and sent.error is not None:
                raise source_error(call, sent.error) from None
            raise retry.broken(call, cause, self.settings.shown_endpoint) from None
        except LengthChanged as error:
            raise source_error(call, error) from None

    def _bytes(self, call: Call[Any], response: Response) -> Iterator[bytes]:
        try:
            for chunk in response.chunks():
                yield chunk
        except HttpError as cause:
            raise retry.broken(call, cause, self.settings.shown_endpoint) from None


def _new_client(settings: Settings) -> Client:
    return new_client(Options(settings.timeout, trust.ssl_context(settings), settings.http))


def _may_repeat(body: Body | None) -> Callable[[BaseException], bool]:
    if body is None:
        return retry.wants_more
    return lambda error: retry.wants_more(error) and body.replayable


def _headers(settings: Settings) -> dict[str, str | bytes]:
    """The headers of every request."""
    near = exchange.machine_headers(settings.api_url)
    return {
        **_authorization(settings),
        "User-Agent": USER_AGENT,
        "Accept": "application/json",
        "Accept-Encoding": "identity" if near else "gzip, deflate",
        **near,
    }


def _authorization(settings: Settings) -> dict[str, str | bytes]:
    if settings.token:
        return {"Authorization": f"Bearer {settings.token}"}
    if not settings.access_key_id:
        return {}  # a connection that signs in
    pair = f"{settings.access_key_id}:{settings.secret_access_key}".encode()
    return {"Authorization": "Basic " + base64.b64encode(pair).decode()}


_IN_USE: WeakValueDictionary[tuple[str, str], Transport] = WeakValueDictionary()
