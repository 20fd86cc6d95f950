"""Ingest by tasks: the same commit as the server's own ingest, with any lister and after any failure."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
import lakebed
import pyarrow as pa
import pytest
from lakebed_spark import pipelines
from lakebed_spark.history.key_ranges import Span
from lakebed_spark.pipelines._sources import bucket as sources_bucket
from lakebed_spark.pipelines._sources.base import BATCH, Source
from lakebed_spark.pipelines._sources.bucket import CloudFolder
from lakebed_spark.pipelines._sources.directory import LocalFolder
from lakebed_spark.pipelines._sources.splits import spans_of
from pyspark.sql import SparkSession

from tests.spark.pipelining import Feed, feeds
from tests.support.processes.server import RunningServer, clean_environment, running_server
from tests.support.services.s3 import S3Server, shared


@pytest.fixture
def feed(server: RunningServer) -> Iterator[Feed]:
    yield from feeds(server)


@pytest.fixture(params=["here", "spark"])
def engine(request: pytest.FixtureRequest) -> SparkSession | None:
    """The engine of the tasks: threads of this process, or Spark."""
    return request.getfixturevalue("spark") if request.param == "spark" else None


def test_the_same_commit_as_the_servers_own_ingest(feed: Feed, engine: SparkSession | None) -> None:
    for number in range(40):
        feed.write(f"y={number % 3}/m={number % 4}/{number:03d}.json", "x" * number)
    for odd in ("a!", "a/b", "a0", "top.txt", "z/Ünï.txt", ".hidden", "y=0/_SUCCESS", "back\\slash"):
        feed.write(odd, odd)
    feed.write(".lakebed-tmp/mine", "no object")
    feed.main.put("events/gone.txt", b"gone")
    feed.main.put("events/a0", b"other content")
    feed.main.put("elsewhere", b"stays")
    feed.main.commit("before")
    other = feed.repo.branch("other").create("main")
    expected = other.ingest(feed.uri, "events")
    report = ingest(feed, engine)
    assert counts(report) == counts(expected) == (48, 47, 1, 1, 0)
    assert feed.entries("main") == feed.entries("other")
    assert feed.main.get("events/a0") == b"a0"
    head = feed.main.commit_info()
    assert report.commit == head
    assert (head.message, head.parents) == (f"Ingest {feed.uri}", (report.base_commit_id,))
    feed.write("a0", "changed")
    (feed.directory / "top.txt").unlink()
    assert counts(ingest(feed, engine, dry_run=True)) == counts(other.ingest(feed.uri, "events", dry_run=True))
    assert feed.main.commit_info() == head
    assert (counts(ingest(feed, engine)), counts(other.ingest(feed.uri, "events"))) == ((47, 0, 1, 1, 46),) * 2
    assert feed.entries("main") == feed.entries("other")
    again = ingest(feed, engine)
    assert (again.commit, again.unchanged) == (None, 47)
    assert [info.state for info in feed.repo.workspaces("all", branch="main")] == ["committed", "committed"]


def ingest(feed: Feed, engine: SparkSession | None, place: str = "events", **options: Any) -> lakebed.IngestReport:
    where = f"lakebed://{feed.repo.id}/main/{place}"
    return pipelines.ingest(where, feed.uri, spark=engine, lake=feed.lake, **options)


def counts(report: lakebed.IngestReport) -> tuple[int, int, int, int, int]:
    return report.listed, report.added, report.changed, report.removed, report.unchanged


def test_globs_settling_and_no_removals_are_the_servers(feed: Feed) -> None:
    for name in ("a.json", "b.tmp", "c/d.json", "c/e.tmp", "young.json"):
        feed.write(name, name)
        os.utime(feed.directory / name, (1_700_000_000, 1_700_000_000))
    os.utime(feed.directory / "young.json")
    feed.main.put("events/gone.json", b"")
    feed.main.put("events/young.json", b"older")
    feed.main.commit("before")
    other = feed.repo.branch("other").create("main")
    choices: tuple[dict[str, Any], ...] = (
        {"exclude": ["*.tmp"], "settle": 3600, "removals": False},
        {"include": ["c/"], "exclude": ["c/e*"]},
        {},
    )
    for options in choices:
        expected = other.ingest(feed.uri, "events", **options)
        report = ingest(feed, None, **options)
        assert (counts(report), report.waiting, report.ignored) == (
            counts(expected),
            expected.waiting,
            expected.ignored,
        )
        assert feed.entries("main") == feed.entries("other")


def test_a_large_span_is_divided_further(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    """No addition and no removal is lost where the span is divided."""
    from lakebed_spark.pipelines._sources import directory

    module = sys.modules["lakebed_spark.pipelines.ingest"]
    for number in range(90):
        feed.write(f"{number % 2}/part-{number:04d}", "x")
        feed.main.put(f"events/{number % 2}/part-{number:04d}.old", b"")
    feed.main.put("events/1/part-9999", b"")
    feed.main.commit("before")
    monkeypatch.setattr(directory.LocalFolder, "listed", _by_sevens(directory.LocalFolder.listed))
    seen: list[Span] = []
    look = module.look

    def looking(work: Any) -> Any:
        seen.append(work.span)
        return look(attrs.evolve(work, most=10))

    monkeypatch.setattr(module, "look", looking)
    report = ingest(feed, None)
    assert counts(report) == (90, 90, 0, 91, 0)
    assert len(feed.entries()) == 90
    assert len(seen) > 8
    assert all(span.high is None or span.low < span.high for span in seen)


def _by_sevens(listed: Any) -> Any:
    return lambda self, span, rows=BATCH: listed(self, span, min(rows, 7))


@attrs.frozen
class Stumbling(LocalFolder):
    """The first try of each task fails, in the midst of its listing."""

    marks: str = ""

    def listed(self, span: Span, rows: int = BATCH) -> Iterator[pa.Table]:
        if rows == BATCH:
            mark = Path(self.marks, (span.low or "first").replace("/", "_"))
            if not mark.exists():
                mark.touch()
                yield from (found.slice(0, 1) for found in super().listed(span, rows))
                raise OSError("the disk stumbles")
        yield from super().listed(span, rows)


def test_a_task_that_fails_once_doubles_nothing(feed: Feed, spark: SparkSession, tmp_path: Path) -> None:
    for number in range(30):
        feed.write(f"{number % 5}/{number}", "x" * number)
    source = Stumbling(feed.uri, f"{feed.directory}/", True, str(tmp_path))
    report = pipelines.ingest(feed.main, source, spark=spark)
    assert len(list(tmp_path.iterdir())) == 4
    assert counts(report) == (30, 30, 0, 0, 0)
    assert [row[0] for row in feed.entries()] == sorted(f"{number % 5}/{number}" for number in range(30))


def test_failed_ingest_leaves_the_branch_unchanged_and_no_workspace(feed: Feed) -> None:
    feed.write("a/one", "1")
    feed.write("b/two", "2")
    before = feed.main.commit_info()
    with pytest.raises(OSError, match="stumbles"):
        pipelines.ingest(feed.main, Stumbling(feed.uri, f"{feed.directory}/", True, str(feed.directory)))
    assert feed.main.commit_info() == before
    assert list(feed.repo.workspaces()) == []


def test_concurrent_commit_below_the_folder_is_a_conflict(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["lakebed_spark.pipelines.ingest"]
    everything = module._everything

    def slowly(*given: object) -> object:
        done = everything(*given)
        feed.main.put("events/mine", b"committed meanwhile")
        feed.main.commit("meanwhile")
        return done

    monkeypatch.setattr(module, "_everything", slowly)
    feed.write("a", "1")
    with pytest.raises(lakebed.ConcurrentCommitError):
        ingest(feed, None)
    assert [row[0] for row in feed.entries()] == ["events/mine"]
    assert list(feed.repo.workspaces()) == []


def test_invalid_ingest_arguments_are_refused(feed: Feed) -> None:
    feed.main.put("events/a", b"1")
    feed.main.commit("before")
    refused = [
        ("local://elsewhere/", lakebed.PermissionDeniedError, "ingest.allow"),
        ("/tmp/feed", lakebed.InvalidRequestError, "s3://bucket/folder/"),
        ("ftp://feed/", lakebed.InvalidRequestError, "write s3://BUCKET/FOLDER/"),
        (feed.uri, lakebed.InvalidRequestError, "holds no objects"),
    ]
    for source, kind, words in refused:
        with pytest.raises(kind, match=words):
            pipelines.ingest(f"lakebed://{feed.repo.id}/main/events", source, lake=feed.lake)
    feed.repo.tag("v1").create("main")
    with pytest.raises(lakebed.ReadOnlyRefError, match="is not a branch"):
        pipelines.ingest(f"lakebed://{feed.repo.id}/v1/events", feed.uri, lake=feed.lake)
    with pytest.raises(lakebed.NotFoundError):
        pipelines.ingest(f"lakebed://{feed.repo.id}/nope/events", feed.uri, lake=feed.lake)
    assert list(feed.repo.workspaces()) == []


def test_the_repositorys_own_folder_is_no_source(server: RunningServer, feed: Feed) -> None:
    inside = feed.lake.repository(f"{feed.repo.id}-in").create(f"{feed.uri}lake")
    feed.write("a", "1")
    with pytest.raises(lakebed.InvalidRequestError, match="it holds data of a repository"):
        pipelines.ingest(inside.branch("main"), feed.uri)


def test_without_pyspark_it_runs_in_plain_python(feed: Feed, server: RunningServer) -> None:
    feed.write("a", "1")
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from lakebed_spark import pipelines\n"
        f"print(pipelines.ingest('lakebed://{feed.repo.id}/main/e', {feed.uri!r}).added)"
    )
    environment = clean_environment(**server.environment)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.fixture(scope="module")
def bucket() -> S3Server:
    return shared("seaweedfs")


def test_a_bucket_is_listed_with_credentials_of_this_machine(
    bucket: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SeaweedFS lists in an order of its own: it is found out, and tasks sort what they list of its folders."""
    variables = {
        "AWS_ENDPOINT_URL": bucket.endpoint,
        "AWS_ACCESS_KEY_ID": bucket.access_key_id,
        "AWS_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    client, folder = bucket.boto(), f"in-{time.time_ns()}"
    for key in ("a!", "a/b", "a0", "x=1/p.json", "x=2/p.json", "ü"):
        client.put_object(Bucket=bucket.bucket, Key=f"{folder}/{key}", Body=key.encode())
    uri = f"s3://{bucket.bucket}/{folder}/"
    whole = [*_keys(CloudFolder(uri, divides=False), Span())]
    assert whole == sorted(whole)
    assert len(whole) == 6
    for most in (1, 1000):
        monkeypatch.setattr(sources_bucket, "_MOST_FOLDERS", most)
        spans = spans_of(CloudFolder(uri, divides=False), Span(), 4)
        assert len(spans) > 2
        for some in (spans, [Span("", "a/a"), Span("a/a", "a/c"), Span("a/c", "x=1/z"), Span("x=1/z")]):
            assert [key for span in some for key in _keys(CloudFolder(uri, divides=False), span)] == whole
    settings = {
        "LAKEBED_OBJECTS_S3_ENDPOINT": bucket.endpoint,
        "LAKEBED_OBJECTS_S3_REGION": "us-east-1",
        "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": bucket.access_key_id,
        "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
        "LAKEBED_INGEST_ALLOW": f"s3://{bucket.bucket}/",
    }
    with ExitStack() as stack:
        server = stack.enter_context(running_server(tmp_path / "data", environment=settings))
        lake = stack.enter_context(lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key))
        repo = lake.repository("cloudy").create("local://cloudy")
        expected = repo.branch("other").create("main").ingest(uri, "t")
        for ordered in (None, True):
            name = f"b{ordered}"
            branch = repo.branch(name).create("main")
            report = pipelines.ingest(f"lakebed://cloudy/{name}/t", uri, lake=lake, ordered=ordered)
            assert counts(report) == counts(expected) == (6, 6, 0, 0, 0)
            assert list(branch.list()) == list(repo.ref("other").list())
            assert branch.get("t/a!") == b"a!"
        assert list(repo.workspaces()) == []


def _keys(source: Source, span: Span) -> list[str]:
    return [str(key) for rows in source.listed(span, 2) for key in rows["key"].to_pylist()]


def test_spans_cover_every_key_once(tmp_path: Path) -> None:
    for number in range(60):
        target = tmp_path / f"{number % 3}" / f"deep/{number % 2}" / f"part-{number:04d}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    source = LocalFolder("local://x/", f"{tmp_path}/")
    whole = [key for rows in source.listed(Span()) for key in rows["key"].to_pylist()]
    assert whole == sorted(whole)
    assert len(whole) == 60
    for count in (1, 2, 3, 7, 30):
        for within in (Span(), Span("1/deep/0/part-0009", "2/deep/1/part-0051"), Span("0/deep/0/", "0/deep/00")):
            spans = spans_of(source, within, count)
            assert len(spans) <= count
            assert (spans[0].low, spans[-1].high) == (within.low, within.high)
            assert all(one.high == other.low for one, other in itertools.pairwise(spans))
            found = [key for span in spans for rows in source.listed(span) for key in rows["key"].to_pylist()]
            assert found == [key for key in whole if within.holds(key, key)]
    flat = spans_of(LocalFolder("local://x/", f"{tmp_path}/0/deep/0/"), Span(), 4)
    assert len(flat) > 1
