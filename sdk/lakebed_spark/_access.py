"""How code in any process gets a client, and which ref and path a target means.

A Python worker receives an `Access`: a small frozen value, never a live client. No text of it contains its secret. The
secret also stays out of options and plans, which Spark shows.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import TypeAlias

import attrs
import lakebed
from lakebed._integration.sync import settings_of
from lakebed._integration.values import SCHEMES, Settings, config, default_lake
from lakebed.errors import ConfigurationError, InvalidRequestError, ReadOnlyRefError

Target: TypeAlias = "str | lakebed.Ref"
"""`lakebed://repository/ref/path`, or a handle: a ref, a branch, a tag or a workspace."""

Holder: TypeAlias = "lakebed.Lake | lakebed.Repository | lakebed.Ref | Access"

PROFILE = "spark.lakebed.profile"
"""The setting of a session that names a profile of ~/.lakebed.yaml on the driver's machine."""

_CLIENTS: dict[tuple[int, Settings], lakebed.Lake] = {}
_MOST_CLIENTS = 16


@attrs.frozen
class Access:
    """A server and the credentials for it. It goes to executors, only inside pickled objects. No text of it shows the
    secret.

    `connect` prefers the configuration of the calling process, when that is for the same server.
    """

    endpoint: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = attrs.field(default=None, repr=False)
    timeout: float = config.TIMEOUT
    retries: int = config.RETRIES
    token: str | None = attrs.field(default=None, repr=False)

    @classmethod
    def of(cls, holder: Holder | None = None) -> Access:
        """Return the access of a live handle. Without one, that of `with lake.as_default():` or of this process's
        configuration.

        Raises ConfigurationError when this process has no configuration.
        """
        if isinstance(holder, Access):
            return holder
        return cls._from(_settings_of(holder))

    @classmethod
    def of_profile(cls, name: str) -> Access:
        """Return the access of a profile of this process's ~/.lakebed.yaml. Raises ConfigurationError."""
        return cls._from(config.resolve(None, None, None, profile=name))

    @classmethod
    def _from(cls, settings: Settings) -> Access:
        return cls(
            settings.endpoint,
            settings.access_key_id or None,
            settings.secret_access_key or None,
            settings.timeout,
            settings.retries,
            settings.token or None,
        )

    def settings(self) -> Settings:
        """Return the settings for a client in this process. Raises ConfigurationError."""
        own = self._own()
        if own is not None:
            return own
        given = (self.endpoint, self.access_key_id, self.secret_access_key)
        return config.resolve(*given, token=self.token, timeout=self.timeout, retries=self.retries)

    def connect(self) -> lakebed.Lake:
        """Return a client in this process. All callers with the same access share it: do not close it. Raises
        ConfigurationError.
        """
        key = (os.getpid(), self.settings())
        lake = _CLIENTS.get(key)
        if lake is None:
            if len(_CLIENTS) >= _MOST_CLIENTS:
                _CLIENTS.clear()
            lake = _CLIENTS[key] = lakebed.Lake(key[1])
        return lake

    def _own(self) -> Settings | None:
        """Return this process's configuration, when it is for this server and, where a key is known, for this user."""
        try:
            with warnings.catch_warnings():  # the first client has warned of misspelled names already
                warnings.simplefilter("ignore", lakebed.ConfigurationWarning)
                own = config.resolve(None, None, None, timeout=self.timeout, retries=self.retries)
        except ConfigurationError:
            return None
        same_server = self.endpoint is None or config.normalise_endpoint(self.endpoint) == own.endpoint
        return own if same_server and self._is_of_user(own) else None

    def _is_of_user(self, own: Settings) -> bool:
        if self.token is not None:
            return bool(own.token) and own.identity == Settings("", token=self.token).identity
        return self.access_key_id is None or self.access_key_id == own.access_key_id


@attrs.frozen
class Place:
    """A path in a ref of a repository. `path` has no slash at its end, and is empty for the whole ref."""

    repository: str
    ref: str
    path: str = ""

    def __str__(self) -> str:
        return f"{SCHEMES[0]}{self.repository}/{self.ref}/{self.path}"

    @property
    def folder(self) -> str:
        """The prefix of everything below the path."""
        return f"{self.path}/" if self.path else ""

    @property
    def workspace_id(self) -> str | None:
        """The id of the workspace that the ref names, `main+<id>`."""
        return self.ref.partition("+")[2] or None

    def to(self, path: str) -> Place:
        """Return another path of the same ref."""
        return attrs.evolve(self, path=path.rstrip("/"))

    def reader(self, lake: lakebed.Lake) -> lakebed.Ref:
        """Return a handle to read with."""
        return lake.repository(self.repository).ref(self.ref)

    def writer(self, lake: lakebed.Lake) -> lakebed.Branch | lakebed.Workspace:
        """Return a handle to write with. Raises ReadOnlyRefError for other refs than branches and workspaces, and
        NotFoundError.
        """
        repository = lake.repository(self.repository)
        if self.workspace_id is not None:
            return repository.workspace(self.ref)
        if any(mark in self.ref for mark in "~^@$:"):
            raise self.read_only()
        branch = repository.branch(self.ref)
        try:
            branch.info()
        except lakebed.NotFoundError as error:
            if error.kind == "branch_not_found" and _is_ref(repository, self.ref):
                raise self.read_only() from None
            raise
        return branch

    def read_only(self) -> ReadOnlyRefError:
        """Return the error for a write to a ref that cannot be written to."""
        return ReadOnlyRefError(
            f"cannot write to {self}: {self.ref!r} is not a branch; write to a branch or a workspace: "
            f"`repo.branch('new').create({self.ref!r})` creates a branch",
            repository=self.repository,
            ref=self.ref,
            path=self.path,
        )


def locate(target: Target, path: str = "") -> Place:
    """Return the path and the ref that are meant. `path` goes below a handle, or below the path of a URI.

    Raises InvalidRequestError for other values than a URI or a handle, or when there is no ref.
    """
    if isinstance(target, str):
        found = lakebed.parse_uri(target)
        if not found.ref:
            raise InvalidRequestError(
                f"{target!r} has no ref: expected a URI such as lakebed://{found.repository}/main/path"
            )
        above = found.path.rstrip("/")
        below = f"{above}/{path}" if above and path else above or path
        return Place(found.repository, found.ref, below.rstrip("/"))
    if isinstance(target, lakebed.Ref):
        return Place(target.repository.id, target.id, path.rstrip("/"))
    raise InvalidRequestError(
        f"expected lakebed://repository/ref/path, a branch, a ref or a workspace, not {type(target).__name__}"
    )


def access_to(target: Target, lake: Holder | None = None) -> Access:
    """Return the access to a target: that of its own client if it is a handle, else that of `lake`, else the process's
    own.
    """
    return Access.of(target if lake is None and not isinstance(target, str) else lake)


def _is_ref(repository: lakebed.Repository, expression: str) -> bool:
    try:
        repository.commit(expression)
    except lakebed.NotFoundError:
        return False
    return True


def _profile_of_session() -> str | None:
    """The profile that the setting `spark.lakebed.profile` of the running session names."""
    sql = sys.modules.get("pyspark.sql")
    session = None if sql is None else sql.SparkSession.getActiveSession()
    return (session.conf.get(PROFILE, "") or None) if session is not None else None


def _settings_of(holder: Holder | None) -> Settings:
    if holder is None:
        return default_lake.bound() or config.resolve(None, None, None, profile=_profile_of_session())
    if isinstance(holder, lakebed.Lake):
        return holder.settings
    if not isinstance(holder, lakebed.Repository | lakebed.Ref):
        raise InvalidRequestError(
            f"expected lakebed.connect(), or a repository or ref of it, not {type(holder).__name__}"
        )
    return settings_of(holder)
