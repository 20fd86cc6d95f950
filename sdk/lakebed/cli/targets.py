"""The target of a verb as it is written on a command line: `lakebed://sales/main/orders/1.parquet`, or without scheme.

This module sends no requests.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakebed import InvalidRequestError, Location, parse_uri
from lakebed.cli.app import App
from lakebed.cli.output import shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from lakebed.cli.here import HereLocation

    _Type = click.ParamType[Location]
else:
    _Type = click.ParamType  # takes no parameter at run time in older releases of click


class Target(_Type):
    """`REPO`, `REPO/REF` or `REPO/REF/PATH`. The form names the required parts and, in brackets, the optional ones."""

    def __init__(self, form: str) -> None:
        self.name = form
        self._least = form.split("[", 1)[0].count("/")
        self._most = form.count("/")

    def convert(self, value: str | Location, param: click.Parameter | None, ctx: click.Context | None) -> Location:
        """Split the text into its parts. Fails with the expected form."""
        if isinstance(value, Location):
            return value
        expected = f"expected {self.name}, with or without lakebed:// before it"
        if (short := self._short(value, param, ctx)) is not None:
            return short
        try:
            place = parse_uri(value if "://" in value else f"lakebed://{value}")
        except InvalidRequestError:
            self.fail(f"cannot read {value!r}: {expected}", param, ctx)
        given = 2 if place.path else 1 if place.ref else 0
        if given < self._least:
            self.fail(f"too few parts in {value!r}: {expected}", param, ctx)
        if given > self._most:
            self.fail(f"too many parts in {value!r}: {expected}{_advice(place, self.name)}", param, ctx)
        return place

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Names that the user's own lake has."""
        from lakebed.cli import completion

        return completion.places(ctx, incomplete, self._least, self._most)

    def _short(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Location | None:
        """A place in the repository of the working directory: `v1`, `./orders`. None for a whole place."""
        from lakebed.cli import here

        lone = "/" not in value and self._most > 0
        if not (lone or (here.is_path(value) and self._most > 0)):
            return None
        try:
            found = here.place(value)
        except InvalidRequestError as error:
            self.fail(str(error), param, ctx)
        if found is None:
            return None
        if found.path and self._most < 2:
            self.fail(f"{value!r} is a path: expected {self.name}", param, ctx)
        if not found.path and self._least >= 2:
            self.fail(f"{value!r} names no object: expected {self.name}", param, ctx)
        return _noted(found)

    def or_here(self, given: Location | None, *, whole: bool = True) -> Location:
        """A place that the command line may leave out: then that of the working directory. Raises UsageError."""
        if given is not None:
            return given
        from lakebed.cli import here

        found = here.place(whole=whole)
        if found is None:
            raise click.UsageError(
                f"Missing argument '{self.name}': it can be left out in a directory of `lakebed local clone` only."
            )
        return _noted(found)


def _noted(found: HereLocation) -> HereLocation:
    """Make the command refuse a server that the working directory does not come from."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.find_root().ensure_object(App).cloned_from = found.endpoint
    return found


def _advice(place: Location, form: str) -> str:
    """Git users write branches such as `feature/x`."""
    if not form.endswith("BRANCH") or not place.ref or not place.path:
        return ""
    near = re.sub(r"[^-\w]+", "-", f"{place.ref}/{place.path}", flags=re.ASCII).strip("-")
    return f"; a branch name has no slash: {near}, for example"


REPOSITORY = Target("REPO")
BRANCH = Target("REPO/BRANCH")
TAG = Target("REPO/TAG")
REF = Target("REPO/REF")
BRANCH_OR_OBJECT = Target("REPO/BRANCH[/PATH]")
FOLDER = Target("REPO/REF[/PATH]")
OBJECT = Target("REPO/REF/PATH")
HISTORY = Target("REPO[/REF[/PATH]]")


def complete_ref(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names for an argument that is a ref in the repository of another argument."""
    from lakebed.cli import completion

    return completion.refs_of(ctx, incomplete)


def same_repository(place: Location, other: str) -> str:
    """A second ref: a name in the same repository, or `REPO/REF`."""
    if "/" not in other:
        return other
    there = REF.convert(other, None, None)
    if there.repository != place.repository:
        raise click.UsageError(f"{place} and {there} are in different repositories: two repositories share no history.")
    return there.ref


def check_source(local: Path, *, recursive: bool) -> None:
    """Refuse what cannot be uploaded, with the reason."""
    if not local.exists():
        raise click.UsageError(f"There is no file {shown(str(local))}.")
    if local.is_dir() and not recursive:
        raise click.UsageError(f"{shown(str(local))} is a directory; -r uploads what is in it.")
    if recursive and not local.is_dir():
        raise click.UsageError(f"{shown(str(local))} is not a directory; leave -r out.")
