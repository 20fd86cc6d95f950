"""Entity tags and compression of JSON answers."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from tests.server.lake import MAIN, REPO, Lake
from tests.server.support import Answer, ask

LS = f"/api/v1{REPO}/refs/main/objects/ls?amount=1000"


@pytest.fixture
def lake() -> Iterator[Lake]:
    lake = Lake()
    lake("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    for n in range(100):
        lake.put(f"some/object/with/a/path-{n:03}", b"x")
    yield lake
    lake.close()


def get(lake: Lake, target: str, **headers: Any) -> Answer:
    return ask(lake.app, target, runner=lake.runner, **headers)


@pytest.mark.parametrize(
    ("accepted", "packing"),
    [
        ("gzip, deflate", "gzip"),
        ("gzip, zstd", "zstd"),
        ("br;q=1.0, gzip;q=0.8", "gzip"),
        ("zstd;q=0, gzip", "gzip"),
        ("identity", None),
        ("gzip;q=0", None),
        ("", None),
    ],
)
def test_a_large_answer_is_packed_as_the_client_wants(lake: Lake, accepted: str, packing: str | None) -> None:
    plain = get(lake, LS)
    answer = get(lake, LS, accept_encoding=accepted)
    assert answer.headers.get("content-encoding") == packing
    assert answer.headers["vary"] == "accept-encoding"
    assert int(answer.headers["content-length"]) == len(answer.body)
    body = answer.body
    if packing == "gzip":
        body = zlib.decompress(body, 16 + zlib.MAX_WBITS)
    elif packing == "zstd":
        body = pa.decompress(body, len(plain.body), codec="zstd", asbytes=True)
    assert msgspec.json.decode(body) == plain.json
    assert packing is None or len(answer.body) < len(plain.body) / 4


def test_small_answers_errors_and_objects_are_sent_as_they_are(lake: Lake) -> None:
    lake("POST", f"{MAIN}/objects?path=big", b"a" * 100_000, 201)
    for target in (f"/api/v1{REPO}", "/api/v1/nope", f"/api/v1{REPO}/refs/main/objects?path=big"):
        assert "content-encoding" not in get(lake, target, accept_encoding="gzip").headers


def test_a_client_of_this_machine_gets_it_plain(lake: Lake) -> None:
    assert "content-encoding" in get(lake, LS, accept_encoding="gzip").headers
    assert "content-encoding" not in get(lake, LS, accept_encoding="gzip", client="127.0.0.1").headers


@pytest.mark.parametrize(
    "target",
    ["", "/branches", "/branches/main", "/refs/main/commits", "/refs/main/objects/ls", "/commits/main", "/metadata"],
)
def test_json_has_an_entity_tag_and_an_unchanged_one_is_not_sent_again(lake: Lake, target: str) -> None:
    url = f"/api/v1{REPO}{target}"
    first = get(lake, url)
    tag = first.headers["etag"]
    assert tag.startswith('W/"')
    for asked in (tag, f'"other", {tag}'):
        again = get(lake, url, if_none_match=asked)
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    assert get(lake, url, if_none_match='W/"other"').body == first.body


def test_a_change_changes_the_entity_tag(lake: Lake) -> None:
    url = f"/api/v1{REPO}/refs/main/objects/ls"
    before = get(lake, url).headers["etag"]
    lake.put("another", b"x")
    answer: Any = get(lake, url, if_none_match=before)
    assert answer.status == 200


def test_times_of_what_has_one(lake: Lake) -> None:
    for target in ("/commits/main", "/refs/main/objects/stat?path=some/object/with/a/path-001"):
        assert get(lake, f"/api/v1{REPO}{target}").headers["last-modified"].endswith(" GMT")


def test_writes_and_errors_have_no_tag(lake: Lake) -> None:
    assert "etag" not in get(lake, f"/api/v1{REPO}/branches/nope").headers
    answer = ask(lake.app, f"/api/v1{REPO}/branches", "POST", b'{"name":"dev","source":"main"}', runner=lake.runner)
    assert "etag" not in answer.headers
