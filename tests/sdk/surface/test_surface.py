"""The public surface: a list, light to import, free of foreign types, and the same through both doors."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import lakebed
import lakebed.aio
import pandas
import pyarrow
import pyarrow.dataset
import pytest
from lakebed import _files
from lakebed._values.graph import Graph

ROOT = Path(__file__).resolve().parents[3]
NAMES = {
    "pd": pandas,
    "pa": pyarrow,
    "pads": pyarrow.dataset,
    **{name: getattr(lakebed, name) for name in lakebed.__all__},
    "Graph": Graph,
    "OpenFile": lakebed.aio.OpenFile,
}
DOORS = [lakebed, lakebed.aio]


def parts(hint: Any) -> Iterator[Any]:
    yield hint
    for arg in typing.get_args(hint):
        yield from parts(arg)


def public_members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in module.__all__:
        value = getattr(module, name)
        yield name, value
        if inspect.isclass(value):
            for member, static in inspect.getmembers_static(value):
                if not member.startswith("_") or member == "__init__":
                    yield f"{name}.{member}", static


def hints_of(value: Any) -> Iterator[Any]:
    if isinstance(value, property):
        value = value.fget
    if inspect.isfunction(value):
        yield from typing.get_type_hints(value, localns=NAMES).values()
    elif inspect.isclass(value):
        yield from value.__mro__
        yield from (hint for base in value.__mro__ for hint in inspect.get_annotations(base).values())
    else:
        yield type(value)


@pytest.mark.parametrize("module", DOORS)
def test_no_generated_or_transport_type_is_public(module: ModuleType) -> None:
    foreign = ("lakebed_api", "httpx", "httpcore", "tenacity", "attr", "attrs")
    leaks = [
        (where, part)
        for where, value in public_members(module)
        if where.split(".")[-1] != "__init__" or where == "connect"
        for hint in hints_of(value)
        for part in parts(hint)
        if getattr(part, "__module__", "").split(".")[0] in foreign
        or (isinstance(part, str) and any(word in part for word in foreign))
    ]
    assert leaks == []


def test_public_names_are_sorted_and_exist() -> None:
    for module in (*DOORS, lakebed.model, lakebed.errors):
        assert module.__all__ == sorted(module.__all__)
        assert all(getattr(module, name) is not None for name in module.__all__)
    with pytest.raises(AttributeError):
        _ = lakebed.nonsense


@pytest.mark.parametrize("module", DOORS)
def test_public_objects_have_docstrings_and_public_module_paths(module: ModuleType) -> None:
    for where, value in public_members(module):
        if inspect.isfunction(value) or inspect.isclass(value):
            assert value.__doc__ or where.endswith("__init__"), where
        if inspect.isclass(value) and value.__name__ in ("Lake", "Repository", "Branch", "Ref", "Tag", "Listing"):
            assert value.__module__ == module.__name__


def test_sync_and_async_api_have_the_same_signatures() -> None:
    for name in lakebed.aio.__all__:
        if name == "OpenFile":
            continue
        here, there = getattr(lakebed, name), getattr(lakebed.aio, name)
        if not inspect.isclass(here):
            assert _parameters(here) == _parameters(there)
            continue
        mine = {k: v for k, v in inspect.getmembers_static(here) if not k.startswith("_")}
        other = {k: v for k, v in inspect.getmembers_static(there) if not k.startswith("_")}
        assert mine.keys() == other.keys()
        for member, value in mine.items():
            assert type(value) is type(other[member])
            assert value.__doc__ == other[member].__doc__
            if inspect.isfunction(value):
                assert _parameters(value) == _parameters(other[member]), f"{name}.{member}"


def _parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def test_async_api_has_every_handle_of_the_sync_api() -> None:
    handles = {name for name, home in lakebed._HOMES.items() if home.startswith("_sync.")}
    assert handles | {"OpenFile"} == set(lakebed.aio.__all__)


ONLY_BLOCKING = {"buffer", "detach", "encoding", "errors", "fileno", "isatty", "line_buffering", "mode", "newlines",
                 "peek", "raw", "read1", "readinto1", "reconfigure", "truncate", "write_through"}  # fmt: skip
"""What Python's own file classes have besides: about buffers and terminals, or without meaning for objects."""


def test_async_files_have_every_method_of_sync_files() -> None:
    plain = {
        name
        for one in (_files.ObjectReader, _files.TextObjectReader, _files.ObjectWriter, _files.TextObjectWriter)
        for name in dir(one)
        if not name.startswith("_")
    }
    assert plain - ONLY_BLOCKING == {name for name in dir(lakebed.aio.OpenFile) if not name.startswith("_")}


def test_the_compatibility_pairs_have_the_same_names() -> None:
    for pair in (("aio", "sync"), ("aio_files", "sync_files")):
        sides = [importlib.import_module(f"lakebed._compat.{name}") for name in pair]
        names = [
            {
                n
                for n, v in vars(side).items()
                if not n.startswith("_") and getattr(v, "__module__", "") == side.__name__
            }
            for side in sides
        ]
        assert names[0] - {"OpenFile"} == names[1]


@pytest.mark.slow
def test_sync_api_equals_the_output_of_unasync() -> None:
    spec = importlib.util.spec_from_file_location("unasync_sdk", ROOT / "tools" / "unasync_sdk.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for name, code in tool.generate().items():
        there = (ROOT / "sdk" / "lakebed" / "_sync" / name).read_text()
        assert there == code, f"{name}: run python tools/unasync_sdk.py"
        assert tool.leftovers(there) == []
    assert tool.leftovers("x = await y\nasync def f(): aclose()\n") == [
        "line 1: await",
        "line 2: async",
        "line 2: aclose",
    ]


HEAVY = ("pandas", "pyarrow", "numpy", "fsspec", "httpx", "lakebed.cli", "lakebed_server", "lakebed_engine", "yaml")


@pytest.mark.slow
def test_import_is_light() -> None:
    code = f"import sys, lakebed; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    code = "import sys, lakebed; lakebed.connect('h', 'k', 's').repository('r').branch('main'); " + (
        f"print([m for m in {HEAVY!r} if m in sys.modules and m != 'httpx'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_import_is_quick() -> None:
    def cost(code: str) -> float:
        code += "; import time; print(time.process_time())"  # of the CPU: whatever else runs here does not count
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)

    bare = min(cost("pass") for _ in range(3))
    assert min(cost("import lakebed") for _ in range(3)) - bare < 0.25


def test_reprs_are_short() -> None:
    lake = lakebed.connect("https://h", "k", "s")
    repo = lake.repository("sales")
    assert repr(lake) == "<Lake https://h>"
    assert repr(repo) == "<Repository sales>"
    assert repr(repo.branch("main")) == "<Branch sales/main>"
    assert repr(repo.tag("v1")) == "<Tag sales/v1>"
    assert repr(repo.ref("main~1")) == "<Ref sales/main~1>"
    assert repr(repo.branch("main").list("a/")) == "<Listing lakebed://sales/main/a/>"


@pytest.mark.parametrize("module", DOORS)
def test_handles_survive_pickle(module: Any) -> None:
    repo = module.connect("https://h", "k", "s", retries=1).repository("sales")
    for handle in (repo, repo.branch("main"), repo.tag("v1"), repo.ref("x~1")):
        again = pickle.loads(pickle.dumps(handle))
        assert type(again) is type(handle)
        assert again.id == handle.id
        assert again._transport.settings == repo._transport.settings
        assert again._transport.policy.attempts == 2
