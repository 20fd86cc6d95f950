"""The options of a workspace, checked before a request is sent. Pure. The sync and the async API share it.

`advise` adds to an error how to go on with work that was kept. It knows the command line's words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from lakebed import _checks
from lakebed.errors import InvalidRequestError

POLICIES = ("rebase", "abort", "overwrite")

RETRY_FOR = 60.0
"""Seconds for which the SDK repeats a commit."""


def new_id() -> str:
    """Return a new random id for a workspace."""
    return uuid4().hex


def seconds_of(lifetime: timedelta | int | None) -> int | None:
    """Return a lifetime in seconds. Raises InvalidRequestError for other values."""
    if lifetime is None:
        return None
    seconds = int(lifetime.total_seconds()) if isinstance(lifetime, timedelta) else lifetime
    if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds <= 0:
        raise InvalidRequestError(f"a lifetime is a timedelta or a whole number of seconds above 0, not {lifetime!r}")
    return seconds


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """How a workspace is created and committed. A pickled handle carries these values."""

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
    """Return globs that can be sent. The server decides what they mean."""
    return [_checks.check_text(glob, "glob") for glob in globs]


_STASH = "Stash of "


def stash_message(branch: str, message: str, now: datetime) -> str:
    """Return the message of a workspace that holds a stash of a branch: by it, `is_stash` finds the stash again.

    The time, to milliseconds, orders stashes of one second: the server's times are whole seconds.
    """
    moment = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{_STASH}{branch} at {moment}" + (f": {message}" if message else "")


def is_stash(message: str) -> bool:
    """Whether a workspace with this message is a stash."""
    return message.startswith(_STASH)


SEARCHED = 1000
"""Commits that are searched for a lost one: more than others could have put on top of it."""


def advise(error: BaseException, repository: str, name: str, workspace: str) -> None:
    """Add to an error that a workspace is kept, and how to resume or drop it. Once for each workspace."""
    note = (
        f"The workspace {name} of {repository} stays open with its changes. "
        f'In Python: repo.workspace("{workspace}") continues it, repo.workspace("{workspace}").drop() discards it. '
        f"In a terminal: `lakebed workspace show lakebed://{repository}/{name}` shows it, "
        f"`lakebed workspace drop lakebed://{repository}/{name}` discards it."
    )
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
