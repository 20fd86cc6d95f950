"""Checks settings without starting a server: values that depend on each other, files, and places on this machine.

It makes and changes nothing, opens no network connection, and reports all problems, not only the first one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from lakebed_server.auth.key_file import key_file
from lakebed_server.auth.records import SHORTEST_SECRET
from lakebed_server.auth.secret_key import configured
from lakebed_server.hooks.sources import files_of_server
from lakebed_server.network.clients import read_proxies
from lakebed_server.network.tls import open_tls
from lakebed_server.process import object_stores, wiring
from lakebed_server.s3.config import read_config
from lakebed_server.settings.load import load
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import SettingError, StartError

LEAST_TABLE_MEMORY: Final = 1 << 30
LEVEL = Literal["error", "warning"]


class Problem(NamedTuple):
    """A problem of the settings. A server starts with warnings, and does not with errors."""

    level: LEVEL
    message: str


def check_file(path: str, env: Mapping[str, str]) -> tuple[Settings, list[Problem]]:
    """The settings of a file with the environment, and their problems. A setting with an error keeps its default.

    Raises SettingError when there is no such file.
    """
    refused: list[SettingError] = []
    loaded = load(env=env, config=path, problems=refused)
    found = [Problem("error", str(error)) for error in refused]
    found += [Problem("warning", sentence) for sentence in loaded.warnings]
    return loaded.settings, found + problems(loaded.settings)


def problems(settings: Settings) -> list[Problem]:
    """The problems of complete settings."""
    found = []
    for check in _STRICT:
        try:
            check(settings)
        except StartError as error:
            found.append(Problem("error", str(error)))
    for look in (_packages, _combinations, _listeners, _directories, _files):
        found += look(settings)
    return found


def _keys(settings: Settings) -> None:
    if settings.auth.secret_key:
        configured(settings.auth.secret_key, settings.auth.previous_secret_key)
    elif settings.kv.type != "memory":
        key_file(settings).read()


def _admin(settings: Settings) -> None:
    if settings.admin.access_key_id and len(settings.admin.secret_access_key) < SHORTEST_SECRET:
        raise SettingError(
            f"admin.secret_access_key is too short: it needs at least {SHORTEST_SECRET} characters; choose a longer one"
        )


def _database(settings: Settings) -> None:
    dsn = settings.kv.postgres.dsn
    if settings.kv.type != "postgres":
        return
    if not dsn:
        raise SettingError("kv.type postgres needs kv.postgres.dsn: postgresql://user:password@host:5432/database")
    try:
        parts = urlsplit(dsn)
        fits = parts.scheme in ("postgres", "postgresql") and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits:
        raise SettingError(
            "kv.postgres.dsn: expected postgresql://user:password@host:5432/database, with %-escapes for the "
            "characters / : @ ? # in the password"
        )


_STRICT: Final[tuple[Callable[[Settings], object], ...]] = (
    lambda settings: open_tls(settings.listen.tls),
    lambda settings: read_proxies(settings.listen.trusted_proxies),
    lambda settings: read_config(settings.gateway.s3),
    lambda settings: files_of_server(settings.hooks.actions),
    _keys,
    _admin,
    _database,
    object_stores.check,
    wiring.check_sign_in,
)
"""Checks that a start makes too, with the same error."""


def _packages(settings: Settings) -> Iterator[Problem]:
    wanted = (
        ("asyncpg", "postgres", "kv.type is postgres", settings.kv.type == "postgres"),
        ("ldap3", "ldap", "auth.ldap.server is set", bool(settings.auth.ldap.server)),
        ("signxml", "saml", "auth.saml.idp_metadata is set", bool(settings.auth.saml.idp_metadata)),
    )
    for package, extra, reason, needed in wanted:
        if needed and find_spec(package) is None:
            yield Problem("error", f"{reason}, which needs the extra lakebed[{extra}]: {package} is not installed")
    if settings.objects.s3.endpoint and find_spec("obstore") is None:
        yield Problem("error", "objects.s3.endpoint is set, which needs the extra lakebed[s3]: obstore is missing")


def _combinations(settings: Settings) -> Iterator[Problem]:
    if not settings.objects.cloud and not settings.objects.local.root and not settings.objects.memory:
        yield Problem("error", "objects.cloud and objects.local.root are off: no repository could have a store")
    if settings.objects.s3.endpoint and not settings.objects.cloud:
        yield Problem("warning", "objects.s3.endpoint has no effect: objects.cloud is false")
    if settings.auth.previous_secret_key and not settings.auth.secret_key:
        yield Problem("error", "auth.previous_secret_key is set but auth.secret_key is not")
    if settings.kv.postgres.dsn and settings.kv.type != "postgres":
        yield Problem("warning", f"kv.postgres.dsn has no effect: kv.type is {settings.kv.type}")
    if settings.tables.memory < LEAST_TABLE_MEMORY:
        yield Problem("error", "tables.memory: expected at least 1GiB")
    if settings.durability == "process":
        yield Problem("warning", "durability is process: a machine that stops may lose or damage any repository")
    if settings.kv.type == "memory":
        yield Problem("warning", "kv.type is memory: the server forgets every branch and access key when it stops")
    if settings.auth.oidc.issuer and not settings.auth.oidc.client_id:
        yield Problem("error", "auth.oidc.issuer is set but auth.oidc.client_id is not")
    if settings.auth.mode == "single" and _signs_in(settings):
        yield Problem("warning", "auth.mode is single: the sign-ins of auth.oidc, auth.saml and auth.ldap are off")


def _signs_in(settings: Settings) -> bool:
    auth = settings.auth
    return bool(auth.oidc.issuer or auth.saml.idp_metadata or auth.ldap.server)


def _listeners(settings: Settings) -> Iterator[Problem]:
    host, port = settings.listen.host, settings.listen.port
    try:
        own = read_config(settings.gateway.s3).listen
    except SettingError:
        own = None  # reported already
    if own is not None and own[1] == port and port and host in (own[0], "0.0.0.0", "::"):  # noqa: S104
        yield Problem("error", f"listen.port and gateway.s3.listen are the same port {port}: choose two")
    if not settings.listen.tls.certificate and not _loopback(host):
        yield Problem(
            "warning",
            f"listen.host is {host} without TLS: access keys cross the network in clear text, unless a proxy on this "
            "machine or a private network ends TLS",
        )


def _loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _directories(settings: Settings) -> Iterator[Problem]:
    wanted = {}
    if settings.kv.type == "sqlite":
        wanted["kv.sqlite.path"] = Path(settings.kv.sqlite.path).parent
    if settings.kv.type != "memory" and not settings.auth.secret_key:
        wanted["data_dir"] = Path(settings.data_dir)
    if settings.objects.local.root:
        wanted["objects.local.root"] = Path(settings.objects.local.root)
    if settings.cache.disk.path:
        wanted["cache.disk.path"] = Path(settings.cache.disk.path)
    for name, path in wanted.items():
        if (reason := _unusable(path)) is not None:
            yield Problem("error", f"{name}: {reason}")
    if settings.kv.type == "sqlite" and (kind := wiring.network_file_system(wanted["kv.sqlite.path"])):
        yield Problem(
            "error",
            f"kv.sqlite.path is on a network file system ({kind}), where SQLite is not safe: use kv.type postgres",
        )


def _unusable(path: Path) -> str | None:
    """Why this process cannot make or use a directory; None when it can."""
    there = next((one for one in (path, *path.parents) if one.exists()), Path("/"))
    if not there.is_dir():
        return f"{there} is a file, not a directory"
    if not os.access(there, os.W_OK | os.X_OK):
        what = "write to" if there == path else f"make {path} in"
        return f"this account cannot {what} {there}; run the check as the server's account, or change its owner"
    return None


def _files(settings: Settings) -> Iterator[Problem]:
    if settings.logging.output != "-":
        reason = _unusable(Path(settings.logging.output).expanduser().absolute().parent)
        if reason is not None:
            yield Problem("error", f"logging.output: {reason}")
    metadata = settings.auth.saml.idp_metadata
    for name, path in (
        ("auth.ldap.ca_file", settings.auth.ldap.ca_file),
        ("auth.saml.idp_metadata", "" if "://" in metadata else metadata),
        ("objects.s3.credentials_file", settings.objects.s3.credentials_file),
    ):
        if path and not os.access(Path(path).expanduser(), os.R_OK):
            yield Problem("error", f"{name}: cannot read {path}")
