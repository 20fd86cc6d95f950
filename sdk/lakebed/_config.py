"""Where the endpoint and the credentials come from, and what to say when one is missing.

Over `errors`, under `connect`. Two families of sources: ours, then the names of existing clients. An endpoint of one
family is never combined with credentials of the other: a key must not be sent to a server it was not made for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from lakebed.errors import ConfigurationError

API_PREFIX = "/api/v1"


@dataclass(frozen=True)
class Settings:
    """What a connection was made with. `sources` says where each value came from; the secret is never shown."""

    endpoint: str
    access_key_id: str
    secret_access_key: str = field(repr=False)
    timeout: float = 60.0
    retries: int = 5
    sources: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def api_url(self) -> str:
        """The address that operations are appended to."""
        return self.endpoint + API_PREFIX

    def masked(self) -> list[tuple[str, str, str]]:
        """Each key, its value fit for showing, and its source."""
        shown = {
            "endpoint": self.endpoint,
            "access_key_id": self.access_key_id,
            "secret_access_key": "*" * 8,
            "timeout": f"{self.timeout:g}",
            "retries": str(self.retries),
        }
        return [(key, value, self.sources.get(key, "default")) for key, value in shown.items()]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "sources": dict(self.sources)}


@dataclass(frozen=True)
class _Source:
    """Values of one place, under our own names."""

    name: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class _Family:
    """One client's names for the three values."""

    prefix: str
    default_file: str
    keys: Mapping[str, str]  # our name -> dotted key in the file; the variable is PREFIX_ + KEY in capitals

    def sources(self, environ: Mapping[str, str]) -> list[_Source]:
        """Environment first, then the file."""
        found = []
        for name, dotted in self.keys.items():
            variable = f"{self.prefix}_{dotted.replace('.', '_').upper()}"
            if value := environ.get(variable, "").strip():
                found.append(_Source(f"environment {variable}", {name: value}))
        variable = f"{self.prefix}_CONFIG_FILE"
        chosen = environ.get(variable, "")
        path = Path(chosen or self.default_file).expanduser()
        if chosen and not path.is_file():
            raise ConfigurationError(f"the configuration file {path}, named by {variable}, does not exist")
        return _one_environment(found) + ([_Source(f"file {path}", self._read(path))] if path.is_file() else [])

    def _read(self, path: Path) -> dict[str, str]:
        import yaml  # 20 ms, and only when there is a file

        try:
            tree = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ConfigurationError(f"cannot read the configuration file {path}: {error}") from None
        if not isinstance(tree, dict):
            raise ConfigurationError(f"the configuration file {path} must hold keys and values")
        values = {}
        for name, dotted in self.keys.items():
            node: object = tree
            for part in dotted.split("."):
                node = node.get(part) if isinstance(node, dict) else None
            if node is None or node == "":
                continue
            if not isinstance(node, str):
                raise ConfigurationError(f"`{dotted}` in {path} must be text, not {type(node).__name__}")
            values[name] = node.strip()
        return values


def _one_environment(found: list[_Source]) -> list[_Source]:
    """The variables as one source, since a key id and its secret are taken from one source only."""
    if not found:
        return []
    values = {name: value for source in found for name, value in source.values.items()}
    return [_Source(", ".join(source.name for source in found), values)]


_FAMILIES = (
    _Family(
        "LAKEBED",
        "~/.lakebed.yaml",
        {name: name for name in ("endpoint", "access_key_id", "secret_access_key")},
    ),
    _Family(
        "LAKECTL",
        "~/.lakectl.yaml",
        {
            "endpoint": "server.endpoint_url",
            "access_key_id": "credentials.access_key_id",
            "secret_access_key": "credentials.secret_access_key",
        },
    ),
)


def resolve(
    endpoint: str | None,
    access_key_id: str | None,
    secret_access_key: str | None,
    *,
    timeout: float = 60.0,
    retries: int = 5,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Find each value: arguments, `LAKEBED_*`, ~/.lakebed.yaml, then `LAKECTL_*`, ~/.lakectl.yaml.

    Raises ConfigurationError, naming what is missing or the place of what is wrong.
    """
    if timeout <= 0 or retries < 0:
        raise ConfigurationError(f"timeout must be positive and retries not negative, not {timeout} and {retries}")
    families = [family.sources(os.environ if environ is None else environ) for family in _FAMILIES]
    address, endpoint_source, allowed = _find_endpoint(endpoint, families)
    key, secret, key_source = _find_credentials(access_key_id, secret_access_key, allowed, endpoint_source)
    sources = {"endpoint": endpoint_source, "access_key_id": key_source, "secret_access_key": key_source}
    return Settings(
        normalise_endpoint(address, endpoint_source), key, secret, timeout, retries, MappingProxyType(sources)
    )


def _find_endpoint(given: str | None, families: list[list[_Source]]) -> tuple[str, str, list[_Source]]:
    if given is not None:
        return given, "argument", [source for family in families for source in family]
    for family in families:
        for source in family:
            if value := source.values.get("endpoint"):
                return value, _shown(source, "endpoint"), family
    raise ConfigurationError(
        "no endpoint: pass endpoint=, set LAKEBED_ENDPOINT, or write `endpoint: http://host:8000` to ~/.lakebed.yaml"
    )


def _find_credentials(
    key: str | None, secret: str | None, allowed: list[_Source], endpoint_source: str
) -> tuple[str, str, str]:
    if (key is None) != (secret is None):
        missing = "access_key_id" if key is None else "secret_access_key"
        raise ConfigurationError(f"{missing}= is missing: pass both halves of the credentials, or neither")
    if key is not None and secret is not None:
        if not key or not secret:
            raise ConfigurationError("access_key_id= and secret_access_key= must not be empty")
        return key, secret, "argument"
    for source in allowed:
        found_key, found_secret = source.values.get("access_key_id"), source.values.get("secret_access_key")
        if found_key and found_secret:
            return found_key, found_secret, _shown(source, "access_key_id")
        if found_key or found_secret:
            missing = "access_key_id" if found_secret else "secret_access_key"
            raise ConfigurationError(f"{source.name} has half of the credentials: {missing} is missing")
    raise ConfigurationError(
        f"no credentials for the endpoint that came from {endpoint_source}: pass access_key_id= and "
        "secret_access_key=, set LAKEBED_ACCESS_KEY_ID and LAKEBED_SECRET_ACCESS_KEY, or write both to ~/.lakebed.yaml"
    )


def _shown(source: _Source, name: str) -> str:
    """The name of a source; of a joined environment source, the one variable."""
    if not source.name.startswith("environment "):
        return source.name
    index = list(source.values).index(name)
    return source.name.split(", ")[index]


def normalise_endpoint(text: str, source: str = "argument") -> str:
    """`host:8000`, `http://host:8000/` and `http://host:8000/api/v1` all become `http://host:8000`."""
    shown = f"the endpoint {text!r} (from {source})"
    address = text.strip()
    if "://" not in address:
        address = "http://" + address
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise ConfigurationError(f"{shown} is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"{shown} must be like http://host:8000")
    if parts.query or parts.fragment or parts.username is not None:
        raise ConfigurationError(f"the endpoint must not hold credentials, a query or a fragment (from {source})")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/").removesuffix(API_PREFIX).rstrip("/")
    return f"{parts.scheme}://{host}{f':{port}' if port is not None else ''}{path}"
