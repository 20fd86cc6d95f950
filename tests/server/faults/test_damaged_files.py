"""Damaged, cut and missing files of metadata, under a real server: an error that names the file, never wrong data."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.faults.scene import Scene, well
from tests.support.processes.server import running_server
from tests.support.seeds import seed_of_the_engine
from tests.support.sizes import sized

pytestmark = pytest.mark.slow

UNCACHED = {"LAKEBED_CACHE_MEMORY": "0"}
PATHS = [f"{folder}/{number:03}" for folder in ("p", "q") for number in range(60)]


class History(Scene):
    """The scene, with a longer list of objects, small changes to it, and uncommitted changes in a file."""

    base = top = ""
    files: tuple[Path, ...] = ()

    def fill(self) -> None:
        """Two more commits on `main`, and uncommitted changes in the KV store and in a layer's file."""
        for path in PATHS:
            well(self.upload("main", path, path.encode()))
        self.base = well(self.commit("main"))["id"]
        well(self.upload("main", "p/007", b"changed"))
        self.top = well(self.commit("main"))["id"]
        for path in ("u/1", "u/2", "v/1"):
            well(self.upload("main", path, b"u"))
        # resetting a prefix pushes a layer: the opposite of what is staged there
        answer = self.put("/branches/main", {"type": "common_prefix", "path": "u/"})
        assert answer.status_code == 204, answer.text
        self.files = tuple(sorted(folder_of(self).rglob("*.parquet")))

    def refs(self) -> list[str]:
        """`main` with its uncommitted changes, and every commit that was made of it."""
        return ["main", self.top, self.base, f"{self.base}~1", "ours", "theirs"]

    def put(self, path: str, body: dict[str, str]) -> httpx.Response:
        return self._http.put(f"{self._repo}{path}", json=body)

    def everything(self) -> dict[str, httpx.Response]:
        """The answers to all verbs that read."""
        listed = {ref: self.get(f"/refs/{ref}/objects/ls", amount="1000") for ref in self.refs()}
        diffs = {
            "theirs": self.get(f"/refs/theirs/diff/{self.top}", type="two_dot"),
            "top": self.get(f"/refs/{self.base}/diff/{self.top}"),
            "uncommitted": self.get("/branches/main/diff"),
        }
        stats = {path: self.get("/refs/main/objects/stat", path=path) for path in ("a", "p/007", "q/059", "u/1", "v/1")}
        return {**listed, **diffs, **stats}

    def write(self, branch: str) -> httpx.Response:
        """A commit on a new branch."""
        made = self.branch(branch, self.top)
        if made.is_success:
            well(self.upload(branch, "p/030", b"written"))
            return self.commit(branch)
        return made


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    with (
        running_server(tmp_path_factory, environment=UNCACHED) as server,
        History(server, "local://damaged", UNCACHED) as scene,
    ):
        scene.fill()
        yield scene


def folder_of(history: History) -> Path:
    return history.server.data_dir / "objects" / "damaged" / "_lakebed"


@contextmanager
def damaged(path: Path, data: bytes | None) -> Iterator[None]:
    """The file holds something else, or is gone."""
    kept = path.read_bytes()
    path.unlink()  # a new file: what a server has open stays whole
    if data is not None:
        path.write_bytes(data)
    try:
        yield
    finally:
        path.write_bytes(kept)


def _flip(data: bytes) -> bytes:
    at = random.Random(len(data)).randrange(len(data))
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "flip": _flip,
    "cut": lambda data: data[:-3],
    "half": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(len(data)),
    "missing": lambda data: None,
}


def bodies(answers: dict[str, httpx.Response]) -> dict[str, Any]:
    """What they say, where it is an answer to the question: 404 is one."""
    assert {answer.status_code for answer in answers.values()} <= {200, 404}
    return {verb: said(answer) for verb, answer in answers.items()}


def said(answer: httpx.Response) -> Any:
    body = answer.json()
    return body if answer.is_success else (answer.status_code, body["kind"])


def some_of(history: History, how: str) -> list[Path]:
    """Of the files of each kind that the tier draws, others for each damage; `make soak` takes all."""
    kinds: dict[str, list[Path]] = {}
    for path in history.files:
        kinds.setdefault(path.relative_to(folder_of(history)).parts[0], []).append(path)
    assert kinds.keys() >= {"ranges", "metaranges", "layers"}
    dice = random.Random(f"{how} {seed_of_the_engine()}")
    return [path for some in kinds.values() for path in dice.sample(some, sized(len(some)))]


@pytest.mark.parametrize("how", [*DAMAGE, "another"])
def test_damaged_metadata_is_reported_and_no_answer_is_wrong(history: History, how: str) -> None:
    """Metadata files that the server reads, of every kind."""
    truth = bodies(history.everything())
    files = history.files
    for number, path in enumerate(some_of(history, how)):
        key = path.relative_to(folder_of(history).parent).as_posix()
        others = [one for one in files if one.parent == path.parent and one != path]
        data = path.read_bytes()
        wrong = DAMAGE[how](data) if how in DAMAGE else others[0].read_bytes() if others else data + data
        with damaged(path, wrong):
            answers = history.everything()
            writing = history.write(f"{how}-{number}")
        failed = {verb for verb, answer in answers.items() if answer.status_code >= 500}
        assert failed, f"nobody read {key}"
        for verb, answer in answers.items():
            if verb in failed:
                assert_damage_is_reported(history, answer, key)
            else:
                assert said(answer) == truth[verb], f"{verb} gave wrong data"
        if writing.is_success:
            found = history.get(f"/refs/{writing.json()['id']}/objects/ls", amount="1000")
            assert [entry["path"] for entry in well(found)["results"]] == ["a", "b", *PATHS]
            assert history.read(writing.json()["id"], "p/030").content == b"written"
        else:
            assert_damage_is_reported(history, writing, key)
        assert bodies(history.everything()) == truth, "well again as soon as the file is"


def assert_damage_is_reported(history: History, answer: httpx.Response, key: str) -> None:
    """A typed error that names the file and the next step, and the same with the request's id in the log."""
    assert (answer.status_code, answer.json()["kind"]) == (500, "corrupt_data"), answer.text
    message = answer.json()["message"]
    assert f"stored data is damaged: local://damaged/{key}: " in message
    assert "restore that file from a backup" in message
    assert "/tmp" not in message
    request = answer.headers["x-request-id"]
    lines = [line for line in history.server.log.splitlines() if request in line]
    assert any(key in line for line in lines), f"{key} is not in {lines}"


def test_a_damaged_commit_file_is_found_by_fsck(history: History) -> None:
    """The server keeps commits in the KV store; their files are for a rebuild."""
    truth = bodies(history.everything())
    path = folder_of(history) / "commits" / f"{history.base}.json"
    for how, change in DAMAGE.items():
        with damaged(path, change(path.read_bytes())):
            assert bodies(history.everything()) == truth
            found = history.fsck()
            assert found.returncode == 1, found.stdout + found.stderr
            word = "missing" if how == "missing" else "corrupt"
            assert re.search(rf"^{word} commit.*{history.base}", found.stdout, re.MULTILINE), found.stdout
    history.passes_fsck()


def test_missing_or_truncated_data_is_never_a_full_response(history: History) -> None:
    """An object's own bytes: 410, or an interrupted transfer. Never a complete answer with fewer bytes."""
    entry = well(history.get("/refs/main/objects/stat", path="q/000"))
    path = folder_of(history).parent / entry["physical_address"].removeprefix("local://damaged/")
    with damaged(path, None):
        answer = history.read("main", "q/000")
        assert (answer.status_code, answer.json()["kind"]) == (410, "object_gone")
    with damaged(path, b"q"), pytest.raises(httpx.RemoteProtocolError):
        history.read("main", "q/000")
    assert history.read("main", "q/000").content == b"q/000"
