"""One request on its way through the server, and the services that it may use.

Above `auth` and `streaming.body`. `api` makes a Call, handlers read it.
"""

from __future__ import annotations

import itertools
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed_engine.engine import Engine

from lakebed_server.auth.authenticate import Authenticator, key_id_of
from lakebed_server.streaming.body import RequestBody
from lakebed_server.streaming.spool import Spool
from lakebed_server.vocabulary import ZERO_COPY, Receive, Scope

_SANE_ID = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}")
_process = secrets.token_hex(6)
_count = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Installation:
    """What `getConfig` and workspaces say about this server.

    `presign`: whether clients get signed addresses, good for `presign_seconds`; `share`: who is told the directories of
    `local://`; `imports`: below which addresses objects may be imported.
    """

    version: str
    default_namespace_prefix: str = "local://repos"
    memory: bool = False
    local: bool = True
    cloud: bool = False
    presign: bool = False
    presign_seconds: int = 900
    share: str = "auto"
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Services:
    """What handlers may call."""

    engine: Engine
    authenticator: Authenticator
    installation: Installation
    spool: Spool = field(default_factory=Spool)


class Call:
    """One request: where it came from, who sent it, its headers and body."""

    __slots__ = (
        "_scope",
        "body",
        "counted",
        "head",
        "headers",
        "https",
        "method",
        "operation",
        "path",
        "request_id",
        "sends_files",
        "services",
        "started",
        "user",
    )

    def __init__(self, scope: Scope, receive: Receive, services: Services) -> None:
        self.services = services
        self.method: str = scope["method"]
        self.path: bytes = scope["raw_path"] if "raw_path" in scope else scope["path"].encode()
        self.headers: Mapping[bytes, bytes] = dict(scope["headers"])
        self.body = RequestBody(receive, self.headers)
        self.head = self.method == "HEAD"
        self.https = scope.get("scheme") == "https" or self.headers.get(b"x-forwarded-proto") == b"https"
        self._scope = scope
        self.sends_files = ZERO_COPY in scope.get("extensions", ())
        self.user = ""
        self.counted = False  # among the requests that are worked on
        self.operation = ""
        self.started = time.perf_counter()
        self.request_id = _request_id(self.headers.get(b"x-request-id"))

    @property
    def access_key_id(self) -> str:
        """The access key that the request came with; empty where it came with a token."""
        scheme, _, value = self.headers.get(b"authorization", b"").partition(b" ")
        return key_id_of(value) if scheme.lower() == b"basic" else ""

    @property
    def client_address(self) -> str:
        """The network address of the client, as far as the connection tells; empty where it has none."""
        client = self._scope.get("client")
        return client[0] if client else ""

    @property
    def engine(self) -> Engine:
        """The engine."""
        return self.services.engine

    @property
    def is_local(self) -> bool:
        """Whether the client is on this machine, as far as the connection tells."""
        return _is_local(self._scope)

    @property
    def shares_directories(self) -> bool:
        """Whether this client may be told directories of this machine."""
        share = self.services.installation.share
        return share == "always" or (share == "auto" and self.is_local)

    def log_fields(self, status: int, sent: int, seconds: float) -> dict[str, object]:
        """What the log says of the request. No query, header or body: they may hold secrets."""
        return {
            "method": self.method,
            "path": self.path.decode("ascii", "backslashreplace"),
            "operation": self.operation,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "received": self.body.received,
            "sent": sent,
            "user": self.user,
            "request_id": self.request_id,
        }


def _is_local(scope: Scope) -> bool:
    """Whether the client is on this machine, as far as the connection tells; a proxy says for whom it asks."""
    client = scope.get("client")
    if client is None or any(name in (b"x-forwarded-for", b"forwarded") for name, _ in scope["headers"]):
        return False
    return str(client[0]).startswith("127.") or client[0] in ("::1", "localhost")


def _request_id(sent: bytes | None) -> str:
    """The client's own id when it is harmless, else a new one."""
    if sent is not None and _SANE_ID.fullmatch(sent) is not None:
        return sent.decode("ascii")
    return f"{_process}-{next(_count):08x}"
