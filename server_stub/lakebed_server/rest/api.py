"""The ASGI application of the API below `/api/v1`.

It has no middleware, because each layer costs time in every request. The order is: trie, authentication, binding,
handler.

Operations of the lakeFS API that Lakebed does not have are answered with 501 and an alternative. So a client sees the
difference between an unsupported operation and a misspelled path (404, `endpoint_not_found`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from lakebed_engine.vocabulary.events import Actor, act_as
from lakebed_engine.vocabulary.observer import observe_refs
from lakebed_wire import models
from lakebed_wire.operations import API_PREFIX, OPERATIONS, Operation

from lakebed_server.access.asked import Row
from lakebed_server.auth import origins
from lakebed_server.bounds.admission import Admission, Room
from lakebed_server.http.authorization import authorize
from lakebed_server.http.request import Call, Services
from lakebed_server.http.request_cycle import Exchange, RequestCycle, Watch
from lakebed_server.http.responses import Reply, negotiated
from lakebed_server.rest import operation_handlers
from lakebed_server.rest.binder import Binder
from lakebed_server.rest.errors import respond
from lakebed_server.rest.operation_handlers import Handler
from lakebed_server.rest.rights import authors, permission_table
from lakebed_server.rest.rights.permission_table import PERMISSIONS
from lakebed_server.rest.routing import Trie
from lakebed_server.settings.schema import LimitSettings
from lakebed_server.vocabulary import (
    WITH_KEY,
    Receive,
    RequestError,
    Scope,
    Send,
    bad_request,
    not_implemented,
)

log = logging.getLogger("lakebed.server")

JSON_LIMIT = 10 << 20


class Route(NamedTuple):
    """An operation, ready to be called."""

    operation: Operation
    binder: Binder
    handler: Handler
    room: Room | None
    permissions: Row | None


class Api:
    """The ASGI application for paths below `/api/v1` (below `root_path`, if a proxy adds one)."""

    def __init__(
        self,
        services: Services,
        *,
        json_limit: int = JSON_LIMIT,
        operations: Iterable[Operation] = OPERATIONS,
        handlers: Mapping[str, Handler] | None = None,
        admission: Admission | None = None,
        watch: Watch | None = None,
    ) -> None:
        if handlers is None:
            handlers = operation_handlers.HANDLERS
        operation_handlers.check(operations)
        permission_table.check(operations)
        self._services = services
        self._admission = admission or Admission(LimitSettings())
        self._cycle = RequestCycle(self._admission, respond, log, watch)
        self._trie = Trie(
            (operation.method, operation.path, self._route(operation, json_limit, handlers)) for operation in operations
        )
        version = services.installation.version.encode()
        self._headers = [
            (b"server", b"lakebed/" + version),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"SAMEORIGIN"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises nothing but cancellation."""
        call = Call(scope, receive, self._services)
        exchange = Exchange(call, send, self._headers)
        await self._cycle.run(call, exchange, receive, self._answer(call, scope))

    async def _answer(self, call: Call, scope: Scope) -> Reply:
        self._services.stopping.refuse()
        path = _below_prefix(call.path, scope.get("root_path", ""))
        try:
            route, raw = self._trie.find(call.method, path)
        except RequestError as error:
            raise refusal(call.method, path, error) from None
        operation = route.operation
        call.operation = operation.operation_id
        call.accessed.path = path
        if call.method not in origins.SAFE:
            origins.refuse_foreign(call.headers)
        if operation.security:
            if len(call.headers) != len(scope["headers"]):
                _refuse_two_authorizations(scope)
            call.user, call.claimed_key_id, call.source, call.limits = await self._services.authenticator.authenticate(
                call.headers, https=call.https, address=call.client_address
            )
            call.committer = call.user
            act_as(Actor(call.user, call.request_id))
            scope[WITH_KEY] = True
            self._admission.enter()
            call.counted = True
        binder = route.binder
        params = binder.params(raw, scope["query_string"], call.headers)
        body = None if operation.body is None else await binder.body(call.body, call.headers)
        values = (params,) if operation.body is None else (params, body)
        if self._services.history is not None:
            _note_access(call, params, body)
            observe_refs(call.accessed.resolved)
        if route.permissions is not None:
            repository = getattr(params, "repository", "")
            await authorize(call, route.permissions, repository, params, body)
            if _is_forced(params, body) and authors.may_bypass(call, repository):
                act_as(Actor(call.user, call.request_id, bypasses_hooks=True))
        if route.room is None:
            return await negotiated(call, await route.handler(call, *values))
        async with route.room.place():
            reply = await route.handler(call, *values)
        return await negotiated(call, reply)

    def _route(self, operation: Operation, json_limit: int, handlers: Mapping[str, Handler]) -> Route:
        name = operation.operation_id
        handler = handlers.get(name) or _planned(operation_handlers.PLANNED.get(name, ""))
        binder, room = Binder(operation, json_limit), self._admission.room(name)
        return Route(operation, binder, handler, room, PERMISSIONS.get(name))


def _is_forced(params: object, body: object) -> bool:
    """Whether a request says `force`, as a parameter or in its body."""
    return any(getattr(part, "force", False) is True for part in (params, body))


def _note_access(call: Call, params: object, body: object) -> None:
    """Note what a request says about the data, for the access history. Its path is that of the URL without any."""
    accessed = call.accessed
    if isinstance(body, models.RepositoryCreation):
        accessed.repository, accessed.path = body.name, ""
    elif hasattr(params, "repository"):
        accessed.path = ""
    for attribute, names in _ACCESSED:
        for name in names:
            value = getattr(params, name, "")
            if isinstance(value, str) and value:
                setattr(accessed, attribute, value)
                break


_ACCESSED = (
    ("repository", ("repository",)),
    ("ref", ("branch", "ref", "destination_branch", "right_ref", "workspace", "tag", "commit_id")),
    ("path", ("path", "dest_path", "prefix")),
)


def _refuse_two_authorizations(scope: Scope) -> None:
    """Refuse a second Authorization header, because a proxy and this server may read different ones."""
    if sum(name == b"authorization" for name, _ in scope["headers"]) > 1:
        raise bad_request("there are two Authorization headers: send one")


def _below_prefix(path: bytes, root_path: str) -> str:
    try:
        text = path.decode("ascii")
    except UnicodeDecodeError:
        raise bad_request("the path must be percent-encoded") from None
    return text.removeprefix(root_path).removeprefix(API_PREFIX)


def _planned(what: str) -> Handler:
    async def handler(call: Call, *_: object) -> Reply:
        raise not_implemented(f"{call.operation} is not available yet: {what}")

    return handler


_ACL: Final = "groups have no access control lists on this server: attach policies to the group"
_OUTSIDE: Final = "accounts of other systems are not accepted: log in with an access key"
_GC: Final = "clients cannot collect garbage: the server sweeps periodically, and `lakebed sweep` sweeps immediately"

_TABLE: Final[tuple[tuple[str, str, str], ...]] = (
    ("POST", "/auth/groups/{}/acl", _ACL),
    ("POST DELETE", "/auth/users/{}/external/principals", _OUTSIDE),
    ("GET", "/auth/users/{}/external/principals/ls", _OUTSIDE),
    ("GET", "/auth/external/principals", _OUTSIDE),
    ("POST", "/auth/external/principal/login", _OUTSIDE),
    ("POST", "/sts/login", _OUTSIDE),
    ("GET", "/oidc/callback", _OUTSIDE),
    ("GET PUT DELETE", "/repositories/{}/settings/gc_rules", _GC),
    ("GET", "/repositories/{}/gc/rules/set_allowed", _GC),
    ("GET POST DELETE", "/repositories/{}/gc/rules", _GC),
    ("POST", "/repositories/{}/gc/prepare_commits", _GC),
    ("POST", "/repositories/{}/gc/prepare_commits/async", _GC),
    ("GET", "/repositories/{}/gc/prepare_commits/status", _GC),
    ("POST", "/repositories/{}/gc/prepare_uncommited", _GC),
    ("GET", "/config/garbage-collection", _GC),
)
"""Methods, path and message."""


_trie = Trie((method, path, said) for methods, path, said in _TABLE for method in methods.split())


def refusal(method: str, path: str, otherwise: RequestError) -> RequestError:
    """The error for a path without an operation."""
    try:
        return not_implemented(_trie.find(method, path).target)
    except RequestError:
        return otherwise
