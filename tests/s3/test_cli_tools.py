"""Command lines: aws-cli, s3cmd and rclone, each as its users type it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import lakebed
import pytest

from tests.s3.target import Target

LARGE = os.urandom(20 << 20)
FILES = {"a.csv": b"1", "folder/ü b+c.txt": b"2", "folder/deep/large.bin": LARGE, "empty": b""}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A small tree to be sent, one file of several parts."""
    root = tmp_path / "tree"
    for name, body in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(body)
    return root


def tree(root: Path) -> dict[str, bytes]:
    """What a folder holds."""
    return {str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*") if one.is_file()}


def on_branch(repo: lakebed.Repository, below: str) -> dict[str, bytes]:
    """What a branch holds, by REST."""
    main = repo.branch("main")
    return {one.path.removeprefix(below): main.get(one.path) for one in main.list(below)}


def test_aws_cli(
    target: Target, repo: lakebed.Repository, files: Path, tmp_path: Path, tool: Callable[[str], Path]
) -> None:
    def aws(*words: object) -> str:
        return target.run(tool("aws"), "s3", *words)

    assert repo.id in aws("ls")
    aws("sync", "--only-show-errors", files, target.url("t"))
    assert on_branch(repo, "t/") == FILES
    listed = aws("ls", "--recursive", "--summarize", target.url("t/"))
    assert "Total Objects: 4" in listed
    assert str(len(LARGE)) in listed
    assert "PRE folder/" in aws("ls", target.url("t/"))
    aws("sync", "--only-show-errors", target.url("t"), tmp_path / "back")
    assert tree(tmp_path / "back") == FILES
    assert aws("sync", target.url("t"), tmp_path / "back") == ""  # nothing has changed
    aws("mv", "--only-show-errors", target.url("t/a.csv"), target.url("t/moved.csv"))
    aws("cp", "--only-show-errors", target.url("t/folder/deep/large.bin"), target.url("t/copy.bin"))
    assert aws("cp", target.url("t/moved.csv"), "-") == "1"
    aws("rm", "--only-show-errors", "--recursive", target.url("t/folder"))
    assert on_branch(repo, "t/") == {"moved.csv": b"1", "copy.bin": LARGE, "empty": b""}
    with urlopen(aws("presign", target.url("t/moved.csv")).strip()) as answer:
        assert answer.read() == b"1"
    assert "NoSuchKey" in target.run(
        tool("aws"), "s3api", "get-object", "--bucket", target.bucket, "--key", target.key("no"), "/dev/null", code=255
    )


@pytest.mark.parametrize("signature", ["v4", "v2"])
def test_s3cmd(
    target: Target, repo: lakebed.Repository, files: Path, tmp_path: Path, tool: Callable[[str], Path], signature: str
) -> None:
    config = tmp_path / "s3cfg"
    config.write_text(
        f"[default]\naccess_key = {target.access_key_id}\nsecret_key = {target.secret_access_key}\n"
        f"host_base = {target.address}\nhost_bucket = {target.address}\nuse_https = False\n"
        f"signature_v2 = {signature == 'v2'}\nmultipart_chunk_size_mb = 8\n"
    )

    def s3cmd(*words: object) -> str:
        return target.run(tool("s3cmd"), "--no-progress", "-c", config, *words)

    s3cmd("sync", f"{files}/", target.url("t/"))
    assert on_branch(repo, "t/") == FILES
    assert target.url("t/folder/deep/large.bin") in s3cmd("ls", "--recursive", target.url("t/"))
    s3cmd("sync", target.url("t/"), f"{tmp_path / 'back'}/")
    assert tree(tmp_path / "back") == FILES
    s3cmd("cp", target.url("t/a.csv"), target.url("t/copy.csv"))
    s3cmd("mv", target.url("t/a.csv"), target.url("t/moved.csv"))
    assert "MD5 sum" in s3cmd("info", target.url("t/moved.csv"))
    s3cmd("del", "--recursive", target.url("t/folder/"))
    assert on_branch(repo, "t/") == {"moved.csv": b"1", "copy.csv": b"1", "empty": b""}


def test_rclone(
    target: Target, repo: lakebed.Repository, files: Path, tmp_path: Path, tool: Callable[[str], Path]
) -> None:
    remote = {
        "TYPE": "s3",
        "PROVIDER": "Other",
        "ENDPOINT": target.endpoint,
        "ACCESS_KEY_ID": target.access_key_id,
        "SECRET_ACCESS_KEY": target.secret_access_key,
        "FORCE_PATH_STYLE": "true",
        "CHUNK_SIZE": "8Mi",
        "UPLOAD_CUTOFF": "8Mi",
    }
    variables = {f"RCLONE_CONFIG_LAKE_{name}": value for name, value in remote.items()}
    variables |= {"RCLONE_CONFIG": str(tmp_path / "none.conf"), "HOME": str(tmp_path)}
    place = f"lake:{target.bucket}/{target.prefix}t"

    def rclone(*words: object) -> str:
        return target.run(tool("rclone"), *words, variables=variables)

    rclone("sync", files, place)
    assert on_branch(repo, "t/") == FILES
    rclone("check", files, place)  # sizes and, where S3 returns them, MD5
    assert sorted(rclone("lsf", "--recursive", "--files-only", place).split("\n")) == sorted(["", *FILES])
    rclone("copy", place, tmp_path / "back")
    assert tree(tmp_path / "back") == FILES
    (files / "a.csv").unlink()
    rclone("sync", files, place)
    rclone("moveto", f"{place}/empty", f"{place}/moved")
    rclone("purge", f"{place}/folder")
    assert on_branch(repo, "t/") == {"moved": b""}
    assert rclone("cat", f"{place}/moved") == ""
    target.run(tool("rclone"), "rcat", f"{place}/streamed", typed="of no known length", variables=variables)
    assert rclone("cat", f"{place}/streamed") == "of no known length"
    assert urlsplit(rclone("link", f"{place}/streamed").strip()).netloc == target.address
