"""The top handle: a lake is one server and one set of credentials.

Making handles costs nothing and asks nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self

from lakebed import _checks
from lakebed._async.handles.repository import Repository
from lakebed._async.http.pagination import Listing
from lakebed._async.http.transport import Transport
from lakebed._compat.aio import Door
from lakebed._gateway.operations import keys, repositories, system
from lakebed._settings import config, default_lake
from lakebed._settings.config import Settings
from lakebed._values import uri as values_uri
from lakebed._values.wire import Answer
from lakebed.model import AccessKey, RepositoryInfo, ServerInfo, SessionToken, User


class Lake(Door):
    """One Lakebed server. Safe to share between threads, and to pickle: connections are made anew elsewhere."""

    __module__ = "lakebed.aio"

    def __init__(self, settings: Settings) -> None:
        self._transport = Transport(settings).shared()

    def __repr__(self) -> str:
        return f"<Lake {self.settings.endpoint}>"

    @classmethod
    def _over(cls, transport: Transport) -> Self:
        """A handle to a connection that is there."""
        lake = cls.__new__(cls)
        lake._transport = transport
        return lake

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def settings(self) -> Settings:
        """What this connection was made with, and where each value came from. The secret is not shown."""
        return self._transport.settings

    def as_default(self) -> AbstractContextManager[Self]:
        """Let `lakebed://` mean this lake inside a `with` block, in this thread or task: for pandas and everything else
        that knows fsspec. Threads that are started inside begin without it.
        """
        return default_lake.binding(self.settings, self)

    async def close(self) -> None:
        """Close the connections. Handles made from this lake stop working."""
        await self._transport.close()

    async def healthy(self) -> bool:
        """Whether the server answers, asked once. Never raises; needs no valid credentials."""
        return await self._transport.probe(system.health())

    async def version(self) -> str:
        """The API level of the server, such as `1.60.0`. Raises AuthenticationError."""
        return await self._transport.call(system.version())

    async def info(self) -> ServerInfo:
        """What the server tells of itself: its API level, where storage namespaces may lie, what it can.

        Raises AuthenticationError.
        """
        return await self._transport.call(system.info())

    async def is_set_up(self) -> bool:
        """Whether the server has an administrator; a Lakebed server sees to it before it answers. Needs no valid
        credentials.
        """
        return await self._transport.call(system.is_set_up())

    async def session_token(self) -> SessionToken:
        """A token that stands for this connection's access key until it expires, for a tool that is to have no key.

        It can do what the key can. Raises AuthenticationError.
        """
        settings = self.settings
        return await self._transport.call(keys.login(settings.access_key_id, settings.secret_access_key))

    async def end_session_tokens(self) -> None:
        """End all tokens of this user, on every server within a second. Access keys stay.

        Raises OutcomeUnknownError on a lost answer: ask again.
        """
        await self._transport.call(keys.logout_everywhere())

    async def request(
        self, method: str, path: str, params: Mapping[str, str | Sequence[str]] | None = None, body: Any = None
    ) -> Answer:
        """Send one request of the REST API as it is, for what no verb is for; gives the answer, held in memory.

        `path` is what follows `/api/v1`, its parts percent-encoded; `body` is sent as JSON. Only GET and HEAD are
        repeated. Raises InvalidRequestError, the error that the answer stands for, and OutcomeUnknownError when it is
        lost.
        """
        sent = dict(params or {})
        _checks.check_request(method, path, sent, body)
        return await self._transport.call(system.plain(method, path, sent, body))

    async def user(self) -> User:
        """The user that the credentials belong to. Raises AuthenticationError."""
        return await self._transport.call(system.user())

    async def access_keys(self) -> list[AccessKey]:
        """The caller's access keys, without their secrets."""
        user = (await self.user()).id
        return await Listing(
            self._transport,
            lambda after, amount: keys.list_page(user, after=after, amount=amount),
            AccessKey.COLUMNS,
            f"access keys of {user}",
        ).all()

    async def access_key(self, id: str) -> AccessKey:
        """One of the caller's access keys, without its secret. Raises NotFoundError."""
        return await self._transport.call(keys.get((await self.user()).id, _checks.check_name(id, "access key id")))

    async def create_access_key(self) -> AccessKey:
        """Make the caller another access key. Its secret is told here and never again.

        Raises OutcomeUnknownError on a lost answer: look at `access_keys`, and drop what nobody has the secret of.
        """
        return await self._transport.call(keys.create((await self.user()).id))

    async def drop_access_key(self, id: str) -> None:
        """Remove one of the caller's access keys and end its tokens, on every server within a second.

        The key of this connection is refused (InvalidRequestError), and the last one (ConflictError). Raises
        NotFoundError.
        """
        await self._transport.call(keys.delete((await self.user()).id, _checks.check_name(id, "access key id")))

    def repositories(self, prefix: str = "", search: str = "", limit: int | None = None) -> Listing[RepositoryInfo]:
        """Repositories in the order of their names. `search` keeps those with this text anywhere in the name."""
        _checks.check_text(prefix + search, "prefix or search text")
        return Listing(
            self._transport,
            lambda after, amount: repositories.list_page(prefix=prefix, search=search, after=after, amount=amount),
            RepositoryInfo.COLUMNS,
            f"repositories of {self.settings.endpoint}",
            limit=limit,
        )

    def repository(self, id: str) -> Repository:
        """A handle to a repository, whether or not it exists."""
        return Repository(self._transport, id)

    def parse(self, uri: str) -> values_uri.Location:
        """The parts of `lakebed://repository/ref/path`. Raises InvalidRequestError."""
        return values_uri.parse_uri(uri)


def connect(
    endpoint: str | None = None,
    access_key_id: str | None = None,
    secret_access_key: str | None = None,
    *,
    timeout: float = 60.0,
    retries: int = 5,
) -> Lake:
    """Give a handle to a lake; nothing is sent yet.

    What is not passed is taken from `LAKEBED_ENDPOINT`, `LAKEBED_ACCESS_KEY_ID`, `LAKEBED_SECRET_ACCESS_KEY`, then
    from ~/.lakebed.yaml (or the file that `LAKEBED_CONFIG_FILE` names), then from what other clients read: `LAKECTL_*`,
    `LAKEFS_HOST`, `LAKEFS_USERNAME` and `LAKEFS_PASSWORD`, ~/.lakectl.yaml. `timeout` is in seconds for each wait;
    `retries` says how often a safe request is repeated.

    Warns (ConfigurationWarning) of names that look misspelled. Raises ConfigurationError, which names what is missing
    or where a wrong value came from.
    """
    return Lake(config.resolve(endpoint, access_key_id, secret_access_key, timeout=timeout, retries=retries))
