"""docs/sdk.md has every public name of the SDK, and the docstring of each daily call has an example that fits it."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lakebed
import lakebed_testing
import pytest

from tests.docs.examples import namespace_of
from tests.docs.snippets import ROOT
from tests.support.sampling import sampled

MODULES = {"__version__", "aio", "errors", "model"}
RARE = {
    "Background": {"import_task"},
    "Branch": {"staged_address", "write_symlinks"},
    "Dump": {"wait"},
    "Groups": {"get", "policies"},
    "Import": {"cancel", "status"},
    "Keys": {"get"},
    "Lake": {
        "access_key", "access_keys", "close", "create_access_key", "drop_access_key", "end_session_tokens", "is_set_up",
        "validate_action",
    },
    "Pulls": {"approvals", "delete_comment", "dismiss_review", "update_comment", "withdraw_approval"},
    "RefObjects": {"ranges", "storage_class"},
    "Repository": {"dump_refs", "dump_task", "restore_refs", "restore_task", "start_dump", "start_restore", "task"},
    "RepositoryBase": {"add_commit", "metadata_file", "metadata_place"},
    "Restore": {"wait"},
    "Staging": {"push_layer", "register", "share"},
    "Users": {"end_session", "sessions"},
    "Writable": {"link"},
    "_Background": {"status"},
}  # fmt: skip
"""Calls of tools, of recovery, or of one task in a long while: their docstrings need no example."""


def calls() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """The public methods of the handles: class, name, function."""
    seen = set()
    for name in lakebed.__all__:
        one = getattr(lakebed, name)
        if not (inspect.isclass(one) and one.__module__ == "lakebed"):
            continue
        for method, function in inspect.getmembers(one, inspect.isfunction):
            owner = function.__qualname__.partition(".")[0]
            if not method.startswith("_") and (owner, method) not in seen:
                seen.add((owner, method))
                yield owner, method, function


DAILY = [(owner, name, function) for owner, name, function in calls() if name not in RARE.get(owner, set())]


def test_the_page_has_every_public_name_once() -> None:
    listed = re.findall(r"^::: lakebed\.(\w+)$", (ROOT / "docs/sdk.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(set(lakebed.__all__) - MODULES)


def test_rare_calls_exist() -> None:
    found = {(owner, name) for owner, name, _ in calls()}
    assert {(owner, name) for owner, names in RARE.items() for name in names} <= found
    assert len(DAILY) > 120


@pytest.mark.parametrize(("owner", "name", "function"), DAILY, ids=[f"{owner}.{name}" for owner, name, _ in DAILY])
def test_a_daily_call_has_an_example_that_fits_it(owner: str, name: str, function: Callable[..., Any]) -> None:
    found = [call for text in examples(function) for call in calls_of(name, text)]
    assert found, f"add an example to the docstring of {owner}.{name}, or the call to RARE"
    for call in found:
        assert not any(isinstance(argument, ast.Starred) for argument in call.args)
        arguments = {keyword.arg: None for keyword in call.keywords if keyword.arg}
        inspect.signature(function).bind(None, *call.args, **arguments)


@pytest.fixture(scope="module")
def started() -> Iterator[lakebed_testing.LakebedServer]:
    with lakebed_testing.server() as server:
        yield server


ENDLESS = {"events"}
"""Methods whose example follows a feed without end."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", sampled((one for one in DAILY if one[1] not in ENDLESS), 60, lambda one: f"{one[0]}.{one[1]}")
)
def test_the_example_of_a_daily_call_runs(
    call: tuple[str, str, Callable[..., Any]],
    started: lakebed_testing.LakebedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server may refuse the call, as what an example names need not be there; Python may not."""
    _, name, function = call
    monkeypatch.chdir(tmp_path)
    started.reset()
    with started.connect() as lake:
        namespace = namespace_of(lake, tmp_path)
        found = examples(function)
        assert found
        for text in found:
            with contextlib.suppress(lakebed.LakebedError):
                exec(compile(textwrap.dedent(text), name, "exec"), namespace)


def examples(function: Callable[..., Any]) -> list[str]:
    """The indented blocks of a docstring."""
    return re.findall(r"(?:\n\n|^)((?:    .*\n?|\n)+)", inspect.getdoc(function) or "")


def calls_of(name: str, text: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(textwrap.dedent(text))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node
