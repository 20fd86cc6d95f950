"""Reads settings: YAML file, environment, flags. A later source overrides an earlier one. Each value keeps its source.

A secret may be in a file of its own: `auth.secret_key_file`, or LAKEBED_AUTH_SECRET_KEY_FILE.

Raises SettingError with one sentence that names the key and the source, or collects all of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from lakebed_server.settings.kinds import Value
from lakebed_server.settings.schema import KEYS, Key, Settings, build, store_keys
from lakebed_server.settings.stores import STORES, check_name, check_s3, check_stores, names_in
from lakebed_server.vocabulary import SettingError

CONFIG_ENV = "LAKEBED_CONFIG"
DEFAULT = "default"
NONE = "none"
"""The value of `objects.local.root` that switches the store off: an empty variable counts as not set."""
MASK = "********"
PREFIX = "LAKEBED_"
FILE_SUFFIX = "_file"
"""The ending of the key that names a file with a secret."""
MOST_SECRET_BYTES = 64 << 10
"""Largest file of a secret that is read, in bytes."""
_CLIENT = (
    *("ENDPOINT", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "TOKEN", "PROFILE"),
    *("CA_FILE", "CONFIG_FILE", "DATA_PATH", "HTTP", "PROGRESS"),
)
_PATHS = ("kv.sqlite.path", "objects.local.root", "cache.disk.path", "listen.tls.certificate", "listen.tls.key")
CLIENT_ENV = frozenset(PREFIX + name for name in _CLIENT)
"""The variables that clients on the same machine read."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and the source of each: `default`, `file PATH`, `environment NAME` or `flag`.

    `keys`: all settings, also those of the named stores that the file or the environment defines.
    """

    settings: Settings
    values: Mapping[str, Value]
    sources: Mapping[str, str]
    warnings: Sequence[str] = ()
    keys: Mapping[str, Key] = field(default_factory=lambda: KEYS)

    def __repr__(self) -> str:
        return "Loaded(...)"  # secrets are among them


class Row(NamedTuple):
    """One setting for display. A secret is masked. `shown` is the value in the form that a user writes."""

    key: str
    value: Value
    source: str
    shown: str


def load(
    *,
    flags: Mapping[str, object] | None = None,
    env: Mapping[str, str],
    config: str | None = None,
    working_directory: Path | None = None,
    files: bool = True,
    problems: list[SettingError] | None = None,
) -> Loaded:
    """All settings. `flags` maps keys to values, with None for absent flags.

    Without `files`, it does not search for configuration files. Raises SettingError. With `problems` it appends each
    error to this list instead, and the setting keeps its earlier value.
    """
    path = config_file(config, env, working_directory) if files else None
    tree: dict[object, object] = {}
    keys = dict(KEYS)
    with _collected(problems):
        tree = {} if path is None else _read_file(path)
    with _collected(problems):
        keys = _keys(tree, path, env)
    taken = _Taken(keys, problems)
    if path is not None:
        taken.take(dict(_flatten(tree, "", path, keys, problems)), f"file {path}")
    for key in keys.values():
        variables = {key.name: key.env} | ({key.name + FILE_SUFFIX: f"{key.env}_FILE"} if key.secret else {})
        given = {name: variable for name, variable in variables.items() if env.get(variable)}
        source = f"environment {' and '.join(given.values())}"
        taken.take({name: env[variable] for name, variable in given.items()}, source)
    taken.take({name: raw for name, raw in (flags or {}).items() if raw is not None}, "flag")
    _expand(taken.values)
    settings: Settings = build(taken.values)
    with _collected(problems):
        _check(taken.values, taken.sources)
        check_s3("objects.s3", settings.objects.s3)
        check_stores(settings.stores, settings.objects.local.root)
    return Loaded(settings, taken.values, taken.sources, misspelled(env, keys), keys)


class _Taken:
    """The values that were taken so far, with the source of each: at first the defaults."""

    def __init__(self, keys: Mapping[str, Key], problems: list[SettingError] | None) -> None:
        self.values: dict[str, Value] = {name: key.default for name, key in keys.items()}
        self.sources = dict.fromkeys(keys, DEFAULT)
        self._keys = keys
        self._in_files = secret_files(keys)
        self._problems = problems

    def take(self, given: Mapping[str, object], source: str) -> None:
        """Take the values of one source. They replace those of earlier sources."""
        for name, raw in given.items():
            with _collected(self._problems):
                key = self._keys.get(name) or self._in_files.get(name)
                if key is None:
                    raise SettingError(f"unknown key {name}{_near(name, self._keys)}")
                if name != key.name and key.name in given:
                    raise SettingError(f"{key.name} and {name} ({source}) are both set; give one of them")
                if name == key.name:
                    self.values[name], self.sources[name] = _read(key, raw, source), source
                else:
                    self.values[key.name], self.sources[key.name] = _secret_file(name, raw, source)


@contextmanager
def _collected(problems: list[SettingError] | None) -> Iterator[None]:
    """Append an error to the list and go on. Without a list, raise it."""
    try:
        yield
    except SettingError as error:
        if problems is None:
            raise
        problems.append(error)


def _secret_file(name: str, raw: object, source: str) -> tuple[str, str]:
    """The secret in a file, without the newline at its end, and its source. No message quotes the content."""
    if not isinstance(raw, str) or not raw:
        raise SettingError(f"{name} ({source}): expected the path of a file")
    path = Path(raw).expanduser().absolute()
    try:
        with path.open("rb") as file:
            content = file.read(MOST_SECRET_BYTES + 1)
        text = content.decode().rstrip("\r\n")
    except OSError as error:
        raise SettingError(f"{name} ({source}): cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingError(f"{name} ({source}): {path} is not text in UTF-8") from None
    if not text or len(content) > MOST_SECRET_BYTES or "\n" in text:
        raise SettingError(f"{name} ({source}): expected one line in {path}, the secret, in at most 64 KiB")
    return text, f"{name} in {source}"


def rows(loaded: Loaded) -> list[Row]:
    """Every setting in the order of the schema, for `lakebed config show`."""
    shown = []
    for name, key in loaded.keys.items():
        value = loaded.values[name]
        masked = bool(key.secret and value)
        written = MASK if masked else key.kind.written(value)
        shown.append(Row(name, MASK if masked else value, loaded.sources[name], written))
    return shown


def _keys(tree: Mapping[object, object], path: Path | None, env: Mapping[str, str]) -> dict[str, Key]:
    """All settings: the fixed ones, then those of each store that the file or the environment defines."""
    section = tree.get("stores")
    named = dict.fromkeys([str(one) for one in section] if isinstance(section, dict) else [], f"file {path}")
    for one in tree:  # the flat form: `stores.eu.type: s3`
        if isinstance(one, str) and one.startswith(STORES):
            named.setdefault(one.split(".")[1], f"file {path}")
    for one in names_in(env, PREFIX):
        named.setdefault(one, "environment")
    keys = dict(KEYS)
    for name, source in named.items():
        check_name(name, source)
        keys |= store_keys(name)
    return keys


def secret_files(keys: Mapping[str, Key]) -> dict[str, Key]:
    """The keys that name a file with a secret, and the key of that secret."""
    return {key.name + FILE_SUFFIX: key for key in keys.values() if key.secret}


SECRET_FILES = secret_files(KEYS)
"""Those of the fixed settings."""


def misspelled(env: Mapping[str, str], keys: Mapping[str, Key] = KEYS) -> list[str]:
    """A sentence for each variable `LAKEBED_*` that is not a setting but is similar to one, or names no known store."""
    known = {key.env for key in keys.values()} | {CONFIG_ENV}
    known |= {f"{key.env}_FILE" for key in keys.values() if key.secret}
    said = []
    for name in sorted(set(env) - known - CLIENT_ENV):
        if name.startswith(PREFIX):
            short = [one.removeprefix(PREFIX) for one in sorted(known | CLIENT_ENV)]
            near = difflib.get_close_matches(name.removeprefix(PREFIX), short, n=1, cutoff=0.75)
            if near and PREFIX + near[0] in known:
                said.append(f"the variable {name} is not a setting of the server; did you mean {PREFIX}{near[0]}?")
            elif name.startswith(f"{PREFIX}STORES_"):
                said.append(f"the variable {name} names no store: set stores.NAME.type, or {PREFIX}STORES_NAME_TYPE")
    return said


def config_file(config: str | None, env: Mapping[str, str], working_directory: Path | None = None) -> Path | None:
    """The file to read: the given one, LAKEBED_CONFIG, ./lakebed.yaml, ~/.lakebed-server.yaml, or none."""
    given = config or env.get(CONFIG_ENV)
    if given:
        path = Path(given).expanduser()
        if not path.is_file():
            raise SettingError(f"the configuration file {path} does not exist")
        return path
    for path in ((working_directory or Path()) / "lakebed.yaml", Path("~/.lakebed-server.yaml").expanduser()):
        if path.is_file():
            return path
    return None


def _read_file(path: Path) -> dict[object, object]:
    import yaml

    try:
        tree = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"cannot read the configuration file {path}: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise SettingError(f"the configuration file {path} is not YAML{where}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise SettingError(f"the configuration file {path} must hold keys and values")
    return tree


def _flatten(
    tree: Mapping[object, object],
    prefix: str,
    path: Path,
    keys: Mapping[str, Key],
    problems: list[SettingError] | None,
) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    in_files = secret_files(keys)
    for part, value in tree.items():
        name = f"{prefix}{part}"
        with _collected(problems):
            if name in keys or name in in_files:
                rows.append((name, value))
            elif name == "stores" or any(known.startswith(name + ".") for known in keys):
                if isinstance(value, dict):
                    rows += _flatten(value, name + ".", path, keys, problems)
                elif value is not None:
                    raise SettingError(f"{name} in {path} is a section: write its keys below it")
            else:
                raise SettingError(f"unknown key {name} in {path}{_near(name, keys)}")
    return rows


def _near(name: str, keys: Mapping[str, Key]) -> str:
    near = difflib.get_close_matches(name, [*keys, *secret_files(keys)], n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(near)}?" if near else "; `lakebed config show` lists all keys"


def _read(key: Key, raw: object, source: str) -> Value:
    try:
        return key.kind.read(raw)
    except ValueError:
        got = "a value" if key.secret else repr(raw)[:100]
        raise SettingError(f"{key.name} ({source}): expected {key.kind.expected}, got {got}") from None


def _expand(values: dict[str, Value]) -> None:
    data_dir = str(Path(str(values["data_dir"])).expanduser().absolute())
    values["data_dir"] = data_dir
    roots = [name for name in values if name.startswith(STORES) and name.endswith(".root")]
    if values["objects.local.root"] == NONE:
        values["objects.local.root"] = ""
    for name in (*_PATHS, *roots):
        if values[name]:
            given = str(values[name]).replace("{data_dir}", data_dir)
            values[name] = str(Path(given).expanduser().absolute())


def _check(values: Mapping[str, Value], sources: Mapping[str, str]) -> None:
    given, missing = "admin.access_key_id", "admin.secret_access_key"
    if bool(values[given]) == bool(values[missing]):
        return
    if values[missing]:
        given, missing = missing, given
    raise SettingError(f"{given} ({sources[given]}) is set but {missing} is not; give both or neither")
