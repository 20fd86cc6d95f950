"""Finds the endpoint and the credentials, and explains what to do when one is missing.

There are several families of names: those of Lakebed, and those of existing clients. The SDK never combines an
endpoint of one family with credentials of another: it must not send a key to a server that the key was not made for.
"""

from __future__ import annotations

import ipaddress
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

from lakebed._settings import profiles, session_token
from lakebed._settings.sources import (
    Source,
    misspelled,
    of_profile,
    own_file,
    profile_source,
    read_tree,
    sources,
    variables_of_profiles,
)
from lakebed.errors import ConfigurationError

API_PREFIX = "/api/v1"
TIMEOUT = 60.0
RETRIES = 5


@dataclass(frozen=True)
class Settings:
    """What a connection was made with: an access key or the token of a sign-in, and where each value came from.

    The secret and the token are never shown.
    """

    endpoint: str
    access_key_id: str = ""
    secret_access_key: str = field(default="", repr=False)
    timeout: float = TIMEOUT
    retries: int = RETRIES
    ca_file: str = ""
    http: str = ""
    """`httpx` for tests that replay HTTP; otherwise empty."""

    token: str = field(default="", repr=False)
    """The token of a sign-in, sent as `Authorization: Bearer`. Empty with an access key."""

    sources: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    profile: str = field(default="", compare=False)
    """The profile that the credentials came from. Empty for credentials from elsewhere."""

    @property
    def api_url(self) -> str:
        """The address that operations are appended to."""
        return self.endpoint + API_PREFIX

    @property
    def shown_endpoint(self) -> str:
        """The endpoint, and where it came from unless it was an argument: for messages."""
        source = self.sources.get("endpoint", "argument")
        return self.endpoint if source == "argument" else f"{self.endpoint} (from {source})"

    @property
    def shown_credentials(self) -> str:
        """The access key id or the kind of the credentials, and where they came from: for messages."""
        if self.token:
            return f"token from {self.sources.get('token', 'argument')}"
        return f"access key {self.access_key_id!r} from {self.sources.get('access_key_id', 'argument')}"

    @property
    def identity(self) -> str:
        """What the credentials belong to, without a secret. It stays the same when the token is renewed."""
        return self.access_key_id or session_token.session_of(self.token)

    def masked(self) -> list[tuple[str, str, str]]:
        """Each key, its value fit for showing, and its source."""
        pair = {"access_key_id": self.access_key_id, "secret_access_key": "*" * 8}
        shown = {
            "endpoint": self.endpoint,
            **({"token": "*" * 8} if self.token else pair),
            "timeout": f"{self.timeout:g}",
            "retries": str(self.retries),
            "ca_file": self.ca_file,
        }
        return [(key, value, self.sources.get(key, "default")) for key, value in shown.items()]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "sources": dict(self.sources)}


class ConfigurationWarning(UserWarning):
    """A setting that is not read, probably because its name is misspelled."""

    __module__ = "lakebed"


def resolve(
    endpoint: str | None,
    access_key_id: str | None,
    secret_access_key: str | None,
    *,
    token: str | None = None,
    profile: str | None = None,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Find each value: arguments, `LAKEBED_*`, ~/.lakebed.yaml, `LAKECTL_*`, `LAKEFS_*`, then ~/.lakectl.yaml.

    With a `profile`, or `LAKEBED_PROFILE`, arguments and then that profile of ~/.lakebed.yaml, and no other place.
    The credentials of a profile go to the endpoint of the profile only. The file of certificates comes from
    `LAKEBED_CA_FILE` or ~/.lakebed.yaml, wherever the endpoint comes from.

    Warns of names that seem misspelled. Raises ConfigurationError, which names the missing setting or the place of a
    wrong value.
    """
    if timeout <= 0 or retries < 0:
        raise ConfigurationError(f"timeout must be positive and retries not negative, not {timeout} and {retries}")
    environ = os.environ if environ is None else environ
    given = _given(access_key_id, secret_access_key, token)
    found = _places(environ, profile, needed=endpoint is None or given is None)
    for sentence in misspelled(environ):
        warnings.warn(sentence, ConfigurationWarning, stacklevel=3)  # at the line that connects
    address, endpoint_source, allowed = _find_endpoint(endpoint, found)
    credentials = given or _found(allowed, address, endpoint_source)
    origins = {"endpoint": endpoint_source, **credentials.origins}
    changed = (("timeout", timeout != TIMEOUT), ("retries", retries != RETRIES))
    origins |= {name: "argument" for name, is_given in changed if is_given}
    ca_file, ca_source = _find_ca_file(found)
    if ca_file:
        origins["ca_file"] = ca_source
    url = normalise_endpoint(address, endpoint_source)
    return Settings(
        url,
        credentials.access_key_id,
        credentials.secret_access_key,
        timeout,
        retries,
        ca_file,
        _find_http(environ),
        credentials.token,
        MappingProxyType(origins),
        credentials.profile,
    )


def recalled(
    endpoint: str, identity: str, *, timeout: float, retries: int, environ: Mapping[str, str] | None = None
) -> Settings:
    """The settings of an unpickled handle: those of the profile with this endpoint and identity, or as `resolve`.

    Raises ConfigurationError.
    """
    environ = os.environ if environ is None else environ
    name = next((one for one in _profiles_for(environ, endpoint) if _identity_of(environ, one) == identity), None)
    return resolve(endpoint, None, None, profile=name, timeout=timeout, retries=retries, environ=environ)


def _profiles_for(environ: Mapping[str, str], endpoint: str) -> list[str]:
    """The named profiles of Lakebed's file that are for an endpoint. An unreadable file has none."""
    try:
        path = own_file(environ)
        tree = read_tree(path) if path.is_file() else {}
        found = [profile_source(tree, name, path) for name in profiles.names(tree, path) if name != profiles.DEFAULT]
        return [one.profile for one in found if _is_for(one, endpoint)]
    except ConfigurationError:
        return []


def _is_for(source: Source, endpoint: str) -> bool:
    own = source.values.get("endpoint", "")
    return bool(own) and normalise_endpoint(own, source.name) == endpoint


def _identity_of(environ: Mapping[str, str], profile: str) -> str:
    try:
        return resolve(None, None, None, profile=profile, environ=environ).identity
    except ConfigurationError:
        return ""


def _places(environ: Mapping[str, str], profile: str | None, *, needed: bool) -> list[Source]:
    """The places to search. Raises ConfigurationError when a profile and variables say two things."""
    name = environ.get("LAKEBED_PROFILE", "").strip() if profile is None else profile
    if not name and profile is None:
        return sources(environ)
    others = variables_of_profiles(environ)
    if profile is None and others and needed:
        raise ConfigurationError(
            f"LAKEBED_PROFILE and {others[0]} are both set: unset one of them, or pass the profile (--profile {name}, "
            f"profile={name!r})"
        )
    if profile is None and not needed:
        return sources(environ)
    return [of_profile(environ, profiles.check_name(name))]


def without_credentials(
    endpoint: str | None,
    *,
    profile: str | None = None,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of a connection that signs in. The places of `resolve` are searched. Raises ConfigurationError."""
    environ = os.environ if environ is None else environ
    found = _places(environ, profile, needed=True) if endpoint is None else sources(environ)
    address, source, _ = _find_endpoint(endpoint, found)
    ca_file, _ = _find_ca_file(found)
    url, origins = normalise_endpoint(address, source), MappingProxyType({"endpoint": source})
    return Settings(url, "", "", timeout, retries, ca_file, _find_http(environ), "", origins)


def _find_endpoint(given: str | None, found: list[Source]) -> tuple[str, str, list[Source]]:
    if given is not None:
        return given, "argument", found
    for source in found:
        if value := source.values.get("endpoint"):
            return value, source.where["endpoint"], [one for one in found if one.family == source.family]
    raise ConfigurationError(
        "no endpoint: run `lakebed login ENDPOINT`, pass endpoint=, set LAKEBED_ENDPOINT, or write `endpoint: "
        "http://host:8000` to ~/.lakebed.yaml (`lakebed serve` starts a server on this machine)"
    )


class _Credentials(NamedTuple):
    """An access key or a token, and where each part came from."""

    origins: Mapping[str, str]
    access_key_id: str = ""
    secret_access_key: str = ""
    token: str = ""
    profile: str = ""


def _given(key: str | None, secret: str | None, token: str | None) -> _Credentials | None:
    """The credentials of the arguments, if there are any."""
    if token is not None:
        if key is not None or secret is not None:
            raise ConfigurationError("token= and an access key are both given: pass one of them")
        if not token:
            raise ConfigurationError("token= must not be empty")
        return _Credentials({"token": "argument"}, token=token)
    if (key is None) != (secret is None):
        missing = "access_key_id" if key is None else "secret_access_key"
        raise ConfigurationError(f"{missing}= is missing: pass both halves of the credentials, or neither")
    if key is None or secret is None:
        return None
    if not key or not secret:
        raise ConfigurationError("access_key_id= and secret_access_key= must not be empty")
    return _Credentials({"access_key_id": "argument", "secret_access_key": "argument"}, key, secret)


def _found(allowed: list[Source], endpoint: str, endpoint_source: str) -> _Credentials:
    """The credentials of the first place that has some."""
    for source in allowed:
        key, secret = source.values.get("access_key_id", ""), source.values.get("secret_access_key", "")
        token = source.values.get("token", "")
        if token and (key or secret):
            raise ConfigurationError(f"{source.name} has a token and an access key: remove one of them")
        if token:
            _check_server_of(source, "token", endpoint, endpoint_source)
            return _Credentials({"token": source.where["token"]}, token=token, profile=source.profile)
        if key and secret:
            if source.profile:
                _check_server_of(source, "access_key_id", endpoint, endpoint_source)
            origins = {name: source.where[name] for name in ("access_key_id", "secret_access_key")}
            return _Credentials(origins, key, secret, profile=source.profile)
        if key or secret:
            there, missing = ("access_key_id", "secret_access_key")[:: 1 if key else -1]
            raise ConfigurationError(
                f"{source.where[there]} has half of the credentials: {missing} is missing; give both in one place"
            )
    raise ConfigurationError(
        f"no credentials for the endpoint that came from {endpoint_source}: run `lakebed login`, pass access_key_id= "
        "and secret_access_key=, set LAKEBED_ACCESS_KEY_ID and LAKEBED_SECRET_ACCESS_KEY, or write both to "
        "~/.lakebed.yaml"
    )


def _check_server_of(source: Source, what: str, endpoint: str, endpoint_source: str) -> None:
    """Refuse to send credentials to a server that they were not made for."""
    own = source.values.get("endpoint")
    if own is None and not source.profile:
        return
    to = normalise_endpoint(endpoint, endpoint_source)
    if own is None:
        raise ConfigurationError(f"{source.name} has credentials without an endpoint: add `endpoint: {to}` to it")
    of, kind = normalise_endpoint(own, source.where["endpoint"]), "token" if what == "token" else "access key"
    if of != to:
        raise ConfigurationError(
            f"the {kind} from {source.where[what]} is for {of}: run `lakebed login {to}`, or name a profile of {to}"
        )


def _find_ca_file(found: list[Source]) -> tuple[str, str]:
    for source in found:
        if value := source.values.get("ca_file"):
            path = Path(value).expanduser()
            if not path.is_file():
                raise ConfigurationError(
                    f"the file of certificates {path} (from {source.where['ca_file']}) does not exist"
                )
            return str(path), source.where["ca_file"]
    return "", ""


def _find_http(environ: Mapping[str, str]) -> str:
    library = environ.get("LAKEBED_HTTP", "").strip()
    if library not in ("", "httpx"):
        raise ConfigurationError(f"LAKEBED_HTTP must be `httpx` or not be set: not {library!r}")
    return library


def normalise_endpoint(text: str, source: str = "argument") -> str:
    """`https://host:8000/` and `https://host:8000/api/v1` become `https://host:8000`.

    Without a scheme it is https, for this machine itself http: `host:8000` becomes `https://host:8000`, and
    `localhost:8000` becomes `http://localhost:8000`.
    """
    shown = f"the endpoint {text!r} (from {source})"
    address = text.strip()
    if "://" not in address:
        address = "//" + address
    try:
        parts = urlsplit(address)
        port = parts.port
        scheme = parts.scheme or ("http" if is_loopback(parts.hostname) else "https")
    except ValueError as error:
        raise ConfigurationError(f"{shown} is not an address: {error}") from None
    if scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"{shown} must be like https://host:8000")
    if parts.query or parts.fragment or parts.username is not None:
        raise ConfigurationError(f"the endpoint must not hold credentials, a query or a fragment (from {source})")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/").removesuffix(API_PREFIX).rstrip("/")
    return f"{scheme}://{host}{f':{port}' if port is not None else ''}{path}"


def is_loopback(host: str | None) -> bool:
    """Whether a host name or address is this machine's own, seen from itself."""
    name = (host or "").lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
