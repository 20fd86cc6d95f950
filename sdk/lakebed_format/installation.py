"""The command that installs an extra of this installation.

Lakebed does not own its name on every package index, so a message that says `pip install lakebed` could install the
package of a stranger. The command names the place that Lakebed was installed from, or the packages of the extra.

It is here because every other package may import this one.
"""

from __future__ import annotations

import json
import re
import shlex
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "lakebed"
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def install_command(extra: str) -> str:
    """Return the shell command that installs an extra: `pip install -e '/src/lakebed[s3]'`."""
    try:
        found = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return f"pip install '.[{extra}]' in the source of Lakebed"
    target = _origin(found.read_text("direct_url.json"), extra)
    return target or " ".join(["pip install", *map(shlex.quote, packages_of(found.requires or [], extra))])


def packages_of(requires: list[str], extra: str) -> list[str]:
    """Return the requirements of an extra, also those of the extras that it names, without Lakebed itself."""
    found: dict[str, None] = {}
    for line in requires:
        requirement, _, marker = (part.strip() for part in line.partition(";"))
        named = _EXTRA.search(marker)
        if named is None or named[1] != extra:
            continue
        rest = _EXTRA.sub("", marker).strip().removeprefix("and ").removesuffix(" and").strip()
        own = re.fullmatch(rf"{DISTRIBUTION}\[([^\]]+)\]", requirement)
        if own is None:
            found[f"{requirement}; {rest}" if rest else requirement] = None
            continue
        for part in own[1].split(","):
            if part.strip() != extra:
                found |= dict.fromkeys(packages_of(requires, part.strip()))
    return list(found)


def _origin(text: str | None, extra: str) -> str:
    """The command for an installation from a directory, a file or a repository. Empty for one from an index."""
    try:
        origin = json.loads(text or "{}")
        url, parts = str(origin["url"]), urlsplit(str(origin["url"]))
    except (ValueError, KeyError, TypeError):
        return ""
    if parts.scheme == "file":
        path = unquote(parts.path)
        if not Path(path).exists():
            return ""  # the directory of a build: the packages of the extra are the way left
        editable = "-e " if (origin.get("dir_info") or {}).get("editable") else ""
        return f"pip install {editable}{shlex.quote(f'{path}[{extra}]')}"
    vcs = origin.get("vcs_info")
    if isinstance(vcs, dict):
        url = f"{vcs.get('vcs', 'git')}+{url}@{vcs.get('commit_id', '')}".removesuffix("@")
    return f"pip install {shlex.quote(f'{DISTRIBUTION}[{extra}] @ {url}')}"
