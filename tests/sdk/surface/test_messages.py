"""Messages of errors use the words of the SDK, not those of the REST API, and name what to call instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import lakebed
import numpy as np
import pandas as pd
import pytest
from lakebed._values import wire

from tests.docs.snippets import ROOT

OPERATIONS = re.findall(r"operationId: *(\w+)", (ROOT / "openapi.yaml").read_text("utf-8"))


def refused_calls(lake: lakebed.Lake, repo: lakebed.Repository) -> list[Callable[[], Any]]:
    main = repo.branch("main")
    return [
        lambda: lake.repository("My Repo").create("mem://my-repo"),
        lambda: lake.repository("nowhere").info(),
        lambda: repo.branch("a b").create(),
        lambda: repo.branch("mian").commit("m"),
        lambda: repo.tag("v1").info(),
        lambda: main.stat("nothing"),
        lambda: main.get("nothing"),
        lambda: main.merge_into(repo.branch("nowhere")),
        lambda: main.commit("nothing"),
        lambda: main.revert("main~9"),
        lambda: main.cherry_pick(repo.ref("main"), parent=7),
    ]


def test_messages_contain_no_words_of_the_rest_api(lake: lakebed.Lake, repo: lakebed.Repository) -> None:
    for call in refused_calls(lake, repo):
        with pytest.raises(lakebed.LakebedError) as caught:
            call()
        text = str(caught.value)
        assert not re.search(r"\bHTTP\b|\bbody \w+:|\bparameter \w+:|parent_number", text), text
        assert not any(re.search(rf"\b{name}\b", text) for name in OPERATIONS if wire.in_words(name) != name), text
        assert caught.value.status is not None
        assert caught.value.reason in text


def test_field_is_named_with_its_value(lake: lakebed.Lake) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match=r"repository lakebed://My Repo: name 'My Repo': expected 3"):
        lake.repository("My Repo").create("mem://my-repo")


def test_merge_without_parent_names_the_argument(repo: lakebed.Repository) -> None:
    main, dev = repo.branch("main"), repo.branch("dev").create("main")
    dev.put("x", b"1")
    dev.commit("one")
    dev.merge_into(main)
    for call in (main.revert, dev.cherry_pick):
        with pytest.raises(lakebed.InvalidRequestError, match="merge of 2 parents: choose a parent") as caught:
            call("main")
        assert "parent_number" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (pd.DataFrame({"a": [1]}), "cannot upload a DataFrame: use write_parquet or write_csv"),
        ({"a": 1}, r"cannot upload a dict: use json.dumps\(...\).encode\(\)"),
        (np.arange(3), r"cannot upload a ndarray: use .*tobytes"),
        ("text", r"cannot upload a str: use .encode\(\)"),
    ],
)
def test_put_of_other_data_names_the_call_for_it(repo: lakebed.Repository, data: Any, advice: str) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match=advice):
        repo.branch("main").put("x", data)


@pytest.mark.parametrize("data", [[{"a": 1}], np.arange(3), {"a": [1]}])
def test_write_parquet_of_other_data_names_a_data_frame(repo: lakebed.Repository, data: Any) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match=r"not a table.*use pandas.DataFrame\(...\)"):
        repo.branch("main").write_parquet("t.parquet", data)


def test_write_parquet_of_a_series_names_its_frame(repo: lakebed.Repository) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match=r"a Series is not a table.*use \.to_frame\(\)"):
        repo.branch("main").write_parquet("t.parquet", pd.Series([1], name="a"))
