"""What commits say of themselves in their metadata, for other parts of this package."""

from __future__ import annotations

from typing import Final

from lakebed.model import Commit

REWRITE_KEY: Final = "lakebed.rewrite"
"""Files were written anew, and no row was changed: what did so."""

_PICKED: Final = "cherry-pick-origin"
"""What the server notes on a commit that was picked."""


def rewrites_only(commit: Commit) -> bool:
    """Whether a commit changed no row of a table. Picked to another branch, where other files lie, it may."""
    return REWRITE_KEY in commit.metadata and _PICKED not in commit.metadata
