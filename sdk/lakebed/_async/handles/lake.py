"""The top handle: a lake is one server and one set of credentials. Making a handle sends no request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lakebed import _checks
from lakebed._async.handles.repository import Repository
from lakebed._async.http.pagination import Listing
from lakebed._async.http.transport import Transport
from lakebed._compat.aio import LakeBase
from lakebed._gateway.operations import metadata, repositories, system
from lakebed._gateway.operations.access import identities, keys
from lakebed._settings import config, default_lake
from lakebed._settings.config import Settings
from lakebed._values import uri as values_uri
from lakebed._values.wire import Answer
from lakebed.model import (
    AccessKey,
    Decision,
    Event,
    OwnPullRequest,
    RepositoryInfo,
    RightsChange,
    ServerInfo,
    SessionToken,
    User,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from lakebed._async.access.groups import Groups
    from lakebed._async.access.keys import Keys
    from lakebed._async.access.policies import Policies
    from lakebed._async.access.users import Users


class Lake(LakeBase):
    """One Lakebed server. Threads can share it. It can be pickled: another process opens its own connections."""

    __module__ = "lakebed.aio"

    def __init__(self, settings: Settings) -> None:
        self._transport = Transport(settings).shared()

    def __repr__(self) -> str:
        return f"<Lake {self.settings.endpoint}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from lakebed._values.foreign_names import unknown_attribute

            raise unknown_attribute(self, name)

    @classmethod
    def _over(cls, transport: Transport) -> Self:
        """Return a handle that uses an existing connection."""
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
        """The settings of this connection, and where each value came from. The secret is not shown."""
        return self._transport.settings

    def as_default(self) -> AbstractContextManager[Self]:
        """Make `lakebed://` mean this lake inside a `with` block, for pandas and every other user of fsspec.

        It holds in this thread or task. Threads that are started inside the block begin without it.

            with lake.as_default():
                pd.read_parquet("lakebed://weather/main/days.parquet")
        """
        return default_lake.binding(self.settings, self)

    async def close(self) -> None:
        """Close the connections. Handles made from this lake stop working."""
        await self._transport.close()

    async def healthy(self) -> bool:
        """Return whether the server answers. Asks it one time. Never raises, and needs no valid credentials.

        Example:

            assert lake.healthy()
        """
        return await self._transport.probe(system.health())

    async def version(self) -> str:
        """Return the API level of the server, such as `1.60.0`. Raises AuthenticationError.

        Example:

            print(lake.version())
        """
        return await self._transport.call(system.version())

    async def info(self) -> ServerInfo:
        """Return the server's description: its API level, its allowed storage namespaces and its features.

        Raises AuthenticationError.

            print(lake.info().api_level)
        """
        return await self._transport.call(system.info())

    async def is_set_up(self) -> bool:
        """Return whether the server has an administrator. Needs no valid credentials.

        A Lakebed server creates the administrator before it answers requests.
        """
        return await self._transport.call(system.is_set_up())

    async def session_token(self) -> SessionToken:
        """Return a token that works like this connection's credentials until it expires.

        Give it to a tool that must not get an access key. It has all permissions of the key. A connection with the
        token of a sign-in returns a renewed one. Raises AuthenticationError.

            token = lake.session_token().token
        """
        settings = self.settings
        if settings.token:
            return await self._transport.call(keys.renew())
        return await self._transport.call(keys.login(settings.access_key_id, settings.secret_access_key))

    async def end_session_tokens(self) -> None:
        """End all tokens of this user, on every server within a second. Access keys stay.

        Raises OutcomeUnknownError when the answer was lost: call it again.
        """
        await self._transport.call(keys.logout_everywhere())

    async def request(
        self, method: str, path: str, params: Mapping[str, str | Sequence[str]] | None = None, body: Any = None
    ) -> Answer:
        """Send one request of the REST API that no method covers. Returns the answer, held in memory.

        `path` is the part after `/api/v1`, percent-encoded. The SDK sends `body` as JSON. It repeats only GET and HEAD.

        Raises InvalidRequestError, the error that the answer describes, and OutcomeUnknownError when the answer was
        lost.

            answer = lake.request("GET", "/repositories", {"amount": "5"})
        """
        sent = dict(params or {})
        _checks.check_request(method, path, sent, body)
        return await self._transport.call(system.plain(method, path, sent, body))

    async def user(self) -> User:
        """Return the user that the credentials belong to. Raises AuthenticationError.

        Example:

            print(lake.user().id)
        """
        return await self._transport.call(system.user())

    @property
    def users(self) -> Users:
        """The users of this lake."""
        from lakebed._async.access.users import Users

        return Users(self._transport)

    @property
    def groups(self) -> Groups:
        """The groups of this lake."""
        from lakebed._async.access.groups import Groups

        return Groups(self._transport)

    def own_pulls(self, limit: int | None = None) -> Listing[OwnPullRequest]:
        """List the open pull requests of all repositories that the user opened or should review, or that mention them.

        In the order of repositories, then newest first.

            for row in lake.own_pulls():
                print(row.repository, row.pull_request.title)
        """
        from lakebed._gateway.operations import pulls

        return Listing(self._transport, pulls.own_page, OwnPullRequest.COLUMNS, "own pull requests", limit=limit)

    async def validate_action(self, name: str, content: str) -> None:
        """Check an action file without storing it. `name` is for messages.

        Raises InvalidRequestError, which names the line.
        """
        from lakebed._gateway.operations import hooks

        _checks.check_text(name + content, "action file")
        await self._transport.call(hooks.validate(name, content))

    @property
    def policies(self) -> Policies:
        """The policies of this lake."""
        from lakebed._async.access.policies import Policies

        return Policies(self._transport)

    async def access_history(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        user: str = "",
        path: str = "",
        operation: str = "",
        refused: bool = False,
    ) -> pa.Table:
        """Return the requests about no repository: sign-ins, users, keys, the list of repositories, and refusals.

        The table, the arguments and the errors are those of `Repository.access_history`. `path` is that of the URL,
        such as `/auth/users/ana`. The caller needs `audit:ReadEvents` on everything.

            denied = lake.access_history(refused=True).to_pandas()
        """
        import pyarrow as arrow

        wanted = metadata.access_history(
            None, since=since, until=until, user=user, path=path, operation=operation, refused=refused
        )
        return arrow.ipc.open_stream(await self._transport.call(wanted)).read_all().sort_by("time")

    def events(self, *, after: int | None = None, type: str = "", limit: int | None = None) -> Listing[Event]:
        """List the events of all repositories on which the user has `audit:ReadEvents`, the oldest first.

        With `audit:ReadEvents` on everything also the changes of users, groups, policies and keys: the types `auth.*`.
        `after` is the logical timestamp of an event. `type` is like `branch.merged`, or `auth` for all types of this
        group. `Repository.events` follows one repository live.

            for event in lake.events(type="auth"):
                print(event.time, event.user, event.data["what"])

        Iterating raises PermissionDeniedError, and InvalidRequestError for more than 1,000 repositories.
        """
        from lakebed._gateway.operations import events

        _checks.check_text(type, "type")
        return Listing(
            self._transport,
            lambda at, amount: events.list_server_events(after=at, type=type, amount=amount),
            Event.COLUMNS,
            f"events of {self.settings.endpoint}",
            after="" if after is None else str(after),
            limit=limit,
        )

    def rights_changes(self, limit: int | None = None) -> Listing[RightsChange]:
        """List the changes of users, groups and policies, oldest first. Needs `audit:ReadEvents` on everything.

        Example:

            for change in lake.rights_changes(limit=20):
                print(change.time, change.by, change.what)
        """
        return Listing(
            self._transport, identities.rights_changes_page, RightsChange.COLUMNS, "changes of rights", limit=limit
        )

    @property
    def keys(self) -> Keys:
        """The access keys of the caller and of other users."""
        from lakebed._async.access.keys import Keys

        return Keys(self._transport)

    async def simulate(
        self,
        action: str,
        resource: str,
        *,
        user: str = "",
        branch: str = "",
        ref: str = "",
        source_ip: str = "",
    ) -> Decision:
        """Ask whether a user may do an action, and which statement decides. Without `user`, asks about the caller.

        `resource` is `*`, an ARN or its last part, as error messages show it. The other arguments are what conditions
        ask for. The address is that of this connection when it is empty.

            lake.simulate("fs:WriteObject", "repository/sales/object/x", user="ana", branch="main")

        Raises InvalidRequestError, NotFoundError, and PermissionDeniedError for another user without `auth:ReadUser`.
        """
        for text in (action, resource, user, branch, ref, source_ip):
            _checks.check_text(text, "question")
        context = {"branch": branch, "ref": ref, "source_ip": source_ip}
        return await self._transport.call(identities.simulate(action, _checks.full_arn(resource), user, context))

    async def access_keys(self) -> list[AccessKey]:
        """Return the caller's access keys, without their secrets."""
        return await self.keys.list()

    async def access_key(self, id: str) -> AccessKey:
        """Return one of the caller's access keys, without its secret. Raises NotFoundError."""
        return await self.keys.get(id)

    async def create_access_key(self) -> AccessKey:
        """Create another access key for the caller. Only this answer contains its secret.

        Raises OutcomeUnknownError when the answer was lost: read `access_keys`, and drop the key whose secret was lost.
        """
        return await self.keys.create()

    async def drop_access_key(self, id: str) -> None:
        """Remove one of the caller's access keys and end its tokens, on every server within a second.

        Raises InvalidRequestError for the key of this connection, ConflictError for the last key, and NotFoundError.
        """
        await self.keys.drop(id)

    def repositories(self, prefix: str = "", search: str = "", limit: int | None = None) -> Listing[RepositoryInfo]:
        """List the repositories in the order of their names. `search` keeps names that contain this text.

        Example:

            for row in lake.repositories():
                print(row.id, row.storage_namespace)
        """
        _checks.check_text(prefix + search, "prefix or search text")
        return Listing(
            self._transport,
            lambda after, amount: repositories.list_page(prefix=prefix, search=search, after=after, amount=amount),
            RepositoryInfo.COLUMNS,
            f"repositories of {self.settings.endpoint}",
            limit=limit,
        )

    def repository(self, id: str) -> Repository:
        """Return a handle to a repository, whether or not it exists.

        Example:

            repo = lake.repository("weather")
        """
        return Repository(self._transport, id)

    def parse(self, uri: str) -> values_uri.Location:
        """Split `lakebed://repository/ref/path` into its parts. Raises InvalidRequestError.

        Example:

            place = lake.parse("lakebed://weather/main/days.parquet")
        """
        return values_uri.parse_uri(uri)


def connect(
    endpoint: str | None = None,
    access_key_id: str | None = None,
    secret_access_key: str | None = None,
    *,
    token: str | None = None,
    profile: str | None = None,
    timeout: float = 60.0,
    retries: int = 5,
) -> Lake:
    """Return a handle to a lake. Sends no request.

    The credentials are an access key, or the `token` of a sign-in (`lakebed login`). The SDK looks up what is not
    passed in this order: `LAKEBED_ENDPOINT`, `LAKEBED_TOKEN`, or `LAKEBED_ACCESS_KEY_ID` and
    `LAKEBED_SECRET_ACCESS_KEY`, then ~/.lakebed.yaml (or the file in `LAKEBED_CONFIG_FILE`), then the settings of other
    clients: `LAKECTL_*`, `LAKEFS_HOST`, `LAKEFS_USERNAME` and `LAKEFS_PASSWORD`, and ~/.lakectl.yaml. With a `profile`
    (or `LAKEBED_PROFILE`) they come from that profile of ~/.lakebed.yaml and from no other place. `timeout` is in
    seconds for each wait. `retries` is the number of times that the SDK repeats a safe request.

        lake = lakebed.connect("http://localhost:8000", "key id", "secret")
        prod = lakebed.connect(profile="prod")

    Warns (ConfigurationWarning) of names that seem misspelled. Raises ConfigurationError, which names the missing
    setting or the place of a wrong value.
    """
    given = (endpoint, access_key_id, secret_access_key)
    return Lake(config.resolve(*given, token=token, profile=profile, timeout=timeout, retries=retries))
