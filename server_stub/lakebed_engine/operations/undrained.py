"""The number of events that this process has recorded and that no drain has moved yet, by repository."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lakebed_engine.stores.kv.base import Put


@dataclass
class Waiting:
    """The events of one repository. `since`: when the first of them was recorded, in seconds of the monotonic clock."""

    since: float
    rows: int = 0
    bytes: int = 0


@dataclass
class Undrained:
    """The repositories whose events wait, by name."""

    monotonic: Callable[[], float]
    repositories: dict[str, Waiting] = field(default_factory=dict)

    def put_back(self, repo_name: str, waiting: Waiting) -> None:
        """Count events again that no drain has moved. Their age begins now."""
        more = self.repositories.get(repo_name) or Waiting(0.0)
        self.repositories[repo_name] = Waiting(self.monotonic(), waiting.rows + more.rows, waiting.bytes + more.bytes)

    def note(self, repo_name: str, puts: Sequence[Put]) -> None:
        """Count events before they are written. They also count when their batch then fails."""
        waiting = self.repositories.get(repo_name)
        if waiting is None:
            waiting = self.repositories[repo_name] = Waiting(self.monotonic())
        waiting.rows += len(puts)
        waiting.bytes += sum(len(put.value) for put in puts)
