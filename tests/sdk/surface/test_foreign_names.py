"""Attribute names of other SDKs on handles: an error with the right name, and nothing else changes."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from typing import Any

import lakebed
import pytest
from lakebed._values import foreign_names

from tests.sdk.doors import ENDPOINT, Door


def handles(door: Door) -> dict[str, Any]:
    module: Any = lakebed if door.name == "sync" else lakebed.aio
    lake = module.connect(ENDPOINT, "key", "secret")
    repo = lake.repository("repo")
    return {
        "Lake": lake,
        "Repository": repo,
        "Ref": repo.ref("main"),
        "Tag": repo.tag("v1"),
        "Branch": repo.branch("main"),
        "Workspace": repo.branch("main").workspace(),
        "Listing": repo.branches(),
    }


ROWS = [(cls, name) for cls, names in foreign_names.table().items() for name in names]


@pytest.mark.parametrize(("cls", "name"), ROWS, ids=[f"{cls}.{name}" for cls, name in ROWS])
def test_name_of_another_sdk_suggests_the_lakebed_name(door: Door, cls: str, name: str) -> None:
    handle = handles(door)[cls]
    assert not hasattr(handle, name)
    with pytest.raises(AttributeError) as caught:
        getattr(handle, name)
    advice = foreign_names.table()[cls][name]
    assert str(caught.value) == f"{cls!r} object has no attribute {name!r}; {advice}"


_NOUNS = {
    "lake": "Lake",
    "repo": "Repository",
    "ref": "Ref",
    "branch": "Branch",
    "ws": "Workspace",
    "listing": "Listing",
}


@pytest.mark.parametrize(("cls", "name"), ROWS, ids=[f"{cls}.{name}" for cls, name in ROWS])
def test_the_advice_names_methods_that_exist(cls: str, name: str) -> None:
    advice = foreign_names.table()[cls][name]
    for noun, method in re.findall(r"\b(lake|repo|ref|branch|ws|listing)\.(\w+)", advice):
        assert (
            hasattr(getattr(lakebed, _NOUNS[noun]), method)
            or (noun, method) == ("ref", "id")
            or (noun == "ref" and method == "repository")
        ), advice
    for factory, method in re.findall(r"repo\.(ref|branch|tag)\([^()]*\)\.(\w+)", advice):
        assert hasattr(getattr(lakebed, factory.capitalize()), method), advice


def test_a_misspelled_name_is_corrected(door: Door) -> None:
    assert "did you mean 'commit'?" in attribute_error(handles(door)["Branch"], "comit")
    assert "did you mean 'repository'?" in attribute_error(handles(door)["Lake"], "repositry")
    assert attribute_error(handles(door)["Lake"], "zzzz").endswith("no attribute 'zzzz'")


def attribute_error(handle: Any, name: str) -> str:
    with pytest.raises(AttributeError) as caught:
        getattr(handle, name)
    return str(caught.value)


def test_a_tag_still_refuses_writes_by_name(door: Door) -> None:
    with pytest.raises(lakebed.ReadOnlyRefError, match="cannot be written to"):
        _ = handles(door)["Tag"].undo


def test_probes_of_notebooks_copy_and_pickle_get_no_advice(door: Door) -> None:
    for handle in handles(door).values():
        for probe in ("_ipython_canary_method_should_not_exist_", "_repr_mimebundle_", "__array__", "_repr_png_"):
            assert attribute_error(handle, probe).endswith(f"no attribute {probe!r}")
        assert type(copy.copy(handle)) is type(handle)
    for name in ("Lake", "Repository", "Branch", "Ref", "Tag"):
        handle = handles(door)[name]
        assert type(pickle.loads(pickle.dumps(handle))) is type(handle)


@pytest.mark.slow
def test_the_table_is_loaded_only_after_an_error() -> None:
    code = (
        "import sys, lakebed; lake = lakebed.connect('http://127.0.0.1:9', 'k', 's'); lake.repository('a').branch('b');"
        "name = 'lakebed._values.foreign_names'; assert name not in sys.modules; hasattr(lake, 'clone');"
        "assert name in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_handles_of_one_thing_are_equal(door: Door) -> None:
    mine, theirs = handles(door), handles(door)
    for name in ("Repository", "Ref", "Branch", "Tag"):
        assert mine[name] == theirs[name]
        assert hash(mine[name]) == hash(theirs[name])
    assert mine["Branch"] != mine["Ref"]
    assert mine["Branch"] != mine["Repository"].branch("dev")
    module: Any = lakebed if door.name == "sync" else lakebed.aio
    assert module.connect(ENDPOINT, "other", "secret").repository("repo") != mine["Repository"]
    assert len({mine["Branch"], theirs["Branch"]}) == 1
