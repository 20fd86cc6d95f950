"""What the calls of webhooks and of Airflow share: the attempt, its secrets, and how the log shows an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from lakebed_hooks import Hook, HookEvent, Outcome
from lakebed_hooks.schedule import retry_after_seconds
from lakebed_hooks.secrets import MASK, PREFIXES, expand, mask
from lakebed_hooks.syntax import properties

from lakebed_server.outbound import Answer, ForbiddenDestination, OutboundError, Receivers

Log = Callable[[str], None]
"""Takes text for the log of the hook run. Secrets are masked in it."""

TIMEOUT: Final = "1m"
"""The timeout of a hook that has none."""
SHOWN: Final = 16 * 1024
"""The most characters of an answer in the log."""
LONGEST_MESSAGE: Final = 500
NO_RETRY: Final = -1.0
"""As `retry_after` of an outcome: the same call would fail again."""

_WINDOW: Final = 3 * SHOWN // 2
_LONGEST_SPELLING: Final = 12
"""Characters that one character of a secret can take in an answer: a surrogate pair in JSON."""
_RETRIED: Final = frozenset({408, 425, 429})
_ENCODED: Final = "(compressed, not shown)"
_PRIVATE: Final = frozenset({"set-cookie", "authorization", "www-authenticate"})
"""Headers of an answer that can be a secret of the receiver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One attempt to call the receiver of a hook. `log`: gets what was sent and what came back."""

    hook: Hook
    event: HookEvent
    id: str
    """The id of the delivery. It is the same for each attempt."""
    now: float
    """The time of this attempt, in Unix seconds."""
    seconds: float
    """The most seconds for this attempt, also where the hook has a longer timeout."""
    receivers: Receivers
    secrets: Secrets
    log: Log
    source: str = ""
    """The address of the repository, for CloudEvents."""

    @property
    def timeout(self) -> float:
        """The seconds for this attempt."""
        return min(self.seconds, properties.duration_seconds(self.hook.properties.get("timeout", TIMEOUT)))

    def note(self, text: str) -> None:
        """Write lines to the log, without secrets."""
        self.log(self.secrets.mask(text).rstrip("\n") + "\n")

    def show(self, answer: Answer) -> None:
        """Write an answer to the log, without secrets and at most `SHOWN` characters.

        The text is masked before it is cut, so that no part of a secret is left at its end.
        """
        lines = [f"status {answer.status} {answer.reason}"]
        lines += [f"{name}: {MASK if name in _PRIVATE else value}" for name, value in answer.headers.items()]
        if answer.headers.get("content-encoding", "identity") == "identity":
            lines += ["", answer.body[: _WINDOW * 4].decode("utf-8", "replace")]
        else:
            lines += ["", _ENCODED]
        text = "\n".join(lines)
        shown = self.secrets.mask(text[:_WINDOW])
        if len(text) > SHOWN:
            cut = len(shown) - self.secrets.longest * _LONGEST_SPELLING if len(text) > _WINDOW else len(shown)
            shown = shown[: max(0, min(cut, SHOWN))] + "\n(cut here)"
        self.log(_printable(shown).rstrip("\n") + "\n")

    def failed(self, error: OutboundError) -> Outcome:
        """The outcome of a call without an answer."""
        message = self.secrets.mask(str(error))
        self.note(message)
        again = not isinstance(error, ForbiddenDestination)
        return Outcome("error", message, retry_after=0.0 if again else NO_RETRY)

    def not_usable(self, message: str, answer: Answer) -> Outcome:
        """The outcome of a call with an answer that is neither success nor a refusal."""
        wait = NO_RETRY
        if answer.status in _RETRIED or answer.status >= 500:
            wait = retry_after_seconds(answer.headers.get("retry-after", ""), now=self.now)
        return Outcome("error", self.secrets.mask(message), retry_after=wait, status=answer.status)


class Secrets:
    """The secrets that a call uses: it reads them from the environment, and hides them in texts."""

    def __init__(self, environment: Mapping[str, str], prefixes: Iterable[str] = PREFIXES) -> None:
        self._environment = environment
        self._prefixes = tuple(prefixes)
        self._used: set[str] = set()

    def __repr__(self) -> str:
        return f"Secrets({MASK})"

    @property
    def longest(self) -> int:
        """The length of the longest secret in use."""
        return max(map(len, self._used), default=0)

    def fill(self, text: str) -> str:
        """The text with its secrets. Raises SecretError if one is missing or not allowed."""
        expanded = expand(text, self._environment, self._prefixes)
        self._used |= expanded.secrets
        return expanded.text

    def hide(self, value: str) -> None:
        """Treat a value as a secret, such as a token that a receiver made."""
        self._used.add(value)

    def mask(self, text: str) -> str:
        """The text without the secrets that were used until now."""
        return mask(text, self._used)


def message_of(text: str) -> str:
    """A text of a receiver as one line for a user."""
    return " ".join(_printable(text).split())[:LONGEST_MESSAGE]


def _printable(text: str) -> str:
    """Without control characters, with which a text could rewrite a terminal."""
    plain = text.replace("\r\n", "\n")
    return "".join(char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in plain)
