"""What `lakebed workspace add` has chosen, kept on this machine until the commit."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from lakebed._bulk.hash_cache import cache_home


def of(workspace_id: str) -> list[str]:
    """The globs; none when nothing was chosen."""
    try:
        found = json.loads(_file(workspace_id).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    return [glob for glob in found if isinstance(glob, str)] if isinstance(found, list) else []


def remember(workspace_id: str, globs: Sequence[str]) -> None:
    """Replace them; nothing is kept of an empty choice."""
    file = _file(workspace_id)
    if not globs:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(list(globs)), "utf-8")


def _file(workspace_id: str) -> Path:
    return cache_home() / "selections" / (re.sub(r"[^0-9a-zA-Z]", "_", workspace_id) + ".json")
