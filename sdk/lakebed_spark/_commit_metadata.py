"""The metadata keys that commits of this package carry, for its other parts."""

from __future__ import annotations

from typing import Final

from lakebed.model import Commit

REWRITE_KEY: Final = "lakebed.rewrite"
"""The commit rewrote files without changing a row. The value is the operation that did so."""

_PICKED: Final = "cherry-pick-origin"
"""The key that the server sets on a cherry-picked commit."""


def rewrites_only(commit: Commit) -> bool:
    """Whether a commit changed no row of a table. A cherry-picked commit may change rows, because the other branch has
    other files.
    """
    return REWRITE_KEY in commit.metadata and _PICKED not in commit.metadata
