"""The model of a workspace: what it changes, and what a commit of it must come to.

Globs are read by the library that the engine uses; the simulation reads them on its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakebed_engine.vocabulary import errors
from lakebed_format.globs import Globs, names_of

from tests.engine.state_machine.machine_values import Value, View


@dataclass
class Workspace:
    """Rows over a base; None is a tombstone."""

    name: str
    branch: str
    base: str
    message: str = ""
    claims: tuple[str, ...] = ()
    rows: dict[str, Value | None] = field(default_factory=dict)
    state: str = "open"

    @property
    def id(self) -> str:
        return self.name.partition("+")[2]

    def refuse_closed(self) -> None:
        if self.state != "open":
            raise errors.WorkspaceClosedError(self.name)

    def view(self, base: View) -> View:
        """What it shows."""
        return over(base, self.rows)

    def chosen(self, globs: Sequence[str]) -> dict[str, Value | None]:
        """The rows that globs choose. InvalidRequestError when one names nothing."""
        if not globs:
            return dict(self.rows)
        wanted = Globs(globs)
        for glob in wanted.globs:
            if not any(glob.rank(names_of(path)) for path in self.rows):
                raise errors.InvalidRequestError(f"{glob.text} names nothing")
        return {path: value for path, value in self.rows.items() if wanted.choose(path)}

    def met(self, base: View, head: View, replaced: tuple[str, ...]) -> set[str]:
        """Paths that the head has changed since the base, which are the workspace's, or below what it claims."""
        claims = (*self.claims, *replaced)
        return {
            path
            for path in {*base, *head}
            if base.get(path) != head.get(path) and (path in self.rows or (claims and path.startswith(claims)))
        }


def over(view: View, rows: Mapping[str, Value | None]) -> View:
    """A view with rows over it."""
    kept = {path: value for path, value in view.items() if path not in rows}
    return kept | {path: value for path, value in rows.items() if value is not None}
