"""The profiles of Lakebed's file: several servers in one file, each with the credentials that were made for it.

    endpoint: http://localhost:8000        # outside of all profiles: the profile `default`
    token: ...
    profile: prod                          # the profile that is used when none is named
    profiles:
      prod:
        endpoint: https://lake.example.com
        access_key_id: ...
        secret_access_key: ...

Pure: reads the parsed file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lakebed.errors import ConfigurationError

KEYS: Final = ("profile", "profiles")
DEFAULT: Final = "default"
"""The name of the values outside of all profiles."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


def check_name(name: str) -> str:
    """Return the name of a profile. Raises ConfigurationError."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"profile {str(name)[:80]!r}: a name has 1 to 64 ASCII letters, digits, '.', '_' and '-', and begins with "
            "a letter or digit"
        )
    return name


def names(tree: Mapping[object, object], path: Path) -> list[str]:
    """Return the profiles of a file, `default` first if the file has it. Raises ConfigurationError."""
    outside = [DEFAULT] if any(tree.get(key) for key in ("endpoint", "access_key_id", "token")) else []
    return outside + [name for name in _sections(tree, path) if name != DEFAULT]


def current(tree: Mapping[object, object], path: Path) -> str:
    """Return the profile that a file names for use. Empty for `default`. Raises ConfigurationError."""
    name = tree.get("profile")
    if name is None or name == "":
        return ""
    if not isinstance(name, str):
        raise ConfigurationError(f"`profile` in {path} must be text, not {type(name).__name__}")
    return "" if name == DEFAULT else name


def section(tree: Mapping[object, object], name: str, path: Path) -> dict[object, object]:
    """Return the values of a profile. Raises ConfigurationError for an unknown one."""
    if check_name(name) == DEFAULT:
        return {key: value for key, value in tree.items() if key not in KEYS}
    found = _sections(tree, path)
    if name not in found:
        near = difflib.get_close_matches(name, found, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"`lakebed login ENDPOINT --profile {name}` creates it"
        raise ConfigurationError(f"there is no profile {name!r} in {path}: {hint}")
    part = found[name]
    if not isinstance(part, dict):
        raise ConfigurationError(f"profile {name!r} in {path} must hold keys and values")
    return part


def _sections(tree: Mapping[object, object], path: Path) -> dict[str, object]:
    found = tree.get("profiles") or {}
    if not isinstance(found, dict):
        raise ConfigurationError(f"`profiles` in {path} must hold a profile below each name")
    return {str(name): part for name, part in found.items()}
