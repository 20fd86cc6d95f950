"""`lakebed migrate dvc`: repositories that the real DVC and Git made. Their own checkouts say what is right."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import lakebed
import pytest
from moto.server import ThreadedMotoServer

from tests.recipes.programs import Programs, programs
from tests.support.processes.server import RunningServer

MARK = "git.commit"
PIPELINE = """
stages:
  train:
    wdir: model
    cmd: python ../train.py
    deps: [../train.py]
    outs: [weights.bin]
    metrics: [{score.json: {cache: false}}]
"""
TRAIN = """
import pathlib
pathlib.Path("weights.bin").write_bytes(bytes(3000) + b"{0}")
pathlib.Path("score.json").write_text('{{"score": {0}}}')
"""


@pytest.fixture(scope="module")
def filled(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DVC repository, made once: each run of DVC takes a second."""
    made = _programs(server, tmp_path_factory.mktemp("filled"))
    fill(made)
    return made.folder


@pytest.fixture
def on(server: RunningServer, filled: Path, tmp_path: Path) -> Programs:
    """Programs in a copy of it."""
    shutil.copytree(filled, tmp_path / "project", symlinks=True)
    return _programs(server, tmp_path)


@pytest.fixture
def empty(server: RunningServer, tmp_path: Path) -> Programs:
    """Programs in an empty directory."""
    return _programs(server, tmp_path)


def _programs(server: RunningServer, home: Path) -> Programs:
    ana = {"GIT_AUTHOR_NAME": "Ana", "GIT_AUTHOR_EMAIL": "ana@example.com"}
    ben = {"GIT_COMMITTER_NAME": "Ben", "GIT_COMMITTER_EMAIL": "ben@example.com"}
    return programs(home, home / "project", server, **ana, **ben)


@pytest.fixture
def name() -> str:
    return f"dvc-{uuid4().hex[:12]}"


@pytest.fixture
def copy(lake: lakebed.Lake, name: str) -> lakebed.Repository:
    return lake.repository(name)


def commit(on: Programs, message: str, at: int) -> str:
    on("git", "add", "-A")
    on("git", "commit", "-qm", message, GIT_AUTHOR_DATE=f"{at} +0200")
    return on("git", "rev-parse", "HEAD").strip()


def fill(on: Programs) -> None:
    """A file, a directory, a pipeline with a metric in Git, a merge, commits of code only, and two kinds of tags."""
    top = on.folder
    on.shell("git init -qb main && dvc init -q && dvc config core.autostage true")
    on(
        "dvc", "remote", "add", "-q", "-d", "storage", str(on.home / "remote")
    )  # DVC 3.67 takes ../remote for /remote at older commits
    commit(on, "set up dvc", 1_600_000_000)
    (top / "readme.txt").write_text("no data")
    (top / "data").mkdir()
    (top / "data/ünï code.csv").write_bytes(b"id\r\n1\r\n")
    (top / "images/deep").mkdir(parents=True)
    for number in range(5):
        (top / f"images/deep/{number}.png").write_bytes(bytes([number]) * 1000)
    on("dvc", "add", "-q", "data/ünï code.csv", "images")
    commit(on, "add data\n\nwith a body: ä", 1_600_000_100)
    on("git", "tag", "v1")
    (top / "train.py").write_text(TRAIN.format(1))
    (top / "model").mkdir()
    (top / "dvc.yaml").write_text(PIPELINE)
    commit(on, "code only", 1_600_000_200)
    on("git", "checkout", "-qb", "feature/more")
    (top / "images/deep/5.png").write_bytes(b"five")
    (top / "images/deep/0.png").unlink()
    on("dvc", "add", "-q", "images")
    commit(on, "other images", 1_600_000_300)
    on("git", "checkout", "-q", "main")
    on("dvc", "checkout", "-q", "images.dvc")
    on("dvc", "repro", "-q")
    commit(on, "train", 1_600_000_400)
    on("git", "merge", "-q", "--no-ff", "feature/more", "-m", "merge images", GIT_AUTHOR_DATE="1600000500 +0000")
    on("git", "tag", "-a", "release/2", "-m", "annotated", GIT_COMMITTER_DATE="1600000600 +0000")
    on("dvc", "remove", "-q", "data/ünï code.csv.dvc")
    (top / "train.py").write_text(TRAIN.format(22))
    on("dvc", "repro", "-q")
    commit(on, "train again, without the csv", 1_600_000_700)


def migrate(on: Programs, name: str, *more: str, code: int = 0) -> Any:
    said = on("lakebed", "--json", "migrate", "dvc", ".", name, "--namespace", f"local://{name}", *more, code=code)
    return json.loads(said) if code == 0 else json.loads(said)["error"]


def checked_out(on: Programs, revisions: Iterable[str]) -> dict[str, dict[str, str]]:
    """The MD5 of the tracked files of commits, by Git's and DVC's own checkout."""
    script = Path(__file__).with_name("dvc_checkouts.py")
    return json.loads(on("python", str(script), *revisions).splitlines()[-1])  # type: ignore[no-any-return]


def assert_same(on: Programs, copy: lakebed.Repository) -> None:
    """Every migrated commit has the files of its Git commit, and every ref leads to one with the present files."""
    seen: dict[str, lakebed.Commit] = {}
    refs = {f"refs/heads/{one.id}": one.commit_id for one in copy.branches()}
    refs |= {f"refs/tags/{one.id}": one.commit_id for one in copy.tags()}
    for head in refs.values():
        seen |= {one.id: one for one in copy.ref(head).log()}
    names = on("git", "for-each-ref", "--format=%(refname)").splitlines()
    wanted = checked_out(on, [*(one.metadata[MARK] for one in seen.values()), *names])
    for one in seen.values():
        own = one.metadata[MARK]
        said = on("git", "show", "-s", "--format=%an <%ae>%x00%at%x00%B", own).split("\0")
        assert (one.committer, str(int(one.created.timestamp())), one.message) == (
            said[0],
            said[1],
            said[2].rstrip("\n"),
        )
        assert one.metadata["git.committer"] == "Ben <ben@example.com>"
        assert md5s(copy, one.id) == wanted[own]
    for ref in names:
        renamed = "/".join([*ref.split("/", 2)[:2], ref.split("/", 2)[2].replace("/", "-")])
        assert md5s(copy, refs[renamed]) == wanted[ref], ref
    on("git", "checkout", "-qf", "main")


def md5s(copy: lakebed.Repository, ref: str) -> dict[str, str]:
    return {path: hashlib.md5(content).hexdigest() for path, content in contents(copy, ref).items()}


def contents(copy: lakebed.Repository, ref: str) -> dict[str, bytes]:
    return {one.path: copy.ref(ref).get(one.path) for one in copy.ref(ref).list()}


def test_commits_tags_files_and_directories(on: Programs, name: str, copy: lakebed.Repository) -> None:
    report = migrate(on, name)
    assert_same(on, copy)
    assert report["left_out"] == []
    assert report["renamed"] == {"branch feature/more": "feature-more", "tag release/2": "release-2"}
    assert report["commits"] == 5  # `set up dvc` and `code only` change no tracked file
    merge = next(one for one in copy.ref("main").log() if one.message == "merge images")
    assert [copy.commit(parent).message for parent in merge.parents] == ["train", "other images"]
    again = migrate(on, name)
    assert (again["commits"], again["objects"], again["branches"]) == (0, 0, report["branches"])


def test_new_commits_and_uncommitted_changes(on: Programs, name: str, copy: lakebed.Repository) -> None:
    migrate(on, name)
    (on.folder / "images/deep/9.png").write_bytes(b"nine")
    on("dvc", "add", "-q", "images")
    commit(on, "nine", 1_600_001_000)
    (on.folder / "images/deep/10.png").write_bytes(b"ten")
    on("dvc", "add", "-q", "images")
    report = migrate(on, name)
    assert (report["commits"], report["objects"]) == (1, 1)
    assert [(one["kind"], one["name"]) for one in report["left_out"]] == [("uncommitted", "images.dvc")]
    on("git", "checkout", "-qf", "HEAD")
    assert_same(on, copy)


@pytest.fixture
def bucket() -> Iterator[str]:
    """The address of an S3 server with the bucket `lake`."""
    started = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        started.stop()


@pytest.mark.parametrize("kind", ["local", pytest.param("s3", marks=pytest.mark.soak)])
def test_a_remote_has_what_the_cache_has_not(
    on: Programs, name: str, copy: lakebed.Repository, kind: str, bucket: str, tmp_path: Path
) -> None:
    if kind == "s3":
        make = f"import boto3; boto3.client('s3', endpoint_url='{bucket}').create_bucket(Bucket='lake')"
        key = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "test")
        on(
            "env",
            *(f"{name}={value}" for name, value in key.items()),
            "AWS_DEFAULT_REGION=us-east-1",
            "python",
            "-c",
            make,
        )
        # of the user, because DVC reads the other configurations as they were at each commit
        on.shell(
            f"""dvc remote add -q --global bucket s3://lake/dvc
            dvc remote modify -q --global bucket endpointurl {bucket}
            dvc remote modify -q --global bucket access_key_id test
            dvc remote modify -q --global bucket secret_access_key test"""
        )
    remote = "bucket" if kind == "s3" else "storage"
    on("dvc", "push", "-q", "--all-commits", "-r", remote)
    cache = on.folder / ".dvc/cache"
    shutil.move(cache, tmp_path / "kept")
    report = migrate(on, name, *(["--remote", remote] if kind == "s3" else []))
    assert report["left_out"] == []
    shutil.rmtree(cache, ignore_errors=True)
    shutil.move(tmp_path / "kept", cache)
    assert_same(on, copy)


def test_missing_and_damaged_content(on: Programs, name: str, copy: lakebed.Repository) -> None:
    (on.folder / ".dvc/config").write_text("")  # without the remote, to which another test may have pushed
    weights = next(
        file for file in (on.folder / ".dvc/cache").rglob("*") if file.is_file() and file.stat().st_size == 3001
    )
    content = weights.read_bytes()
    weights.chmod(0o644)
    weights.write_bytes(bytes(3001))
    assert "MD5" in migrate(on, name, code=1)["message"]
    weights.unlink()
    error = migrate(on, name, code=3)
    assert "model/weights.bin" in error["message"]
    assert "dvc fetch --all-commits" in error["message"]
    report = migrate(on, name, "--skip-missing")
    assert [one["name"] for one in report["left_out"]] == ["model/weights.bin"]
    assert not copy.ref("release-2").exists("model/weights.bin")
    assert copy.ref("main").exists("model/weights.bin")
    assert len(content) == 3001


def test_a_cache_of_dvc_2(empty: Programs, name: str, copy: lakebed.Repository) -> None:
    """Without `hash: md5`, the MD5 of a text is that of its lines with LF, and the files are one level higher."""
    empty.shell("git init -qb main && dvc init -q")
    text = b"id\r\n1\r\n"
    md5 = hashlib.md5(text.replace(b"\r\n", b"\n")).hexdigest()
    place = empty.folder / ".dvc/cache" / md5[:2] / md5[2:]
    place.parent.mkdir(parents=True)
    place.write_bytes(text)
    (empty.folder / "text.csv.dvc").write_text(f"outs:\n- md5: {md5}\n  size: {len(text)}\n  path: text.csv\n")
    (empty.folder / "text.csv").write_bytes(text)
    (empty.folder / ".gitignore").write_text("/text.csv\n")
    commit(empty, "as DVC 2 wrote it", 1_600_000_000)
    assert empty("dvc", "status").strip() == "Data and pipelines are up to date."
    report = migrate(empty, name)
    assert (report["objects"], report["read_twice"]) == (1, 1)
    assert contents(copy, "main") == {"text.csv": text}


def test_what_is_no_dvc_repository_is_refused(empty: Programs, name: str) -> None:
    assert "no directory .dvc" in migrate(empty, name, code=2)["message"]
    (empty.folder / ".dvc").mkdir()
    assert "git" in migrate(empty, name, code=2)["message"]
