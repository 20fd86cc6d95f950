"""Turns errors into responses of the API.

openapi.yaml has the status of each kind (`x-error-kinds`). An error that the client can correct keeps its message. A
failure of the server (5xx) is logged in full, and its response has a fixed message, or the message of the store for
clients, so that no path, address or secret of this machine leaves.
"""

from __future__ import annotations

import logging
from typing import Final

from lakebed_engine.vocabulary.errors import (
    EngineError,
    HookRefusedError,
    InvalidRangeError,
    PathsConflictError,
    StoreError,
)
from lakebed_wire import models
from lakebed_wire.operations import ERROR_KINDS
from msgspec import UNSET

from lakebed_server.auth.origins import is_browser
from lakebed_server.http.request import Call
from lakebed_server.http.responses import RETRY_AFTER, Reply, bodiless, json
from lakebed_server.rest import serializers
from lakebed_server.vocabulary import NO_TRACEBACK, OUR_FAULT, Header, RequestError, StartError

log = logging.getLogger("lakebed.server")

CHALLENGE: Final[Header] = (b"www-authenticate", b'Basic realm="lakebed"')


def respond(error: Exception, call: Call) -> Reply:
    """The response to an error that a request raised."""
    if isinstance(error, RequestError):
        return _reply(call, error.kind, error.message, error.headers)
    if isinstance(error, EngineError):
        return _engine_reply(error, call)
    if isinstance(error, StartError):  # the secret key does not decrypt stored secrets: the operator must act
        log.error("%s", error, extra={"request_id": call.request_id})
    else:
        log.error("unexpected error", exc_info=error, extra={"request_id": call.request_id})
    return _reply(call, "internal", OUR_FAULT["internal"])


def object_error(path: str, error: Exception, call: Call) -> models.ObjectReadError:
    """The record of an object that getObjects cannot read."""
    if isinstance(error, EngineError):
        kind, message = error.kind, _message(error, call)
    else:
        kind, message = "internal", OUR_FAULT["internal"]
        log.error("unexpected error", exc_info=error, extra={"request_id": call.request_id})
    return models.ObjectReadError(path=path, status_code=ERROR_KINDS.get(kind, 500), kind=kind, message=message)


def _message(error: EngineError, call: Call) -> str:
    """The message for the client. Logs a failure of the server."""
    kind = error.kind
    if kind not in OUR_FAULT:
        return error.message
    detail = f"{type(error).__name__}: {error.message}"
    trace = None if kind in NO_TRACEBACK else error
    log.error("%s: %s", kind, detail, exc_info=trace, extra={"request_id": call.request_id})
    return (isinstance(error, StoreError) and error.public_message) or OUR_FAULT[kind]


def _engine_reply(error: EngineError, call: Call) -> Reply:
    kind = error.kind
    if kind in OUR_FAULT:
        lasting = isinstance(error, StoreError) and error.lasting
        return _reply(call, kind, _message(error, call), retry=not lasting)
    if isinstance(error, PathsConflictError):
        return _conflict_reply(error, call)
    if isinstance(error, HookRefusedError) and not call.head:
        run_id = error.run_id or UNSET
        body = models.Error(message=error.message, kind=kind, request_id=call.request_id, run_id=run_id)
        return json(ERROR_KINDS[kind], body)
    headers: tuple[Header, ...] = ()
    if isinstance(error, InvalidRangeError) and error.size is not None:
        headers = ((b"content-range", b"bytes */%d" % error.size),)
    return _reply(call, kind, error.message, headers)


def _conflict_reply(error: PathsConflictError, call: Call) -> Reply:
    if call.head:
        return bodiless(ERROR_KINDS[error.kind], error.message, error.kind)
    body = models.Error(
        message=error.message,
        kind=error.kind,
        # clients of lakeFS read a 409 of a merge as a MergeResult
        reference="" if error.kind == "merge_conflict" else UNSET,
        conflicts=serializers.conflicts(error.conflicts),
        conflicts_has_more=error.has_more,
        request_id=call.request_id,
    )
    return json(ERROR_KINDS[error.kind], body)


def _reply(call: Call, kind: str, message: str, headers: tuple[Header, ...] = (), *, retry: bool = True) -> Reply:
    status = ERROR_KINDS.get(kind, 500)
    if retry and status in (429, 503) and not any(name == RETRY_AFTER[0] for name, _ in headers):
        headers = (*headers, RETRY_AFTER)
    if status == 401 and not is_browser(call.headers):
        headers = (*headers, CHALLENGE)  # a browser would ask for a key, and then send it with every request
    if call.head:
        return bodiless(status, message, kind, headers)
    return json(status, models.Error(message=message, kind=kind, request_id=call.request_id), headers)
