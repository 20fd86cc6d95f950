"""What a verb is about, as it is written on a command line: `lakebed://sales/main/orders/1.parquet`, or without scheme.

Nothing here asks the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed import InvalidRequestError, Location, parse_uri

if TYPE_CHECKING:
    _Type = click.ParamType[Location]
else:
    _Type = click.ParamType  # takes no parameter at run time in older releases of click


class Target(_Type):
    """`REPO`, `REPO/REF` or `REPO/REF/PATH`; a form says which parts must be there and which may."""

    def __init__(self, form: str) -> None:
        self.name = form
        self._least = form.split("[", 1)[0].count("/")
        self._most = form.count("/")

    def convert(self, value: str | Location, param: click.Parameter | None, ctx: click.Context | None) -> Location:
        """Split what was written. Fails with the form that is expected."""
        if isinstance(value, Location):
            return value
        shown = f"write {self.name}, with or without lakebed:// before it"
        try:
            place = parse_uri(value if "://" in value else f"lakebed://{value}")
        except InvalidRequestError:
            self.fail(f"{value!r} cannot be read; {shown}", param, ctx)
        given = 2 if place.path else 1 if place.ref else 0
        if given < self._least:
            self.fail(f"{value!r} says too little; {shown}", param, ctx)
        if given > self._most:
            self.fail(f"{value!r} says too much; {shown}", param, ctx)
        return place


REPOSITORY = Target("REPO")
BRANCH = Target("REPO/BRANCH")
TAG = Target("REPO/TAG")
REF = Target("REPO/REF")
BRANCH_OR_OBJECT = Target("REPO/BRANCH[/PATH]")
FOLDER = Target("REPO/REF[/PATH]")
OBJECT = Target("REPO/REF/PATH")
HISTORY = Target("REPO[/REF[/PATH]]")


def same_repository(place: Location, other: str) -> str:
    """A second ref: a bare one of the same repository, or a whole `REPO/REF`."""
    if "/" not in other:
        return other
    there = REF.convert(other, None, None)
    if there.repository != place.repository:
        raise click.UsageError(
            f"{place} and {there} are in two repositories; both must be in one, since histories are not shared."
        )
    return there.ref
