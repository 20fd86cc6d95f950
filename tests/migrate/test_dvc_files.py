"""What a commit of a DVC repository tracks, by its files. tests/recipes compares whole repositories with DVC itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from lakebed import InvalidRequestError
from lakebed._migrate.dvc_files import Content, Out, Unsupported, directory_files, tracked

MD5 = "d8e8fca2dc0f896fd7cb4cb0031ba249"


def found(**files: Any) -> list[Out | Unsupported]:
    texts = {
        name.replace("__", "/").replace("_", "."): yaml.safe_dump(body, sort_keys=False) for name, body in files.items()
    }
    return list(tracked({path: path for path in texts}, lambda blob: texts[blob].encode()))


def test_a_file_of_dvc_3_and_one_of_dvc_2() -> None:
    new = {"outs": [{"md5": MD5, "size": 5, "hash": "md5", "path": "a.csv"}]}
    old = {"outs": [{"md5": MD5, "path": "b.csv"}], "wdir": "../raw"}
    assert found(data__a_csv_dvc=new, data__b_csv_dvc=old) == [
        Out("data/a.csv", Content(MD5), 5),
        Out("raw/b.csv", Content(MD5, legacy=True)),
    ]


def test_the_stages_of_a_lock_with_their_directories() -> None:
    out = {"md5": MD5, "hash": "md5", "path": "w.bin"}
    stages = {"train": {"outs": [out]}, "each@1": {"outs": [out]}, "vars": {"outs": [out]}}
    pipeline = {
        "stages": {
            "train": {"wdir": "model"},
            "each": {"foreach": [1], "do": {"wdir": "each"}},
            "vars": {"wdir": "${where}"},
        }
    }
    assert found(sub__dvc_lock={"schema": "2.0", "stages": stages}, sub__dvc_yaml=pipeline) == [
        Out("sub/model/w.bin", Content(MD5)),
        Out("sub/each/w.bin", Content(MD5)),
        Unsupported("sub/dvc.lock: stage vars", "its directory '${where}' has variables"),
    ]


def test_what_git_tracks_is_read_from_git() -> None:
    outs = [{"md5": MD5, "hash": "md5", "path": "score.json"}, {"md5": f"{MD5}.dir", "hash": "md5", "path": "plots"}]
    lock = {"schema": "2.0", "stages": {"train": {"outs": outs}}}
    assert found(dvc_lock=lock, score_json={}, plots__a_csv={}) == [
        Out("score.json", Content("score.json"), in_git=True),
        Out("plots/a.csv", Content("plots/a.csv"), in_git=True),
    ]


@pytest.mark.parametrize("path", ["s3://bucket/x", "/srv/x", "../../x"])
def test_outs_that_are_elsewhere_are_named(path: str) -> None:
    (one,) = found(data__x_dvc={"outs": [{"md5": MD5, "path": path}]})
    assert isinstance(one, Unsupported)


def test_outs_of_a_versioned_cloud_store_are_named() -> None:
    (one,) = found(x_dvc={"outs": [{"path": "x", "cloud": {"etag": "e"}}]})
    assert isinstance(one, Unsupported)
    assert "no MD5" in one.why


def test_the_files_of_a_directory() -> None:
    out = Out("images", Content(f"{MD5}.dir"))
    assert out.is_directory
    rows = [{"md5": MD5, "relpath": "deep/1.png"}]
    assert list(directory_files(out, json.dumps(rows).encode())) == [Out("images/deep/1.png", Content(MD5))]
    with pytest.raises(InvalidRequestError, match="outside"):
        list(directory_files(out, json.dumps([{"md5": MD5, "relpath": "../up"}]).encode()))
    with pytest.raises(InvalidRequestError, match="cannot be read"):
        list(directory_files(out, b"no json"))


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "just text"])
def test_a_file_that_is_no_mapping_is_refused_with_its_name(text: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"data/x\.dvc"):
        list(tracked({"data/x.dvc": "1"}, lambda _: text.encode()))
