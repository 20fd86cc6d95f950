"""Reads commits, refs and files of a Git repository, through the `git` command."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Self

from lakebed._migrate.values import SourceCommit
from lakebed.errors import ConfigurationError, InvalidRequestError

_FIELDS = ("%H", "%P", "%an <%ae>", "%at", "%cn <%ce>", "%ct", "%B")


class GitRepository:
    """The history of the folder `top`, which is in a Git repository. Use it as a context manager.

    Raises InvalidRequestError when the folder is in no Git repository, and ConfigurationError without `git`.
    """

    def __init__(self, top: Path) -> None:
        self._top = top
        self._run("rev-parse", "--git-dir")
        self._files = lru_cache(maxsize=4)(self._list_files)
        self._blobs = subprocess.Popen(
            ["git", "-C", str(top), "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._blobs.communicate()

    def default_branch(self) -> str:
        """The name of the branch that is checked out; `main` when there is none."""
        lines = (
            self._run("for-each-ref", "--format=%(HEAD)%(refname)", "refs/heads/").decode(errors="replace").split("\n")
        )
        return next((line.removeprefix("*refs/heads/") for line in lines if line.startswith("*")), "main")

    def branches(self) -> dict[str, str]:
        """The commit ids of the local branches, by name."""
        return self._refs("refs/heads/")

    def tags(self) -> dict[str, str]:
        """The commit ids of the tags, by name."""
        return self._refs("refs/tags/")

    def _refs(self, prefix: str) -> dict[str, str]:
        form = "%(objecttype) %(objectname) %(*objecttype) %(*objectname) %(refname)"
        found = {}
        for line in self._run("for-each-ref", f"--format={form}", prefix).decode(errors="replace").splitlines():
            kind, own, peeled_kind, peeled, name = line.split(" ", 4)
            if "commit" in (kind, peeled_kind):
                found[name.removeprefix(prefix)] = own if kind == "commit" else peeled
        return found

    def log(self, head: str) -> Iterator[SourceCommit]:
        """The history of a commit, parents after children. The author is the committer of the result."""
        form = "%x00".join(_FIELDS)
        command = (
            "log",
            "-z",
            "--topo-order",
            "--no-show-signature",
            "--encoding=UTF-8",
            f"--format={form}",
            head,
            "--",
        )
        fields = self._run(*command).decode(errors="replace").split("\0")
        for begin in range(0, len(fields) - 1, len(_FIELDS)):
            commit, parents, author, authored, committer, committed, message = fields[begin : begin + len(_FIELDS)]
            other = {"git.committer": committer, "git.committed": committed} if committer != author else {}
            yield SourceCommit(commit, tuple(parents.split()), message.rstrip("\n"), author, int(authored), other)

    def files(self, commit: str) -> dict[str, str]:
        """The ids of the files of a commit, by path below `top`."""
        return self._files(commit)

    def _list_files(self, commit: str) -> dict[str, str]:
        found = {}
        for line in self._run("ls-tree", "-r", "-z", commit).split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            _, kind, blob = facts.decode().split()
            if kind == "blob":
                found[path.decode(errors="surrogateescape")] = blob
        return found

    def read(self, blob: str) -> bytes:
        """The content of a file, by its id."""
        pipe_in, pipe_out = self._blobs.stdin, self._blobs.stdout
        assert pipe_in is not None
        assert pipe_out is not None
        with self._lock:
            pipe_in.write(f"{blob}\n".encode())
            pipe_in.flush()
            size = int(pipe_out.readline().split()[2])
            content = pipe_out.read(size)
            pipe_out.read(1)
        return content

    def changed_files(self) -> list[str]:
        """The tracked files of the working directory that differ from the last commit."""
        lines = self._run("status", "--porcelain", "-z", "--untracked-files=no", "--", ".").split(b"\0")[:-1]
        return [line[3:].decode(errors="replace") for line in lines]

    def _run(self, *arguments: str) -> bytes:
        try:
            done = subprocess.run(["git", "-C", str(self._top), *arguments], capture_output=True, check=False)
        except FileNotFoundError:
            raise ConfigurationError(
                "the command `git` is missing; install Git to read the history of a repository"
            ) from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise InvalidRequestError(f"{self._top}: `git {arguments[0]}` failed: {said}")
        return done.stdout
