"""Actions whose receiver does not answer rest, so that their calls cost nothing: longer each time.

After a rest, one call finds out whether the receiver answers again. Times are seconds of the event loop.
"""

from __future__ import annotations

from typing import Final, NamedTuple

RESTS: Final = (5.0, 10.0, 20.0, 40.0, 60.0)
"""Seconds of the first rest, the second, and so on."""

ActionKey = tuple[str, ...]
"""An action of a repository."""


class _Rest(NamedTuple):
    """`times`: the place of the next rest in `RESTS`."""

    times: int
    since: float
    until: float


class Rests:
    """The actions that rest, or whose receiver has not answered since."""

    def __init__(self) -> None:
        self._rests: dict[ActionKey, _Rest] = {}

    def __bool__(self) -> bool:
        return bool(self._rests)

    def has(self, action: ActionKey, now: float) -> bool:
        """Whether an action rests."""
        rest = self._rests.get(action)
        return rest is not None and rest.until > now

    def begin_call(self, action: ActionKey, now: float) -> None:
        """Let the other calls of an action wait for the end of this one, the first after a rest."""
        rest = self._rests.get(action)
        if rest is not None:
            self._rests[action] = _Rest(rest.times, now, now + RESTS[rest.times])

    def end_call(self, action: ActionKey, began: float, now: float, *, is_silent: bool) -> None:
        """Note a call. `is_silent`: the receiver did not answer at all. Any answer ends the rests of the action."""
        if not is_silent:
            self._rests.pop(action, None)
            return
        rest = self._rests.get(action, _Rest(0, began, began))
        if began >= rest.since:  # a call that began before the rest is no news
            self._rests[action] = _Rest(min(rest.times + 1, len(RESTS) - 1), now, now + RESTS[rest.times])
