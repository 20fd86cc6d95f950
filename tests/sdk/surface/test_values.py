"""Small pure things: checks before sending, URIs, and the drawn graph."""

from __future__ import annotations

import base64
import pickle
import zlib
from datetime import UTC, datetime

import lakebed
import pytest
from lakebed import _checks, model
from lakebed._values import graph
from lakebed.model import Commit, RefInfo

LAKE = lakebed.connect("https://h", "k", "s")
REPO = LAKE.repository("repo")


@pytest.mark.parametrize("path", ["", "x" * 1025, "é" * 513, "a\ud800"])
def test_invalid_paths_are_refused(path: str) -> None:
    with pytest.raises(lakebed.InvalidRequestError):
        REPO.branch("main").put(path, b"")
    with pytest.raises(lakebed.InvalidRequestError):
        REPO.branch("main").get(path)


@pytest.mark.parametrize("path", ["a//b", "/a", "..", ".", "😀", "x" * 1024, " ", "a\nb", "\x00"])
def test_valid_paths_are_accepted(path: str) -> None:
    assert _checks.check_path(path) == path


@pytest.mark.parametrize("name", ["", ".", "..", "\udc00"])
def test_names_that_must_not_reach_a_url(name: str) -> None:
    for make in (lambda: LAKE.repository(name), lambda: REPO.branch(name), lambda: REPO.tag(name)):
        with pytest.raises(lakebed.InvalidRequestError):
            make()
    with pytest.raises(lakebed.InvalidRequestError):
        REPO.branch("main").diff(name)
    with pytest.raises(lakebed.InvalidRequestError):
        REPO.commit(name)


def test_times_get_a_zone() -> None:
    assert _checks.aware(datetime(2026, 1, 2)).tzinfo is UTC
    assert _checks.unix_seconds(datetime(1970, 1, 1, 0, 1, tzinfo=UTC)) == 60
    assert _checks.unix_seconds(7) == 7


@pytest.mark.parametrize(
    ("uri", "location"),
    [
        ("lakebed://repo", ("repo", "", "")),
        ("lakebed://repo/main", ("repo", "main", "")),
        ("lakebed://repo/main~1/a//b/c", ("repo", "main~1", "a//b/c")),
        ("lakefs://repo/main/", ("repo", "main", "")),
        ("lakebed://repo/main//a", ("repo", "main", "/a")),
        ("lakebed://repo/main/a%2Fb", ("repo", "main", "a%2Fb")),
    ],
)
def test_uris(uri: str, location: tuple[str, str, str]) -> None:
    found = lakebed.parse_uri(uri)
    assert (found.repository, found.ref, found.path) == location
    assert lakebed.parse_uri(str(found)) == found


@pytest.mark.parametrize("uri", ["repo/main", "s3://repo/main", "lakebed://", "lakebed:///main/x", "lakebed://repo//x"])
def test_invalid_uris_are_refused(uri: str) -> None:
    with pytest.raises(lakebed.InvalidRequestError):
        lakebed.parse_uri(uri)


def commit(id: str, *parents: str, at: int = 0) -> Commit:
    return Commit(id * 12, tuple(p * 12 for p in parents), f"message {id}", "me", datetime.fromtimestamp(at, UTC))


def drawn(*commits: Commit, branches: dict[str, str] | None = None) -> list[str]:
    heads = [RefInfo(name, id * 12) for name, id in (branches or {}).items()]
    return [line.replace("message ", "") for line in graph.draw(commits, heads, [], 50).splitlines()]


def test_a_linear_history_is_one_column() -> None:
    assert drawn(commit("b", "a", at=2), commit("a", at=1), branches={"main": "b"}) == [
        "* bbbbbbbbbbbb  (main) b",
        "* aaaaaaaaaaaa  a",
    ]


def test_a_merge() -> None:
    commits = [commit("d", "b", "c", at=4), commit("c", "a", at=3), commit("b", "a", at=2), commit("a", at=1)]
    assert drawn(*commits, branches={"main": "d", "dev": "c"}) == [
        "* dddddddddddd  (main) d",
        "|\\",
        "| * cccccccccccc  (dev) c",
        "* | bbbbbbbbbbbb  b",
        "|/",
        "* aaaaaaaaaaaa  a",
    ]


def test_three_children_of_one_commit() -> None:
    commits = [commit("d", "a", at=4), commit("c", "a", at=3), commit("b", "a", at=2), commit("a", at=1)]
    assert drawn(*commits) == [
        "* dddddddddddd  d",
        "| * cccccccccccc  c",
        "|/",
        "| * bbbbbbbbbbbb  b",
        "|/",
        "* aaaaaaaaaaaa  a",
    ]


def test_graph_draws_parallel_lines() -> None:
    commits = [
        commit("f", "d", "e", at=6),
        commit("e", "b", at=5),
        commit("d", "c", at=4),
        commit("c", "a", at=3),
        commit("b", "a", at=2),
        commit("a", at=1),
        commit("z", "c", at=7),
    ]
    assert drawn(*commits) == [
        "* zzzzzzzzzzzz  z",
        "| * ffffffffffff  f",
        "| |\\",
        "| | * eeeeeeeeeeee  e",
        "| * | dddddddddddd  d",
        "|/ /",
        "* | cccccccccccc  c",
        "| * bbbbbbbbbbbb  b",
        "|/",
        "* aaaaaaaaaaaa  a",
    ]


def test_children_come_first_whatever_the_clocks_say() -> None:
    order = graph.in_order([commit("a", at=9), commit("b", "a", at=1), commit("c", "b", at=5), commit("b", "a", at=1)])
    assert [c.id[0] for c in order] == ["c", "b", "a"]


_BEFORE_THE_MOVE = (
    "eNpVUr1u2zAQthRVjuwG6JihQ8Z4saMsBbql6VIoDQI7Qpd2YKizKZgSBZGO6wIFkiFtBm65vEofqk/Ro2TEqggC/Lnv78S74PmP32u+b3hsDy"
    "Rbwg1k40JlINGG56oocoNPOLpHV+DzGK1fxfiANpCKZWj3WMnQ7mfMgMkL6C6f8HzQ/zt82wqgGNp9d/5Dle6OtpHbkpJhtE96bvzGKZFP8RfN"
    "n2i9Jc1b1Ilv/cJpqxjhRnj2TWttZpjJtcm5fjEpQtFPvIYtSnqPTfXwM9QLmIJeyZc0ImTuKkzLrDW0hQc2rOEWakNq/LRVi844B60T2Ox6EV"
    "wkHz6iOLSULL68JLMhzOfACfeKSanWqB9a9OtrKCpVs3rTJRAnhPU05TPbsgu1yMsZ6eSq7PRcx6RCtYHKM442ik/fjU9oUDsCvqpliz74ouql"
    "rhiHT+VcdeBrqvPWVFuwvKTUxFMBLQYNqV9NyD4FGI0amsGMs/L/Rh1vu+m5RrbX85Vmcqfh0QsI2ZHMyyWZ2aaO0sq9kLTeFYrU9gso3k8mBN"
    "i7Sq8pjTCm0s2J+93faW5Qi8M2E/3eBWRnWVZTVzo04is5ppc6/geIiwNr"
)
"""A pickle of all values below, when `lakebed.model` defined their classes."""


def test_a_pickle_of_an_earlier_version_can_be_read() -> None:
    moment = datetime(2026, 11, 28, tzinfo=UTC)
    commit = model.Commit("c1", ("p1",), "load", "ana", moment, {"k": "v"}, 2, "m1", "o1")
    assert pickle.loads(zlib.decompress(base64.b64decode(_BEFORE_THE_MOVE))) == [
        commit,
        model.CommitStatistics("c1", "p1", 1, 0, 0, 9, 0, True),
        model.MergeResult("c1"),
        model.Undone(commit, "revert", "c2"),
        model.AccessKey("LKBD", moment, policy=({"effect": "allow"},)),
        model.TemporaryKey("LKBD", moment, "s", "t"),
        model.LoginSession("s1", moment, moment, "oidc", "127.0.0.1", "curl"),
        model.WorkspaceInfo("w1", "w", "main", "c1", "open", "ana", moment, moment, "p/"),
        model.ScanResult(1, 0, 0, 1, (model.ScanRefusal("a", "a link"),)),
        model.UploadUrl("a", "mem://a", "PUT", "https://a", {"x": "y"}, moment),
        model.StagedAddress("a", "mem://a"),
    ]
