"""The context of one request, and the services that its handler may use."""

from __future__ import annotations

import itertools
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.hooks import Run

from lakebed_server.access.permissions import Permissions, Rights
from lakebed_server.access.rights_log import RightsLog
from lakebed_server.access_history.recorder import Recorder
from lakebed_server.auth.authenticate import Authenticator, claimed_key_id, key_id_of
from lakebed_server.auth.records import LONGEST_ID, Limits, User
from lakebed_server.auth.sessions import SignInClient
from lakebed_server.auth.tokens import Source, Token
from lakebed_server.bounds.admission import Stopping
from lakebed_server.event_feed.feed import Feeds
from lakebed_server.http.body import RequestBody
from lakebed_server.http.read_ahead import Memory
from lakebed_server.http.spool import Spool
from lakebed_server.network.clients import MACHINE_HEADER, NO_PROXIES, Proxies, client_of, is_loopback, proves_machine
from lakebed_server.settings.schema import TableSettings
from lakebed_server.tables.pool import TablePool
from lakebed_server.vocabulary import SEND_FILE, Receive, Scope, SendFile

_SANE_ID = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}")
_LONGEST_AGENT = 200
"""The largest number of characters of `User-Agent` in the log."""
_process = secrets.token_hex(6)
_count = itertools.count(1)


IdentifyWorkload = Callable[[str, str], Awaitable[User]]
"""Takes a token and the address of the client."""
PasswordCheck = Callable[[str, str, SignInClient], Awaitable[Token]]
ExchangeCode = Callable[[str, str, SignInClient], Awaitable[Token]]


class HookRuns(Protocol):
    """Runs hooks on request."""

    async def run_now(
        self, repo: str, event_type: str, ref: str, action: str = "", branch: str = "", rerun_of: str = ""
    ) -> Run:
        """Run the actions of an event, or one of them, at a ref, by the rules of a branch if one is given.

        `rerun_of`: the run that this one repeats.
        """
        ...


@dataclass(frozen=True, slots=True)
class InstalledStore:
    """A named store. `scheme` is that of its namespaces, `namespace_prefix` where new repositories go by default.

    `imports`: the addresses below which its repositories may import objects. `signs`: whether clients get presigned
    URLs of it.
    """

    id: str
    scheme: str
    description: str
    namespace_prefix: str
    signs: bool
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Installation:
    """What `getConfig` and workspaces say about this server.

    `presign`: whether clients get presigned URLs, which are valid for `presign_seconds`. `share`: which clients get the
    directories of `local://`. `imports`: the addresses below which objects may be imported. `stores`: the named stores;
    the rest is the default one. `signed_headers`: its presigned URLs need headers, which other clients do not send.
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
    stores: tuple[InstalledStore, ...] = ()
    signed_headers: bool = False

    def prefix_of(self, storage_id: str) -> str:
        """Where new repositories without a namespace go: that of a named store, or of the default store."""
        found = {store.id: store.namespace_prefix for store in self.stores}
        return found.get(storage_id, self.default_namespace_prefix)


@dataclass(frozen=True, slots=True)
class Services:
    """The services for handlers.

    `permissions` is None with `auth.mode: single`: every user is the administrator. `history`: the access history, if
    it is recorded. `exchange_code`: returns the token for the code and verifier of a sign-in; None without a provider.
    `check_password`: returns the token for a user name and a password; None without LDAP. `identify_workload`: returns
    the user of a token of a CI system or cluster; None without rules. `login_path`: the page where a browser begins to
    sign in with the provider; empty without one.
    `hooks`: None if this server runs none. `slow_request`: seconds after which the log calls a request slow; 0: never.
    """

    engine: Engine
    authenticator: Authenticator
    installation: Installation
    spool: Spool = field(default_factory=Spool)
    read_ahead: Memory = field(default_factory=Memory)
    proxies: Proxies = NO_PROXIES
    permissions: Permissions | None = None
    exchange_code: ExchangeCode | None = None
    history: Recorder | None = None
    check_password: PasswordCheck | None = None
    identify_workload: IdentifyWorkload | None = None
    login_path: str = ""
    tables: TablePool = field(default_factory=lambda: TablePool(TableSettings()))
    feeds: Feeds = field(default_factory=Feeds)
    rights_log: RightsLog | None = None
    hooks: HookRuns | None = None
    stopping: Stopping = field(default_factory=Stopping)
    slow_request: float = 1.0


class Accessed:
    """What a request reads or writes, for the access history.

    `commit_id`: the commit of `ref`. `paths`: many objects of one request. `refused`: those of them that the caller may
    not read or write. `addresses`: objects that the client got an address of, to read them without this server.
    """

    __slots__ = ("addresses", "commit_id", "path", "paths", "ref", "refused", "repository")

    def __init__(self) -> None:
        self.repository = ""
        self.ref = ""
        self.commit_id = ""
        self.path = ""
        self.paths: list[str] = []
        self.refused: set[str] = set()
        self.addresses: list[str] = []

    def resolved(self, ref: str, commit_id: str) -> None:
        """Note the commit of a ref, if the request is about this ref or names none."""
        self.ref = self.ref or ref
        if ref == self.ref:
            self.commit_id = commit_id


class Call:
    """One request: its client, user, headers and body."""

    __slots__ = (
        "accessed",
        "body",
        "claimed_key_id",
        "client_address",
        "commit_id",
        "committed_by",
        "committer",
        "counted",
        "head",
        "headers",
        "https",
        "limits",
        "method",
        "operation",
        "path",
        "request_id",
        "rights",
        "send_file",
        "services",
        "source",
        "span",
        "started",
        "trace_id",
        "user",
    )

    def __init__(self, scope: Scope, receive: Receive, services: Services) -> None:
        self.services = services
        self.method: str = scope["method"]
        self.path: bytes = scope["raw_path"] if "raw_path" in scope else scope["path"].encode()
        self.headers: Mapping[bytes, bytes] = dict(scope["headers"])
        self.body = RequestBody(receive, self.headers)
        self.head = self.method == "HEAD"
        self.client_address, self.https = client_of(scope, services.proxies)
        self.send_file: SendFile | None = scope.get(SEND_FILE)  # where the connection can send a file by itself
        self.user = ""
        self.source: Source = "key"  # how the user signed in
        self.committer = ""  # the name of the user in commits
        self.committed_by = ""  # the caller, if `committer` is another user
        self.limits = Limits()  # what restricts the access key
        self.accessed = Accessed()
        self.commit_id = ""  # the commit that the request made
        self.rights: Rights | None = None  # what the user may do; None: everything
        self.counted = False  # whether admission counts this request
        self.claimed_key_id = ""  # the access key id that the request names, right or wrong
        self.operation = ""
        self.trace_id = ""  # of the trace that the request belongs to, if there are traces
        self.span: tuple[Any, Any] | None = None  # its span, and what restores the span before it
        self.started = time.perf_counter()
        self.request_id = _request_id(self.headers.get(b"x-request-id"))

    @property
    def access_key_id(self) -> str:
        """The access key id of the request's Basic credentials, right or wrong. Empty without credentials."""
        scheme, _, value = self.headers.get(b"authorization", b"").partition(b" ")
        return key_id_of(value) if scheme.lower() == b"basic" else ""

    @property
    def engine(self) -> Engine:
        """The engine."""
        return self.services.engine

    @property
    def is_local(self) -> bool:
        """Whether the client has a loopback address, according to the connection and trusted proxies."""
        return is_loopback(self.client_address)

    @property
    def shares_directories(self) -> bool:
        """Whether the client may know the directories of this machine."""
        share = self.services.installation.share
        proven = self.is_local and proves_machine(self.headers.get(MACHINE_HEADER))
        return share == "always" or (share == "auto" and proven)

    @property
    def shown_key_id(self) -> str:
        """The access key id that the request names, right or wrong, fit for logs."""
        return _plain(self.claimed_key_id or claimed_key_id(self.headers, https=self.https), LONGEST_ID)

    @property
    def shown_agent(self) -> str:
        """The client's `User-Agent`, fit for logs."""
        return _plain(self.headers.get(b"user-agent", b"").decode("latin-1"), _LONGEST_AGENT)

    @property
    def client(self) -> SignInClient:
        """The client, as the list of sessions shows it."""
        return SignInClient(self.client_address, self.shown_agent)

    def log_fields(self, status: int, sent: int, seconds: float) -> dict[str, object]:
        """The fields of the request's log line, without query, headers and body, which may contain secrets."""
        fields: dict[str, object] = {
            "method": self.method,
            "path": self.path.decode("ascii", "backslashreplace"),
            "operation": self.operation,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "received": self.body.received,
            "sent": sent,
            "user": self.user,
            "access_key_id": self.shown_key_id,
            "address": self.client_address,
            "user_agent": self.shown_agent,
            "request_id": self.request_id,
        }
        if self.trace_id:
            fields["trace_id"] = self.trace_id
        return fields


def _plain(text: str, longest: int) -> str:
    """The beginning of a text from a client, in ASCII."""
    return text[:longest].encode("ascii", "backslashreplace").decode()


def _request_id(sent: bytes | None) -> str:
    """The client's own id if it is harmless, otherwise a new one."""
    if sent is not None and _SANE_ID.fullmatch(sent) is not None:
        return sent.decode("ascii")
    return f"{_process}-{next(_count):08x}"
