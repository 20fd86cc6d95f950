"""Stores and removes sign-ins, access keys and profiles in Lakebed's own file.

The file keeps its other lines, and only its owner can read it. Writers take turns, so that none loses the profile of
another.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lakebed._process.local_files import refuse_special
from lakebed._settings import profiles
from lakebed._settings.config import Settings, normalise_endpoint
from lakebed._settings.profiles import DEFAULT
from lakebed._settings.session_token import session_of
from lakebed._settings.sources import read_tree
from lakebed.errors import ConfigurationError

Tree = dict[object, object]

_CREDENTIALS = ("access_key_id", "secret_access_key", "token")


def of(settings: Settings) -> Path | None:
    """The file that the token of these settings came from, if it came from a file."""
    source = settings.sources.get("token", "")
    if not settings.token or "file " not in source:
        return None
    return Path(source.removeprefix(f"profile {settings.profile!r} of ").removeprefix("file "))


def used_profile(path: Path) -> str:
    """The profile that is used when none is named. Raises ConfigurationError."""
    return profiles.current(_read(path), path) or DEFAULT


def check(path: Path, profile: str = DEFAULT) -> None:
    """Raise ConfigurationError for a profile that cannot store a sign-in, because it has an access key."""
    values = _values(_read(path), profile)
    named = [name for name in ("access_key_id", "secret_access_key") if values.get(name)]
    if named:
        raise ConfigurationError(
            f"{_shown(path, profile)} has an access key ({named[0]}): remove it, or name another profile (--profile)"
        )


def check_server(path: Path, profile: str, endpoint: str) -> None:
    """Raise ConfigurationError for a named profile, or for an access key, of another server."""
    values = _values(_read(path), profile)
    own = values.get("endpoint")
    has_credentials = profile != DEFAULT or bool(values.get("access_key_id"))
    if isinstance(own, str) and has_credentials and normalise_endpoint(own) != endpoint:
        raise ConfigurationError(
            f"{_shown(path, profile)} is for {normalise_endpoint(own)}, not {endpoint}: name another profile "
            "(--profile NAME), or remove this one (`lakebed profile remove`)"
        )


def store(path: Path, endpoint: str, token: str, profile: str = DEFAULT) -> None:
    """Store a sign-in. Raises ConfigurationError and OSError."""
    with _alone(path):
        check(path, profile)
        _change(path, {"endpoint": endpoint, "token": token}, profile)


def store_key(path: Path, endpoint: str, access_key_id: str, secret_access_key: str, profile: str = DEFAULT) -> None:
    """Store an access key in the place of other credentials. Raises ConfigurationError and OSError."""
    key = {"access_key_id": access_key_id, "secret_access_key": secret_access_key, "token": None}
    with _alone(path):
        check_server(path, profile, endpoint)
        _change(path, {"endpoint": endpoint, **key}, profile)


def renew(path: Path, old: str, new: str, profile: str = DEFAULT) -> None:
    """Replace a token by a new one of the same session. Do nothing if the profile has another sign-in now."""
    with _alone(path):
        stored = _values(_read(path), profile).get("token")
        if isinstance(stored, str) and session_of(stored) == session_of(old):
            _change(path, {"token": new}, profile)


def remove(path: Path, profile: str = DEFAULT) -> None:
    """Remove the token, and keep the endpoint. Raises ConfigurationError and OSError."""
    with _alone(path):
        if "token" in _values(_read(path), profile):
            _change(path, {"token": None}, profile)


def use(path: Path, profile: str) -> None:
    """Use this profile when none is named. Raises ConfigurationError when it is unknown, and OSError."""
    with _alone(path):
        tree = _read(path)
        profiles.section(tree, profile, path)
        if (profiles.current(tree, path) or DEFAULT) != profile:
            _change(path, {"profile": None if profile == DEFAULT else profile}, DEFAULT)


def use_if_first(path: Path, profile: str) -> None:
    """Use a profile from now on if the file has no other one. Raises ConfigurationError and OSError."""
    with _alone(path):
        if profiles.names(_read(path), path) == [profile] and profile != DEFAULT:
            _change(path, {"profile": profile}, DEFAULT)


def remove_profile(path: Path, profile: str) -> None:
    """Remove a profile with its credentials. Raises ConfigurationError when it is unknown, and OSError."""
    with _alone(path):
        tree = _read(path)
        part = profiles.section(tree, profile, path)
        if profile == DEFAULT:
            _change(path, {str(name): None for name in ("endpoint", *_CREDENTIALS) if name in part}, DEFAULT)
            return
        if profiles.current(tree, path) == profile:
            _change(path, {"profile": None}, DEFAULT)
        _change_profiles(path, lambda found: {name: one for name, one in found.items() if name != profile})


def _shown(path: Path, profile: str) -> str:
    return str(path) if profile == DEFAULT else f"profile {profile!r} of {path}"


def _values(tree: Tree, profile: str) -> Tree:
    if profile == DEFAULT:
        return tree
    found = tree.get("profiles")
    part = found.get(profile) if isinstance(found, dict) else None
    return part if isinstance(part, dict) else {}


def _read(path: Path) -> Tree:
    return read_tree(path) if path.is_file() else {}


def _change(path: Path, values: Mapping[str, str | None], profile: str) -> None:
    """Set keys of a profile, or remove them. Comments and other keys stay."""
    if profile == DEFAULT:
        _change_lines(path, values)
        return
    profiles.check_name(profile)

    def changed(found: dict[str, Any]) -> dict[str, Any]:
        now = {**(found.get(profile) or {}), **values}
        return {**found, profile: {key: value for key, value in now.items() if value is not None}}

    _change_profiles(path, changed)


def _change_lines(path: Path, values: Mapping[str, str | None]) -> None:
    import yaml  # 20 ms, and only when a file is written

    tree = _read(path)
    tree.update(values)
    wanted = {key: value for key, value in tree.items() if value is not None}
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for key, value in values.items():
        lines = [line for line in lines if line.partition(":")[0].rstrip().strip("\"'") != key]
        if value is not None:
            lines.append(f"{key}: {json.dumps(value)}")
    text = "\n".join(lines) + "\n"
    if not _means(text, wanted):  # a value with several lines, or another form of YAML
        text = yaml.safe_dump(wanted, sort_keys=False)
    _replace(path.resolve(), text)


def _change_profiles(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Replace the block of profiles. Lines outside of it stay."""
    import yaml

    tree = _read(path)
    profiles.names(tree, path)  # refuses another form
    found = change(dict(tree.get("profiles") or {}))  # type: ignore[call-overload]
    wanted = {key: value for key, value in tree.items() if key != "profiles"} | ({"profiles": found} if found else {})
    kept, inside = [], False
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        inside = line.startswith("profiles:") or (inside and (not line.strip() or line[0] in " \t#"))
        if not inside:
            kept.append(line)
    block = yaml.safe_dump({"profiles": found}, sort_keys=False) if found else ""
    text = "".join(f"{line}\n" for line in kept) + block
    if not _means(text, wanted):
        text = yaml.safe_dump(wanted, sort_keys=False)
    _replace(path.resolve(), text)


def change_text(path: Path, change: Callable[[str], str]) -> None:
    """Change another file of the user's in the same way: writers take turns, and readers see all or nothing."""
    with _alone(path):
        _replace(path.resolve(), change(path.read_text(encoding="utf-8") if path.is_file() else ""))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One writer at a time. Without locks (Windows, some network file systems) the last writer wins."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    directory = path.resolve().parent
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(descriptor)


def _means(text: str, wanted: Mapping[object, object]) -> bool:
    import yaml

    try:
        return (yaml.safe_load(text) or {}) == wanted
    except yaml.YAMLError:
        return False


def _replace(path: Path, text: str) -> None:
    """Write a file of mode 0600 in one step: a reader sees the old content or the new."""
    refuse_special(path, "name another file")
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
