"""The server of a file system instance, and the key under which fsspec caches the instance.

fsspec creates one instance for equal arguments. Two calls without arguments may still mean different servers, if the
environment or the bound default changed in between. So the key is a hash of the resolved connection. fsspec never shows
it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from fsspec.asyn import AsyncFileSystem
from fsspec.config import apply_config

from lakebed._integration.values import Settings, config, default_lake, wanted_path
from lakebed.errors import ConfigurationError

_CREDENTIALS = ("access_key_id", "secret_access_key", "token")
_OURS = ("endpoint", *_CREDENTIALS, "profile", "timeout", "retries", "data_path")
_FSSPEC = (
    "asynchronous",
    "batch_size",
    "listings_expiry_time",
    "loop",
    "max_paths",
    "skip_instance_cache",
    "use_listings_cache",
)


@dataclass(frozen=True, slots=True)
class Connection:
    """The resolved options of an instance: everything that another process needs to make the same instance."""

    settings: Settings
    data_path: str | None = None

    @property
    def key(self) -> str:
        """A hash that differs when any option differs."""
        one = self.settings
        credentials = (one.access_key_id, one.secret_access_key, one.token)
        parts = (one.endpoint, *credentials, one.timeout, one.retries, self.data_path)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


_RESOLVED: ContextVar[Connection | None] = ContextVar("lakebed_fsspec_connection", default=None)


@contextmanager
def using(connection: Connection) -> Iterator[None]:
    """Let an instance that is made inside this block use this connection."""
    token = _RESOLVED.set(connection)
    try:
        yield
    finally:
        _RESOLVED.reset(token)


def connection_in_use() -> Connection:
    """Return the connection for the instance that is being made."""
    found = _RESOLVED.get()
    if found is None:
        raise ConfigurationError("make the file system by calling its class, or by fsspec.filesystem('lakebed')")
    return found


def resolve(options: Mapping[str, Any]) -> Connection:
    """Resolve from storage options, else the bound default, else the environment and the files. Raises
    ConfigurationError.
    """
    unknown = sorted(set(options) - {*_OURS, *_FSSPEC})
    if unknown:
        raise ConfigurationError(
            f"unknown storage option {unknown[0]!r} of lakebed://; there are {', '.join(_OURS)}, and those of fsspec"
        )
    given = {name: options.get(name) for name in ("endpoint", *_CREDENTIALS, "profile")}
    bound = default_lake.bound()
    limits = {name: options[name] for name in ("timeout", "retries") if options.get(name) is not None}
    if bound is not None and all(value is None for value in given.values()):
        settings = replace(bound, **limits)
    else:
        settings = config.resolve(**{**given, **limits})
    return Connection(settings, wanted_path(options.get("data_path")))


class Keyed(type(AsyncFileSystem)):  # type: ignore[misc]
    """The metaclass. It resolves the connection before fsspec searches its cache of instances."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if args:
            raise TypeError("pass storage options of lakebed:// by name")
        options = apply_config(cls, options)
        options.pop("anon", None)  # pandas adds it when it repeats a refused request: it must get the same refusal
        if _RESOLVED.get() is not None:  # made again from a pickle
            return super().__call__(**options)
        with using(resolve(options)):
            return super().__call__(**options)

    @property
    def _connection_key(cls) -> str:
        return connection_in_use().key
