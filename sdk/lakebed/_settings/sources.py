"""The places of settings: variables and files, of Lakebed and of other clients.

This module translates all names to Lakebed's. Each value remembers its place. A name that seems to be a misspelled
Lakebed name is reported with the name that was probably meant.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lakebed._settings import profiles
from lakebed.errors import ConfigurationError

_OWN_NAMES = ("endpoint", "access_key_id", "secret_access_key", "token", "ca_file")
"""What our own variables and our own file can hold."""

_OURS = (
    *("ENDPOINT", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "TOKEN", "PROFILE"),
    *("CA_FILE", "CONFIG_FILE", "DATA_PATH", "HTTP", "PROGRESS"),
)
"""Variables that the SDK and the command read, without `LAKEBED_`."""

_SERVER = (
    "ADMIN",
    "AUTH",
    "CACHE",
    "CLEANUP",
    "EVENTS",
    "GATEWAY",
    "HISTORY",
    "HOOKS",
    "INGEST",
    "KV",
    "LIMITS",
    "LISTEN",
    "LOGGING",
    "METRICS",
    "OBJECTS",
    "REFS",
    "SCRUB",
    "SERVER",
    "TABLES",
    "TRACING",
)
"""Sections of the server's settings: `LAKEBED_LISTEN_PORT` and the like are the server's to check."""

_SERVER_ALONE = ("CONFIG", "DATA_DIR", "DURABILITY")
_HABITS = {
    "URL": "ENDPOINT",
    "HOST": "ENDPOINT",
    "USERNAME": "ACCESS_KEY_ID",
    "PASSWORD": "SECRET_ACCESS_KEY",
    "SECRET_KEY": "SECRET_ACCESS_KEY",
}
"""Names of other tools for the same settings."""


@dataclass(frozen=True)
class Source:
    """The values of one place, under Lakebed's names, and the exact place of each value.

    `profile`: the name of the profile that they are from, and empty for all other places.
    """

    family: str
    name: str
    values: Mapping[str, str]
    where: Mapping[str, str]
    profile: str = ""


@dataclass(frozen=True)
class _Family:
    """One client's names for the three values."""

    prefix: str
    variables: Mapping[str, str]
    file: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)

    def environment(self, environ: Mapping[str, str]) -> list[Source]:
        """The variables that are set, as one source, because a key id and its secret belong together."""
        values = {name: environ.get(variable, "").strip() for name, variable in self.variables.items()}
        values = {name: value for name, value in values.items() if value}
        if not values:
            return []
        where = {name: f"environment {self.variables[name]}" for name in values}
        return [Source(self.prefix, ", ".join(where.values()), values, where)]

    def files(self, environ: Mapping[str, str]) -> list[Source]:
        """The file, if it exists. Raises ConfigurationError when a variable names a file that does not exist."""
        variable = f"{self.prefix}_CONFIG_FILE"
        chosen = environ.get(variable, "")
        path = Path(chosen or self.file).expanduser()
        if chosen and not path.is_file():
            raise ConfigurationError(f"the configuration file {path}, named by {variable}, does not exist")
        if not path.is_file():
            return []
        tree = read_tree(path)
        name = profiles.current(tree, path) if self is _LAKEBED else ""
        if name:
            return [profile_source(tree, name, path)]
        values = self._values(tree, path)
        return [Source(self.prefix, f"file {path}", values, dict.fromkeys(values, f"file {path}"))]

    def _values(self, tree: dict[object, object], path: Path) -> dict[str, str]:
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


_LAKEBED = _Family(
    "LAKEBED",
    {name: f"LAKEBED_{name.upper()}" for name in _OWN_NAMES},
    "~/.lakebed.yaml",
    {name: name for name in _OWN_NAMES},
)
_LAKECTL = _Family(
    "LAKECTL",
    {
        "endpoint": "LAKECTL_SERVER_ENDPOINT_URL",
        "access_key_id": "LAKECTL_CREDENTIALS_ACCESS_KEY_ID",
        "secret_access_key": "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY",
    },
    "~/.lakectl.yaml",
    {
        "endpoint": "server.endpoint_url",
        "access_key_id": "credentials.access_key_id",
        "secret_access_key": "credentials.secret_access_key",
    },
)
_LAKEFS = _Family(
    "LAKEFS",
    {"endpoint": "LAKEFS_HOST", "access_key_id": "LAKEFS_USERNAME", "secret_access_key": "LAKEFS_PASSWORD"},
)


def sources(environ: Mapping[str, str]) -> list[Source]:
    """Return every place that has values. The first one wins: Lakebed's variables and file, then other clients'.

    Raises ConfigurationError for a file that cannot be used.
    """
    return [
        *_LAKEBED.environment(environ),
        *_LAKEBED.files(environ),
        *_LAKECTL.environment(environ),
        *_LAKEFS.environment(environ),
        *_LAKECTL.files(environ),
    ]


def profile_source(tree: Mapping[object, object], name: str, path: Path) -> Source:
    """Return the values of one profile of Lakebed's file. Raises ConfigurationError when it is unknown or wrong."""
    where = f"profile {name!r} of file {path}"
    part = profiles.section(tree, name, path)
    values = _LAKEBED._values(part, Path(where))
    return Source(_LAKEBED.prefix, where, values, dict.fromkeys(values, where), name)


def of_profile(environ: Mapping[str, str], name: str) -> Source:
    """Return the values of one profile of Lakebed's file. `default` is what is outside of all profiles.

    Raises ConfigurationError.
    """
    path = own_file(environ)
    tree = read_tree(path) if path.is_file() else {}
    return profile_source(tree, name, path)


def variables_of_profiles(environ: Mapping[str, str]) -> list[str]:
    """Return the variables that are set and say what a profile says."""
    names = ("endpoint", "access_key_id", "secret_access_key", "token")
    return [variable for name in names if environ.get(variable := _LAKEBED.variables[name], "").strip()]


def own_file(environ: Mapping[str, str]) -> Path:
    """Return the path of Lakebed's own file, whether or not it exists."""
    return Path(environ.get("LAKEBED_CONFIG_FILE", "") or _LAKEBED.file).expanduser()


def misspelled(environ: Mapping[str, str]) -> list[str]:
    """Return a sentence for each variable and each key of Lakebed's file that seems to be a misspelled setting."""
    said = [
        f"the variable {variable} is not read by Lakebed; did you mean LAKEBED_{meant}?"
        for variable in sorted(environ)
        if variable.startswith("LAKEBED_") and (meant := _meant(variable.removeprefix("LAKEBED_")))
    ]
    path = own_file(environ)
    if path.is_file():
        for key in map(str, read_tree(path)):
            if key not in (*_OWN_NAMES, *profiles.KEYS):
                near = difflib.get_close_matches(key, (*_OWN_NAMES, *profiles.KEYS), n=1, cutoff=0.0)[0]
                said.append(f"the key {key!r} in {path} is not read by Lakebed; did you mean {near!r}?")
    return said


def _meant(name: str) -> str | None:
    if name in (*_OURS, *_SERVER_ALONE) or name.startswith(tuple(f"{section}_" for section in _SERVER)):
        return None
    near = difflib.get_close_matches(name, _OURS, n=1, cutoff=0.6)
    return _HABITS.get(name) or (near[0] if near else None)


def read_tree(path: Path) -> dict[object, object]:
    """Return the content of a configuration file. Raises ConfigurationError."""
    import yaml  # 20 ms, and only when there is a file

    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"cannot read the configuration file {path}: {error}") from None
    if not isinstance(tree, dict):
        raise ConfigurationError(f"the configuration file {path} must hold keys and values")
    return tree
