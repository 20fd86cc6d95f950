"""Local files and the object paths they map to. No object name of a lake can name a file outside the target."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from lakebed import InvalidRequestError
from lakebed._bulk import local_tree
from lakebed.cli.output import shown


@dataclass(frozen=True)
class Item:
    """One thing to move: an object's path, and a local file, or a directory and an unchecked `name` below it."""

    path: str
    local: Path
    size: int
    name: str = ""

    def place(self) -> Path:
        """The local file. Raises InvalidRequestError for a name that would lead elsewhere."""
        return inside(self.local, self.name) if self.name else self.local


def inside(directory: Path, name: str) -> Path:
    """The file `name`, a path with `/`, below a directory.

    Raises InvalidRequestError for a name that leads elsewhere.
    """
    parts = name.split("/")
    forbidden = "\0\\:" if sys.platform == "win32" else "\0"
    if any(part in ("", ".", "..") or any(char in part for char in forbidden) for part in parts):
        raise InvalidRequestError(
            f"{name!r} cannot be the name of a local file; download this object alone, and say which file to write"
        )
    return directory.joinpath(*parts)


def check_source(local: Path, *, recursive: bool) -> None:
    """Refuse what cannot be uploaded, with the reason."""
    if not local.exists():
        raise click.UsageError(f"There is no file {shown(str(local))}.")
    if local.is_dir() and not recursive:
        raise click.UsageError(f"{shown(str(local))} is a directory; -r uploads what is in it.")
    if recursive and not local.is_dir():
        raise click.UsageError(f"{shown(str(local))} is not a directory; leave -r out.")


def walk(directory: Path, prefix: str) -> Iterator[Item]:
    """Every regular file below a directory, in a stable order, with the object path it gets under the prefix.

    As `lakebed._bulk.local_tree.walk`: a warning names what is left out.
    """
    under = local_tree.folder(prefix)
    for found in local_tree.walk(directory):
        yield Item(under + found.name, found.file, found.stamp.size)
