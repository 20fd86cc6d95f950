"""The working directory that a command runs in: its repository, branch and commit, as `lakebed local clone` left them.

Read only when a command line leaves them out. Reading needs no lock and no network.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lakebed import InvalidRequestError, LakebedError, Location
from lakebed._bulk.local_tree import OURS
from lakebed._bulk.working_directory import find_top


@dataclass(frozen=True, slots=True)
class Here:
    """A working directory. `detached` is the tag or commit that it shows, or empty when it shows `branch`."""

    top: Path
    endpoint: str
    repository: str
    branch: str
    prefix: str
    base: str
    detached: str

    @property
    def ref(self) -> str:
        """The branch; the commit when the directory shows a tag or a commit."""
        return self.base if self.detached else self.branch

    def object_path(self, text: str) -> str:
        """The path of the object that a local path names, such as `./a.csv`. Raises InvalidRequestError."""
        local = Path(os.path.normpath(Path.cwd() / text))
        if not local.is_relative_to(self.top):
            raise InvalidRequestError(f"{text} is outside of the working directory {self.top}")
        name = local.relative_to(self.top).as_posix()
        if name == ".":
            return self.prefix
        return self.prefix + name + ("/" if local.is_dir() or text.endswith(("/", "/.")) else "")


@dataclass(frozen=True, slots=True)
class HereLocation(Location):
    """A place that was named in short: its repository is that of the working directory."""

    endpoint: str = ""


def here() -> Here | None:
    """The working directory that contains the current directory, or None."""
    try:
        top = find_top(Path.cwd())
    except (InvalidRequestError, OSError):
        return None
    return here_at(top)


def here_at(top: Path) -> Here:
    """The working directory at `top`. Raises LakebedError when its index cannot be read."""
    import sqlite3

    try:
        index = sqlite3.connect(f"{(top / OURS / 'index.db').as_uri()}?mode=ro", uri=True, timeout=10.0)
        try:
            facts = dict(index.execute("SELECT key, value FROM facts").fetchall())
        finally:
            index.close()
    except sqlite3.Error as error:
        raise LakebedError(f"cannot read the index of the working directory {top}: {error}") from None
    names = ("endpoint", "repository", "branch", "prefix", "base", "detached")
    return Here(top, *(str(facts.get(name, "")) for name in names))


def place(text: str = "", *, whole: bool = False) -> HereLocation | None:
    """The place that a short text names here: a ref, `./path`, or with no text the directory itself.

    `whole` leaves out the folder that was cloned. None outside of a working directory.
    """
    found = here()
    if found is None:
        return None
    if is_path(text):
        return HereLocation(found.repository, found.ref, found.object_path(text), found.endpoint)
    if text:
        return HereLocation(found.repository, text, "", found.endpoint)
    return HereLocation(found.repository, found.ref, "" if whole else found.prefix, found.endpoint)


def is_path(text: str) -> bool:
    """Whether a text names a local path: `.`, `./a`, `../a`."""
    return text in (".", "..") or text.startswith(("./", "../"))
