"""A small history with work under way, and what must be true of it when a store has failed and is well again.

scene = Scene(server, "local://x", environment)
with some_fault():
    answers = scene.attempt("upload", "commit")     # raw answers: no client repeats anything
scene.is_unhurt()                                   # nothing half-done: heads, uncommitted changes, fsck
scene.goes_on()                                     # and the branch works again
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import httpx

from tests.support.processes.nursery import ended
from tests.support.processes.server import RunningServer, clean_environment
from tests.support.waiting import PATIENCE

Answers = dict[str, httpx.Response]


class Scene:
    """Repository with `main` (`a` committed, `b` not), and `theirs`, which can be merged into `ours`."""

    def __init__(self, server: RunningServer, namespace: str, environment: Mapping[str, str]) -> None:
        self.server = server
        self.name = f"faults-{uuid4().hex[:12]}"
        self._environment = environment
        self.namespace = namespace
        self._http = httpx.Client(
            base_url=f"{server.endpoint}/api/v1",
            auth=(server.access_key_id, server.secret_access_key),
            timeout=PATIENCE,
        )
        self._verbs: dict[str, Callable[[], httpx.Response]] = {
            "upload": lambda: self.upload("main", "x", b"new"),
            "large upload": lambda: self.upload("main", "large", b"." * (9 << 20)),
            "commit": lambda: self.commit("main"),
            "read": lambda: self.read("main", "a"),
            "list": lambda: self._http.get(f"{self._repo}/refs/main/objects/ls"),
            "merge": lambda: self._http.post(f"{self._repo}/refs/theirs/merge/ours", json={}),
            "create": lambda: self.create(f"{self.name}-2", f"{namespace}-2"),
        }
        try:
            self._build()
        except BaseException:
            self._http.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    @property
    def _repo(self) -> str:
        return f"/repositories/{self.name}"

    def create(self, name: str, namespace: str) -> httpx.Response:
        """A repository."""
        return self._http.post("/repositories", json={"name": name, "storage_namespace": namespace})

    def upload(self, branch: str, path: str, data: bytes) -> httpx.Response:
        """An object."""
        return self._http.post(f"{self._repo}/branches/{branch}/objects", params={"path": path}, content=data)

    def commit(self, branch: str) -> httpx.Response:
        """A commit."""
        return self._http.post(f"{self._repo}/branches/{branch}/commits", json={"message": "a commit"})

    def read(self, ref: str, path: str) -> httpx.Response:
        """An object's bytes."""
        return self._http.get(f"{self._repo}/refs/{ref}/objects", params={"path": path})

    def branch(self, name: str, source: str) -> httpx.Response:
        """A branch."""
        return self._http.post(f"{self._repo}/branches", json={"name": name, "source": source})

    def get(self, path: str, /, **params: str) -> httpx.Response:
        """Something else of the repository."""
        return self._http.get(f"{self._repo}{path}", params=params)

    def attempt(self, *verbs: str) -> Answers:
        """The answers to these verbs, asked for at the same time."""
        with ThreadPoolExecutor(len(verbs)) as threads:
            return dict(zip(verbs, threads.map(lambda verb: self._verbs[verb](), verbs), strict=True))

    def head(self, branch: str) -> str:
        """The id of a branch's commit."""
        return str(well(self.get(f"/branches/{branch}"))["commit_id"])

    def uncommitted(self) -> list[str]:
        """Paths of `main` that are not committed."""
        return [entry["path"] for entry in well(self.get("/branches/main/diff", amount="1000"))["results"]]

    def paths(self, ref: str = "main") -> list[str]:
        """What a listing shows."""
        return [entry["path"] for entry in well(self.get(f"/refs/{ref}/objects/ls", amount="1000"))["results"]]

    def is_unhurt(self, *, perhaps: tuple[str, ...] = ()) -> None:
        """Everything is as it was built. `perhaps` are paths whose write was neither acknowledged nor refused."""
        assert self._heads() == self._built
        assert [path for path in self.uncommitted() if path not in perhaps] == ["b"]
        assert [path for path in self.paths() if path not in perhaps] == ["a", "b"]
        assert self.read("main", "a").content == b"first"
        assert self.read("main", "b").content == b"second"
        self.passes_fsck()

    def goes_on(self) -> None:
        """Upload, commit and merge, once each."""
        assert self.upload("main", "x", b"after").status_code == 201
        done = self.commit("main")
        assert done.status_code == 201, done.text
        assert done.json()["parents"] == [self._built["main"]]
        assert self.uncommitted() == []
        assert self.read(done.json()["id"], "x").content == b"after"
        assert self.read(done.json()["id"], "b").content == b"second"
        well(self._verbs["merge"]())
        assert self.paths("ours") == ["a", "o", "t"]
        self.passes_fsck()

    def passes_fsck(self) -> None:
        """`lakebed fsck --data` finds nothing missing or corrupt, while the server runs."""
        found = self.fsck()
        assert found.returncode == 0, found.stdout + found.stderr

    def fsck(self, *flags: str) -> subprocess.CompletedProcess[str]:
        """`lakebed fsck --data`."""
        return run_verb(self.server.data_dir, self._environment, "fsck", self.name, "--data", *flags)

    def _heads(self) -> dict[str, str]:
        return {branch: self.head(branch) for branch in ("main", "ours", "theirs")}

    def _build(self) -> None:
        well(self.create(self.name, self.namespace))
        well(self.upload("main", "a", b"first"))
        well(self.commit("main"))
        for branch in ("ours", "theirs"):
            assert self.branch(branch, "main").status_code == 201
            well(self.upload(branch, branch[0], b"third"))
            well(self.commit(branch))
        well(self.upload("main", "b", b"second"))
        self._built = self._heads()


def run_verb(data_dir: Path, environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """A verb of the command that opens the server's stores itself."""
    return ended([*arguments, "--data-dir", str(data_dir)], clean_environment(**environment), PATIENCE)


def well(answer: httpx.Response) -> Any:
    """The body of an answer that is a success."""
    assert answer.is_success, answer.text
    return json.loads(answer.content)
