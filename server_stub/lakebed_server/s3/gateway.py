"""The ASGI application of the S3 gateway: it authenticates a request, finds its operation and runs it.

It refuses headers that it cannot honour by name: to ignore one would break a promise.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Final

from lakebed_engine.vocabulary.errors import RepositoryNotFoundError
from lakebed_engine.vocabulary.events import Actor, act_as
from lakebed_engine.vocabulary.observer import observe_refs
from lakebed_wire.operations import API_PREFIX

from lakebed_server.auth.authenticate import Caller
from lakebed_server.bounds.admission import Admission
from lakebed_server.http import responses
from lakebed_server.http.authorization import authorize
from lakebed_server.http.request import Call, Services
from lakebed_server.http.request_cycle import Exchange, RequestCycle, Watch
from lakebed_server.http.responses import Reply
from lakebed_server.s3 import dispatch, permission_table, sts
from lakebed_server.s3.config import S3Config
from lakebed_server.s3.requests import conditions
from lakebed_server.s3.requests.addressing import is_domain
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.responses.errors import respond
from lakebed_server.s3.signatures import form
from lakebed_server.s3.signatures.authenticate import Clock, authenticate
from lakebed_server.s3.signatures.keys import Keys
from lakebed_server.s3.vocabulary import OWNER_ID, S3Error, not_implemented
from lakebed_server.settings.schema import LimitSettings
from lakebed_server.vocabulary import WITH_KEY, Receive, Scope, Send

log = logging.getLogger("lakebed.s3")


class Gateway:
    """The ASGI application for requests to its port, and for requests that `is_for` selects."""

    def __init__(
        self,
        services: Services,
        config: S3Config,
        *,
        clock: Clock = time.time,
        admission: Admission | None = None,
        watch: Watch | None = None,
    ) -> None:
        permission_table.check({*(route.name for route in dispatch.ROUTES.values()), "CopyObject", "PostObject"})
        self._services = services
        self._config = config
        self.port = config.port
        """The port of the listener that is only for S3, if there is one."""
        self._clock = clock
        self._admission = admission or Admission(LimitSettings())
        self._cycle = RequestCycle(self._admission, respond, log, watch)
        self._keys = Keys(services.authenticator)
        self._headers = [(b"server", b"lakebed/" + services.installation.version.encode()), responses.NOSNIFF]

    def is_for(self, scope: Scope, *, is_api: bool) -> bool:
        """Whether a request to the common listener is for S3: by its signature, its form, or its Host header.

        `is_api`: its path belongs to the REST API, which may have the same host.
        """
        config = self._config
        if _looks_signed(scope["headers"], scope["query_string"]):
            return True
        if is_api:
            return False
        if sts.is_for(scope["method"], scope["path"].encode(), scope["headers"]):
            return True
        if form.looks_like_one(scope["method"], dict(scope["headers"]).get(b"content-type", b"")):
            return True
        if not config.domains:
            return False
        return any(name == b"host" and is_domain(value, config) for name, value in scope["headers"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises nothing but cancellation."""
        base = Call(scope, receive, self._services)
        exchange = Exchange(base, send, [*self._headers, (b"x-amz-request-id", base.request_id.encode())])
        await self._cycle.run(base, exchange, receive, self._answer(base, scope))

    async def _answer(self, base: Call, scope: Scope) -> Reply:
        self._services.stopping.refuse()
        call = S3Call(base, scope, self._config)
        call.read()

        def admit(caller: Caller) -> None:
            base.user = base.committer = caller.user
            act_as(Actor(base.user, base.request_id))
            base.limits, base.source = caller.limits, caller.source
            if caller.access_key_id:  # of a temporary key, the key that asked for it: logs can name that one
                base.claimed_key_id = caller.access_key_id
            scope[WITH_KEY] = True
            self._admission.enter()
            base.counted = True

        if sts.is_for(base.method, base.path, base.headers):
            return await sts.answer(call, self._keys, self._clock, admit)
        base.operation = (
            f"s3:{base.method}"  # until the operation is known, which a client without a key does not learn
        )
        _note(call)
        if base.services.history is not None:
            observe_refs(base.accessed.resolved)
        admit(await authenticate(call, self._keys, self._clock))
        _note(call)  # the key of a form upload is one of its fields
        await _refuse_api_address(call)
        route = dispatch.find(call)
        base.operation = f"s3:{route.name}"
        refuse_unsupported(call.headers)
        conditions.refuse_unknown(route.name, call.address.level, call.method, call.headers)
        await authorize(base, permission_table.row(route.name, call), call.repo, call)
        call.room = self._admission.room(base.operation)
        if call.room is None or route.outlasts:
            return await route.run(call)
        async with call.room.place():
            return await route.run(call)


def _note(call: S3Call) -> None:
    """Note for the access history what the request names."""
    accessed = call.base.accessed
    accessed.repository, accessed.ref, accessed.path = call.repo, call.ref, call.path


async def _refuse_api_address(call: S3Call) -> None:
    """Raises S3Error for a client of S3 whose endpoint is the address of the REST API, unless `api` is a repository."""
    if call.in_host or not call.base.path.startswith(API_PREFIX.encode()):
        return
    try:
        await call.engine.repositories.get(call.repo)
    except RepositoryNotFoundError:
        raise S3Error(
            "NoSuchBucket",
            f"The specified bucket does not exist: {API_PREFIX} is the address of the REST API. The endpoint for S3 "
            "is the address of the server without a path.",
            details=(("BucketName", call.bucket),),
        ) from None


def _looks_signed(headers: list[tuple[bytes, bytes]], query: bytes) -> bool:
    """Whether a request has an Amazon signature, and so is for the gateway."""
    for name, value in headers:
        if name == b"authorization":
            return value.startswith(b"AWS")
    return bool(query) and (b"X-Amz-Algorithm=" in query or b"AWSAccessKeyId=" in query)


_ENCRYPTION: Final = (b"x-amz-server-side-encryption", b"x-amz-copy-source-server-side-encryption")
_REFUSED: Final = (
    b"x-amz-object-lock-",
    b"x-amz-tagging",
    b"x-amz-website-redirect",
    b"x-amz-write-offset-bytes",  # appends to an object, where a plain write would replace it
)
_PRIVATE: Final = frozenset((b"private", b"bucket-owner-full-control"))
_READABLE_CLASSES: Final = frozenset(
    b"STANDARD REDUCED_REDUNDANCY STANDARD_IA ONEZONE_IA INTELLIGENT_TIERING GLACIER_IR EXPRESS_ONEZONE".split()
)
"""Classes of objects that can be read at any time, as all objects here. They only differ in price."""
_OWNERS: Final = (b"x-amz-expected-bucket-owner", b"x-amz-source-expected-bucket-owner")
_ONLY: Final[Mapping[bytes, bytes]] = {
    b"x-amz-object-ownership": b"BucketOwnerEnforced",
    b"x-amz-bucket-object-lock-enabled": b"false",
}
"""The one value of a header that describes what every bucket is."""


def refuse_unsupported(headers: Mapping[bytes, bytes]) -> None:
    """Raises S3Error, which names the header. The headers without a value must be gone (`S3Call.read_payload`)."""
    for name, value in headers.items():
        if name.startswith(b"x-amz-"):
            _refuse(name, name.decode("latin-1"), value.strip())


def _refuse(name: bytes, text: str, value: bytes) -> None:
    if name.startswith(_ENCRYPTION):
        raise not_implemented(f"{text}: the object store handles encryption: configure it there, and omit this header.")
    if name.startswith(_REFUSED) or (name in _ONLY and value.lower() != _ONLY[name].lower()):
        raise not_implemented(f"{text} is not supported: leave it out.")
    if name.startswith(b"x-amz-grant-") or (name == b"x-amz-acl" and value not in _PRIVATE):
        raise S3Error("AccessControlListNotSupported", f"The bucket does not allow ACLs ({text})")
    if name == b"x-amz-storage-class" and value not in _READABLE_CLASSES:
        raise S3Error(
            "InvalidStorageClass",
            f"{text}: the storage class you specified is not valid here. The class of objects is a setting of their "
            "store: leave the header out.",
        )
    if name in _OWNERS and value != OWNER_ID.encode():
        raise S3Error("AccessDenied", f"{text}: every bucket of this server has the owner {OWNER_ID}.")
