"""Stores and removes a sign-in in Lakebed's own file.

The file keeps its other lines, and only its owner can read it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from lakebed._settings.config import Settings
from lakebed._settings.session_token import session_of
from lakebed._settings.sources import read_tree
from lakebed.errors import ConfigurationError


def of(settings: Settings) -> Path | None:
    """The file that the token of these settings came from, if it came from a file."""
    source = settings.sources.get("token", "")
    return Path(source.removeprefix("file ")) if settings.token and source.startswith("file ") else None


def check(path: Path) -> None:
    """Raise ConfigurationError for a file that cannot store a sign-in, because it has an access key."""
    named = [name for name in ("access_key_id", "secret_access_key") if _read(path).get(name)]
    if named:
        raise ConfigurationError(
            f"{path} has an access key ({named[0]}): remove it, or name another file in LAKEBED_CONFIG_FILE"
        )


def store(path: Path, endpoint: str, token: str) -> None:
    """Store a sign-in. Raises ConfigurationError and OSError."""
    check(path)
    _change(path, {"endpoint": endpoint, "token": token})


def renew(path: Path, old: str, new: str) -> None:
    """Replace a token by a new one of the same session. Do nothing if the file has another sign-in now."""
    stored = _read(path).get("token")
    if isinstance(stored, str) and session_of(stored) == session_of(old):
        _change(path, {"token": new})


def remove(path: Path) -> None:
    """Remove the token, and keep the endpoint. Raises ConfigurationError and OSError."""
    if "token" in _read(path):
        _change(path, {"token": None})


def _read(path: Path) -> dict[object, object]:
    return read_tree(path) if path.is_file() else {}


def _change(path: Path, values: Mapping[str, str | None]) -> None:
    """Set keys of the file, or remove them. Comments and other keys stay."""
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


def _means(text: str, wanted: Mapping[object, object]) -> bool:
    import yaml

    try:
        return (yaml.safe_load(text) or {}) == wanted
    except yaml.YAMLError:
        return False


def _replace(path: Path, text: str) -> None:
    """Write a file of mode 0600 in one step: a reader sees the old content or the new."""
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
