"""What a workspace is asked to be, checked before anything is sent. Pure; under the handles of both doors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from lakebed import _checks
from lakebed.errors import InvalidRequestError

POLICIES = ("rebase", "abort", "overwrite")

RETRY_FOR = 60.0
"""For how many seconds a commit is tried again."""


def new_id() -> str:
    """An id for a workspace that nobody else has."""
    return uuid4().hex


def seconds_of(lifetime: timedelta | int | None) -> int | None:
    """A lifetime in seconds. Raises InvalidRequestError for what is none."""
    if lifetime is None:
        return None
    seconds = int(lifetime.total_seconds()) if isinstance(lifetime, timedelta) else lifetime
    if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds <= 0:
        raise InvalidRequestError(f"a lifetime is a timedelta or a whole number of seconds above 0, not {lifetime!r}")
    return seconds


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """How a workspace is made and committed: what its handle carries into another process."""

    message: str = ""
    on_conflict: str = "rebase"
    expires_in: int | None = None
    claims: tuple[str, ...] = ()
    data_path: str | None = None
    retry_for: float = RETRY_FOR
    base: str = ""

    def check(self) -> None:
        """Raises InvalidRequestError."""
        _checks.check_text(self.message, "message")
        check_policy(self.on_conflict)
        for claim in self.claims:
            _checks.check_path(claim)


def check_policy(policy: str) -> str:
    """Raises InvalidRequestError."""
    if policy not in POLICIES:
        raise InvalidRequestError(f"on_conflict must be 'rebase', 'abort' or 'overwrite', not {policy!r}")
    return policy


def checked_globs(globs: Sequence[str]) -> list[str]:
    """Globs that can be sent; what they mean is the server's to say."""
    return [_checks.check_text(glob, "glob") for glob in globs]
