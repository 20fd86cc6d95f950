"""What the engine reports about its own work, for metrics and traces. The engine knows neither of them.

A server gives the engine an `Observer`. Without one, the stores are not wrapped, and the rest reports to `SILENT`.
"""

from __future__ import annotations

from typing import Literal, Protocol

Layer = Literal["kv", "store", "commit"]
"""A part of the engine. `commit`: the group commit of a branch."""


class Work(Protocol):
    """A piece of work in progress."""

    def end(self, error: BaseException | None = None) -> None:
        """The work is over. `error`: what it raised, if anything. It is called once, in the task of `begin`."""
        ...


class Observer(Protocol):
    """Gets a report of each piece of work. All calls come from the event loop, are quick, and never raise."""

    def begin(self, layer: Layer, call: str, place: str = "") -> Work:
        """A piece of work begins: a call of the KV store, of an object store, or a commit.

        `call`: what is done, from a fixed set of words. `place`: the kind of the object store (`local`, `s3`).
        """
        ...

    def committed(self, commits: int) -> None:
        """One swap of a branch made that many commits."""
        ...

    def branch_changed(self, layers: int) -> None:
        """A branch record was replaced by one with that many layers."""
        ...


class _Nothing:
    def begin(self, layer: Layer, call: str, place: str = "") -> Work:
        return self

    def end(self, error: BaseException | None = None) -> None:
        return

    def committed(self, commits: int) -> None:
        return

    def branch_changed(self, layers: int) -> None:
        return


SILENT: Observer = _Nothing()
"""Ignores all reports."""
