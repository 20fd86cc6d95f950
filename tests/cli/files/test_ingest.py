"""`lakebed ingest` against a real server: local sources, S3 end to end, --watch, and permissions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import lakebed
import pytest

from tests.cli.support import Command
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.s3 import S3Server, shared
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def feeding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that may read below `local://feed`."""
    with running_server(tmp_path_factory, environment={"LAKEBED_INGEST_ALLOW": "local://feed/, s3://other"}) as started:
        yield started


class Feed:
    """A directory that another tool writes to, and a repository that it is ingested into."""

    def __init__(self, server: RunningServer, command: Command, lake: lakebed.Lake) -> None:
        self.name = f"f{uuid4().hex[:16]}"
        self.directory = server.data_dir / "objects" / "feed" / self.name
        self.directory.mkdir(parents=True)
        self.uri = f"local://feed/{self.name}/"
        self.lakebed = command
        self.repo = lake.repository(self.name).create(f"local://{self.name}")
        self.main = self.repo.branch("main")
        self.place = f"{self.name}/main/events"

    def write(self, path: str, text: str) -> None:
        target = self.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def paths(self) -> list[str]:
        return [row.path for row in self.main.list()]


@pytest.fixture
def feed(feeding: RunningServer, tmp_path: Path) -> Iterator[Feed]:
    command = Command({**feeding.environment, "HOME": str(tmp_path)})
    with lakebed.connect(feeding.endpoint, feeding.access_key_id, feeding.secret_access_key) as lake:
        yield Feed(feeding, command, lake)


def test_diff_and_commit(feed: Feed) -> None:
    feed.write("a.json", "1")
    feed.write("2026/b.json", "22")
    options = ("--from", feed.uri, "--to", f"lakebed://{feed.place}")
    shown = feed.lakebed("ingest", "diff", *options)
    assert shown.text == "+ events/2026/b.json\n+ events/a.json\n"
    assert shown.err == "2 added, 0 changed, 0 removed, 0 unchanged\n"
    assert feed.paths() == []
    made = feed.lakebed("ingest", "commit", *options, "-m", "first", "--meta", "job=x", "--json").json
    assert (made["added"], made["listed"], made["commit"]["message"]) == (2, 2, "first")
    assert made["commit"]["metadata"] == {"job": "x"}
    assert feed.main.get("events/2026/b.json") == b"22"
    info = feed.main.stat("events/a.json")
    assert info.physical_address == f"{feed.uri}a.json"
    again = feed.lakebed("ingest", "commit", *options, "--json").json
    assert (again["commit"], again["unchanged"]) == (None, 2)
    assert feed.lakebed("ingest", "diff", *options, "--json").json == []
    feed.write("a.json", "111")
    (feed.directory / "2026/b.json").unlink()
    text = feed.lakebed("ingest", "commit", *options).text
    assert text.startswith("[main ")
    assert text.endswith("] 0 added, 1 changed, 1 removed, 0 unchanged\n")
    rows = feed.lakebed("ingest", "diff", "--from", feed.uri, "--to", f"{feed.name}/main~1/events", "--json").json
    assert [(row["type"], row["path"]) for row in rows] == [
        ("removed", "events/2026/b.json"),
        ("changed", "events/a.json"),
    ]


def test_dry_run_globs_and_removals(feed: Feed) -> None:
    feed.main.put("events/old.json", b"x")
    feed.main.commit("old")
    for name in ("a.json", "b.tmp", "_x/c.json"):
        feed.write(name, name)
    options = ("--from", feed.uri, "--to", feed.place, "--include", "*.json", "--exclude", "_x/")
    said = feed.lakebed("ingest", "commit", *options, "--dry-run").text
    assert said == "Would commit: 1 added, 0 changed, 1 removed, 0 unchanged, 2 ignored\n"
    assert feed.paths() == ["events/old.json"]
    feed.lakebed("ingest", "commit", *options, "--no-delete")
    assert feed.paths() == ["events/a.json", "events/old.json"]
    feed.lakebed("ingest", "commit", *options)
    assert feed.paths() == ["events/a.json"]
    waiting = feed.lakebed("ingest", "commit", "--from", feed.uri, "--to", feed.place, "--settle", "3600").text
    assert waiting.startswith("Nothing to commit: ")
    assert waiting.endswith(", 3 waiting\n")


def test_empty_source_is_refused_by_default(feed: Feed) -> None:
    feed.main.put("events/a", b"1")
    feed.main.commit("c")
    options = ("--from", feed.uri + "misspelt", "--to", feed.place)
    refused = feed.lakebed("ingest", "commit", *options, code=2)
    assert "--allow-empty-source" in refused.err
    assert "allow_empty_source" not in refused.err
    with pytest.raises(lakebed.InvalidRequestError, match="pass allow_empty_source=True") as caught:
        feed.main.ingest(feed.uri + "misspelt", "events")
    assert "--allow" not in caught.value.message
    shown = feed.lakebed("ingest", "diff", *options, code=2)
    assert shown.text == "- events/a\n"
    assert "misspelt holds no objects" in shown.err
    assert "--allow-empty-source" in shown.err
    assert len(feed.lakebed("ingest", "diff", *options, "--json", code=2).json) == 1
    assert feed.lakebed("ingest", "diff", *options, "--allow-empty-source").text == "- events/a\n"
    assert feed.paths() == ["events/a"]
    feed.lakebed("ingest", "commit", *options, "--allow-empty-source")
    assert feed.paths() == []


def test_ingest_without_permission_is_refused(feed: Feed) -> None:
    """6: the server reads only what its administrator allows; 2: what cannot be meant; 4: what others have staged."""
    for uri in ("local://secret/", "local://feeder/", "s3://secret/x/"):
        assert "ingest.allow" in feed.lakebed("ingest", "diff", "--from", uri, "--to", feed.place, code=6).err
    for uri in ("feed", "local://feed/../x", "http://x/"):
        feed.lakebed("ingest", "diff", "--from", uri, "--to", feed.place, code=2)
    feed.lakebed("ingest", "commit", "--from", feed.uri, "--to", f"{feed.name}/nowhere", code=3)
    feed.write("a", "1")
    feed.main.put("events/staged", b"1")
    options = ("--from", feed.uri, "--to", feed.place)
    error = feed.lakebed("ingest", "commit", *options, "--json", code=4).error
    assert (error["kind"], error["exit_code"]) == ("dirty_overlap", 4)
    feed.main.reset()
    feed.lakebed("ingest", "commit", *options)


def test_default_server_allows_no_ingest(server: RunningServer, repo: lakebed.Repository, tmp_path: Path) -> None:
    command = Command({**server.environment, "HOME": str(tmp_path)})
    error = command("ingest", "commit", "--from", "local://x/", "--to", f"{repo.id}/main", "--json", code=6).error
    assert error["kind"] == "permission_denied"
    assert "names nothing" in error["message"]


def test_invalid_ingest_rule_stops_the_server(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match=r"ingest\.allow, or stores\.\*\.ingest: 'bucket/' is not a URI prefix"),
        running_server(tmp_path / "data", environment={"LAKEBED_INGEST_ALLOW": "bucket"}),
    ):
        pass


def test_watch_commits_new_objects_and_ends_at_ctrl_c(feed: Feed) -> None:
    feed.write("1", "one")
    process = feed.lakebed.start(
        "ingest", "commit", "--from", feed.uri, "--to", feed.place, "--watch", "--interval", "0.1", "--settle", "0",
        "--json",
    )  # fmt: skip
    wait_for(lambda: feed.paths() == ["events/1"], process)
    feed.main.put("events/staged", b"x")  # `--watch` reports a refused pass, and the next pass tries again
    feed.write("2", "two")
    assert process.stderr is not None
    said = b""
    while b"the next pass tries again" not in said:
        said += (line := process.stderr.readline())
        assert line, said
    feed.main.reset()
    wait_for(lambda: feed.paths() == ["events/1", "events/2"], process)
    feed.write("3", "three")
    wait_for(lambda: feed.paths() == ["events/1", "events/2", "events/3"], process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert [json.loads(line)["added"] for line in out.splitlines()] == [1, 1, 1]
    assert err.endswith(b"stopped\n")
    assert len(list(feed.main.log())) == 1 + 3


def wait_for(done: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    def is_done() -> bool:
        assert process.poll() is None, process.communicate()
        return done()

    wait_until(is_done, "the watch did its work", every=0.05)


def test_lasting_errors_end_the_watch(feed: Feed) -> None:
    feed.write("a", "1")
    denied = feed.lakebed("ingest", "commit", "--from", "local://secret/", "--to", feed.place, "--watch", code=6)
    assert "local://secret/" in denied.err
    wrong = feed.lakebed("ingest", "commit", "--from", feed.uri, "--to", feed.place, "--watch", "--dry-run", code=2)
    assert "--dry-run" in wrong.err
    assert feed.paths() == []
    assert len(feed.main.log().all()) == 1


def test_through_the_sdk_in_pages(feed: Feed) -> None:
    for number in range(5):
        feed.write(f"{number}", str(number))
    seen: list[int] = []
    changes: list[str] = []
    report = feed.main.ingest(
        feed.uri, "events", dry_run=True, progress=lambda now: seen.append(now.listed),
        on_change=lambda change: changes.append(change.path),
    )  # fmt: skip
    assert (report.added, seen, len(changes), report.commit) == (5, [5], 5, None)
    assert feed.main.ingest(feed.uri, "events").commit is not None
    assert feed.main.ingest(feed.uri, "events").commit is None
    os.utime(feed.directory / "3", (1, 1))
    with pytest.raises(lakebed.errors.ObjectGoneError, match="has changed since it was ingested"):
        feed.main.get("events/3")
    assert feed.main.ingest(feed.uri, "events").changed == 1
    assert feed.main.get("events/3") == b"3"


# S3


@pytest.fixture(scope="module")
def bucket_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, S3Server]]:
    bucket = shared("seaweedfs")
    settings = {
        "LAKEBED_OBJECTS_S3_ENDPOINT": bucket.endpoint,
        "LAKEBED_OBJECTS_S3_REGION": "us-east-1",
        "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": bucket.access_key_id,
        "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
        "LAKEBED_INGEST_ALLOW": f"s3://{bucket.bucket}/feeds/",
    }
    with running_server(tmp_path_factory, environment=settings) as server:
        yield server, bucket


@pytest.mark.slow
def test_s3_end_to_end(bucket_server: tuple[RunningServer, S3Server], tmp_path: Path) -> None:
    """SeaweedFS lists in no byte order: `a!` after `a/b`. Multipart objects have an ETag that is no MD5."""
    server, bucket = bucket_server
    command = Command({**server.environment, "HOME": str(tmp_path)})
    boto, name = bucket.boto(), f"f{uuid4().hex[:16]}"
    top = f"feeds/{name}/"

    def keys() -> set[str]:
        pages = boto.get_paginator("list_objects_v2").paginate(Bucket=bucket.bucket)
        return {row["Key"] for page in pages for row in page.get("Contents", [])}

    def write(path: str, data: bytes) -> None:
        boto.put_object(Bucket=bucket.bucket, Key=top + path, Body=data)

    for path in ("a!", "a/b", "a0", "z/ü.json", "deep/er/x"):
        write(path, path.encode())
    large = b"x" * (6 << 20)
    upload = boto.create_multipart_upload(Bucket=bucket.bucket, Key=top + "large")["UploadId"]
    parts = [
        {
            "PartNumber": number,
            "ETag": boto.upload_part(
                Bucket=bucket.bucket, Key=top + "large", UploadId=upload, PartNumber=number, Body=large
            )["ETag"],
        }
        for number in (1, 2)
    ]
    boto.complete_multipart_upload(
        Bucket=bucket.bucket, Key=top + "large", UploadId=upload, MultipartUpload={"Parts": parts}
    )
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        repo = lake.repository(name).create(bucket.namespace())
        main = repo.branch("main")
        options = ("--from", f"s3://{bucket.bucket}/{top}", "--to", f"{name}/main/events")
        before = keys()
        first = command("ingest", "commit", *options, "--json").json
        assert (first["added"], first["commit"]["message"]) == (6, f"Ingest s3://{bucket.bucket}/{top}")
        assert [row.path for row in main.list()] == sorted(
            f"events/{path}" for path in ("a!", "a/b", "a0", "z/ü.json", "deep/er/x", "large")
        )
        assert main.get("events/z/ü.json") == "z/ü.json".encode()
        assert main.get("events/large") == large * 2
        added = keys() - before
        assert not [key for key in added if key.startswith(("feeds/", ".lakebed")) or "/data/" in key]
        after = keys()
        assert command("ingest", "commit", *options, "--json").json["commit"] is None
        assert keys() == after
        write("a0", b"changed")
        boto.delete_object(Bucket=bucket.bucket, Key=top + "a!")
        with pytest.raises(lakebed.errors.ObjectGoneError):
            main.get("events/a0")
        found = command("ingest", "diff", *options).text
        assert found == "- events/a!\n~ events/a0\n"
        command("ingest", "commit", *options)
        assert main.get("events/a0") == b"changed"
        assert command("ingest", "diff", *options).text == ""
        elsewhere = f"s3://{bucket.bucket}/other/"
        command("ingest", "diff", "--from", elsewhere, "--to", f"{name}/main", code=6)


def test_an_import(feed: Feed) -> None:
    for name in ("a.json", "b.json"):
        feed.write(name, name)
    place = f"{feed.name}/main"
    wanted = (f"{feed.uri}=in/", f"{feed.uri}a.json=one.json")
    begun = feed.lakebed("import", "start", place, *wanted, "-m", "taken over", "--no-wait", "--json").json["id"]
    made = feed.lakebed("import", "wait", place, begun, "--json").json
    assert (made["id"], made["commit"]["message"]) == (begun, "taken over")
    assert feed.paths() == ["in/a.json", "in/b.json", "one.json"]
    shown = feed.lakebed("import", "show", place, begun, "--json").json
    assert (shown["operation"], shown["objects"], shown["commit"]["id"]) == ("import", 3, made["commit"]["id"])
    assert feed.lakebed("import", "cancel", place, begun, code=4).err.startswith("lakebed: ")
    again = feed.lakebed("import", "start", place, wanted[0], "-m", "again").text
    assert again == f"Imported: {made['commit']['id']}\n"
    assert feed.lakebed("import", "start", place, f"{feed.uri}none=x", "-m", "x", code=3).err
    assert feed.lakebed("import", "start", place, "local://other/=x/", "-m", "x", code=6).err
