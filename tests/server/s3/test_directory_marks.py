"""Directory marks that S3 tools write: objects until a commit, which leaves them out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lakebed_engine.vocabulary.errors import NoChangesError
from lakebed_engine.vocabulary.requests import AdvanceRequest, CommitRequest, WorkspaceRequest

from tests.server.s3.gatewaying import Bucket

MARK = "application/x-directory"


@pytest.fixture
def keeping() -> Iterator[Bucket]:
    """A gateway whose commits keep directory marks."""
    made = Bucket(directory_marks=True)
    yield made
    made.close()


def commit(bucket: Bucket) -> None:
    bucket.run(bucket.engine.commits.create("lake", "main", CommitRequest(committer="me", message="marks")))


def fill(bucket: Bucket) -> None:
    bucket.put("main/orders/", b"", content_type=MARK)
    bucket.put("main/orders/1/", b"", content_type=f"{MARK}; charset=UTF-8")
    bucket.put("main/orders/1/a.parquet", b"1")
    bucket.put("main/filled/", b"1", content_type=MARK)
    bucket.put("main/typed/", b"", content_type="text/plain")
    bucket.put("main/x-directory", b"", content_type=MARK)


KEPT = ["filled/", "orders/1/a.parquet", "typed/", "x-directory"]


def test_a_commit_leaves_directory_marks_out(bucket: Bucket) -> None:
    fill(bucket)
    assert bucket.paths() == sorted([*KEPT, "orders/", "orders/1/"])
    assert bucket("HEAD", "/lake/main/orders/").status == 200
    commit(bucket)
    assert bucket.paths("main@") == bucket.paths() == KEPT
    assert bucket("HEAD", "/lake/main/orders/").status == 404


def test_the_setting_keeps_them(keeping: Bucket) -> None:
    fill(keeping)
    commit(keeping)
    assert keeping.paths("main@") == sorted([*KEPT, "orders/", "orders/1/"])


def test_marks_alone_are_no_change(bucket: Bucket) -> None:
    bucket.put("main/orders/", b"", content_type=MARK)
    with pytest.raises(NoChangesError, match="without directory marks"):
        commit(bucket)
    assert bucket.paths() == []


def test_a_mark_of_an_older_commit_can_be_deleted(keeping: Bucket) -> None:
    keeping.put("main/orders/", b"", content_type=MARK)
    commit(keeping)
    object.__setattr__(keeping.engine.context, "directory_marks", False)
    keeping.put("main/orders/", b"", content_type=MARK, x_amz_meta_by="again")
    keeping.put("main/x", b"1")
    commit(keeping)
    assert keeping.paths("main@") == ["orders/", "x"]
    assert keeping("DELETE", "/lake/main/orders/").status == 204
    commit(keeping)
    assert keeping.paths("main@") == ["x"]


def test_a_commit_of_a_workspace_leaves_them_out(bucket: Bucket) -> None:
    opened = bucket.run(bucket.engine.workspaces.create("lake", WorkspaceRequest(ref="main", creator="me")))
    ref = f"main+{opened.uid}"
    bucket.put(f"{ref}/orders/", b"", content_type=MARK)
    bucket.put(f"{ref}/orders/a.parquet", b"1")
    assert bucket.paths(ref) == ["orders/", "orders/a.parquet"]
    bucket.run(bucket.engine.workspaces.commit("lake", opened.uid, AdvanceRequest(committer="me", message="files")))
    assert bucket.paths("main@") == ["orders/a.parquet"]
