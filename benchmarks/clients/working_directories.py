"""A working directory of 10,000 files: `lakebed local`, DVC, Oxen and git.

DVC and Oxen are in a separate environment (tools/requirements-peers.txt), whose `bin` is given with `--peers`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.clients.lake import REPOSITORY, Lake
from benchmarks.clients.measure import Row, timed

FILES = 10_000
SIZE = 10 << 10
_OXEN = "import sys, oxen; repo = oxen.Repo('.'); {}"


class Tool:
    """The steps of one tool in one directory: `first` commits all files, `get` makes them again elsewhere."""

    def __init__(self, folder: Path, peers: Path) -> None:
        self.top = folder / type(self).__name__.lower()
        self.peers = peers

    def files(self) -> Path:
        """Where the files are."""
        return self.top

    def make(self) -> None:
        """Make the directory and its files."""
        shutil.rmtree(self.top, ignore_errors=True)
        self.top.mkdir(parents=True)
        self.begin()
        for number in range(FILES):
            target = self.files() / "data" / f"{number % 100:02}" / f"{number}.bin"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(os.urandom(SIZE))

    def change(self, count: int = 1) -> None:
        """Change some files."""
        for number in range(count):
            (self.files() / "data" / f"{number % 100:02}" / f"{number}.bin").write_bytes(os.urandom(SIZE))

    def run(self, *words: str) -> None:
        """Run a program in the directory. Raises SystemExit with what it printed."""
        done = subprocess.run(words, cwd=self.top, capture_output=True, text=True, check=False, env=self.environment())
        if done.returncode:
            raise SystemExit(f"{words}: {done.stdout[-1000:]}{done.stderr[-1000:]}")

    def environment(self) -> dict[str, str]:
        """The variables of its programs."""
        return {**os.environ, "PATH": f"{self.peers}{os.pathsep}{os.environ['PATH']}", "DVC_NO_ANALYTICS": "1"}

    def begin(self) -> None:
        raise NotImplementedError

    def commit(self) -> None:
        raise NotImplementedError

    def status(self) -> None:
        raise NotImplementedError

    def get(self) -> None:
        """Make the first version in an empty directory."""
        raise NotImplementedError


class Git(Tool):
    """git, as the baseline of local work."""

    def begin(self) -> None:
        self.run("git", "init", "-q", "-b", "main")
        self.run("git", "config", "user.email", "bench@example.org")
        self.run("git", "config", "user.name", "bench")

    def commit(self) -> None:
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "-m", "commit")

    def status(self) -> None:
        self.run("git", "status", "--short")

    def get(self) -> None:
        (self.top / "data").rename(self.top.parent / f"{self.top.name}-before")
        self.run("git", "checkout", "-q", "HEAD", "--", "data")


class Dvc(Git):
    """DVC with a cache in the directory."""

    def begin(self) -> None:
        super().begin()
        self.run("dvc", "init", "-q")

    def commit(self) -> None:
        self.run("dvc", "add", "-q", "data")
        self.run("git", "add", "-A", ".")
        self.run("git", "commit", "-q", "-m", "commit")

    def status(self) -> None:
        self.run("dvc", "status")

    def get(self) -> None:
        (self.top / "data").rename(self.top.parent / f"{self.top.name}-before")
        self.run("dvc", "checkout", "-q")


class Oxen(Tool):
    """Oxen by its Python package."""

    def begin(self) -> None:
        self._python("repo.init()")

    def commit(self) -> None:
        self._python("repo.add('data'); repo.commit('commit')")

    def status(self) -> None:
        self._python("repo.status()")

    def _python(self, code: str) -> None:
        prelude = "import oxen; oxen.user.config_user('bench', 'bench@example.org'); " if "init" in code else ""
        self.run(str(self.peers / "python"), "-c", prelude + _OXEN.format(code))


class Lakebed(Tool):
    """`lakebed local` against the server of the benchmark."""

    def __init__(self, folder: Path, peers: Path, lake: Lake) -> None:
        super().__init__(folder, peers)
        self._lake = lake
        self._place = f"{REPOSITORY}/main/work"

    def files(self) -> Path:
        return self.top / "wd"

    def environment(self) -> dict[str, str]:
        return self._lake.environment

    def begin(self) -> None:
        self._command("clone", self._place, "wd")

    def commit(self) -> None:
        self._command("commit", "-m", "commit", "wd")

    def status(self) -> None:
        self._command("status", "wd")

    def get(self) -> None:
        self.files().rename(self.top / "before")
        self._command("clone", self._place, "wd")

    def _command(self, *words: str) -> None:
        self.run(sys.executable, "-m", "lakebed.cli", "local", *words)


def rows(lake: Lake, folder: Path, peers: Path) -> Iterator[Row]:
    """The rows of this group. Every step changes its directory, so each is measured once for each tool, in turns."""
    tools: dict[str, Tool] = {
        "lakebed": Lakebed(folder, peers, lake),
        "dvc": Dvc(folder, peers),
        "oxen": Oxen(folder, peers),
        "git": Git(folder, peers),
    }
    for tool in tools.values():
        tool.make()
    name = f"{FILES:,} files of 10 KiB"

    def each(step: Callable[[Tool], object], *without: str) -> dict[str, float]:
        return {name: timed(lambda: step(tool)) for name, tool in tools.items() if name not in without}  # noqa: B023

    yield Row("directories", f"commit {name}", each(lambda tool: tool.commit()))
    found = each(lambda tool: tool.get(), "oxen")
    yield Row("directories", f"get {name} into an empty directory", found, peer="dvc", at_most=0.6)
    for tool in tools.values():
        tool.change()
    found = each(lambda tool: tool.commit())
    yield Row("directories", "change 1 file of them and commit", found, peer="oxen", at_most=1.0)
    for tool in tools.values():
        tool.change(100)
    found = each(lambda tool: tool.status())
    yield Row("directories", "status after 100 changes", found, peer="oxen", at_most=1.0)
