"""Each page begins with what a reader needs, and has one repository that no other page uses."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import click
import pytest
from lakebed.cli.main import root
from lakebed.cli.targets import Target

from tests.docs.shell_pages import commands
from tests.docs.snippets import PAGES, ROOT, blocks, need, repository
from tools.cli_reference import BEGIN

DOCS = [page for page in PAGES if page.is_relative_to(ROOT / "docs")]
WITHOUT_NEED = {
    "docs/architecture.md": "a map of the code: nothing to run",
    "docs/compatibility.md": "a list of differences: nothing to run",
    "docs/concepts.md": "an explanation: nothing to run",
    "docs/glossary.md": "a list of terms: nothing to run",
    "docs/security.md": "a list of promises: nothing to run",
}
DECISIONS = ROOT / "docs/decisions"
WITH_LAKEBED = {"lakebed", "pandas", "pyarrow", "fsspec", "numpy", "pytest"}
"""Packages that Lakebed brings; its extra `testing` brings pytest."""
PLACE = re.compile(
    r"""\brepository\(["']([\w-]+)["']\)|\blakebed://([\w-]+)/|\blocal://([\w-]+)|/repositories/([\w-]+)"""
)
RUN = re.compile(r"^ *```(?:python|console|sh)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
EXAMPLE = {"repository", "_server"}


def short(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", DOCS, ids=short)
def test_a_page_begins_with_what_it_needs(page: Path) -> None:
    runs = RUN.search(page.read_text("utf-8"))
    if DECISIONS in page.parents or short(page) in WITHOUT_NEED:
        assert not runs, f"{page.name} has code: it begins with **You need**"
    else:
        assert need(page), f"{page.name}: the first paragraph after the title begins with '**You need**: '"


def test_no_two_pages_use_one_repository() -> None:
    used = Counter(filter(None, map(repository, PAGES)))
    assert {name: count for name, count in used.items() if count > 1} == {}
    assert len(used) > 20


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_a_page_uses_its_own_repository_only(page: Path) -> None:
    if repository(page) == "" and not blocks(page):
        return
    assert names(page) <= {repository(page)}, "name it at the end of **You need**: This page uses the repository `x`."


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=short)
def test_packages_that_a_page_imports_are_named(page: Path) -> None:
    wanted = need(page) or page.read_text("utf-8")
    for name in imports(page) - WITH_LAKEBED:
        distributions = installed().get(name, [name])
        assert any(one.replace("-", "_") in wanted.replace("-", "_") for one in distributions), name


@cache
def installed() -> Mapping[str, list[str]]:
    """The distributions of each package. To find them takes half a second."""
    return packages_distributions()


def imports(page: Path) -> set[str]:
    """The packages that the python blocks import, those of Python and of Lakebed aside."""
    found: set[str] = set()
    for block in blocks(page):
        if block.language == "python":
            for node in ast.walk(ast.parse(block.code)):
                if isinstance(node, ast.Import):
                    found |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module.partition(".")[0])
    return {name for name in found if not name.startswith("lakebed_") and name not in sys.stdlib_module_names}


def names(page: Path) -> set[str]:
    """The repositories that the code of a page names: in Python, in URIs and as arguments of commands."""
    text = page.read_text("utf-8").partition(BEGIN)[0]  # the examples of `--help` use the names of their subject
    code = "\n".join(RUN.findall(text))
    found = {name for match in PLACE.findall(code) for name in match if name}
    for _, line in commands(code):
        found |= set(arguments(line))
    return found - EXAMPLE


def arguments(line: str) -> Iterator[str]:
    """The repositories of a command line."""
    command: click.Command = root
    words = [word for word in line.split()[1:] if word]
    while words and isinstance(command, click.Group):
        below = command.get_command(click.Context(command), words.pop(0))
        if below is None:
            return
        command = below
    targets = [one for one in command.params if isinstance(one.type, Target)]
    context = click.Context(command, resilient_parsing=True, ignore_unknown_options=True)
    try:
        values, _, _ = command.make_parser(context).parse_args(words)
    except click.UsageError:
        return
    for one in targets:
        value = values.get(one.name or "")
        for text in value if isinstance(value, (list, tuple)) else [value]:
            name = str(text or "").removeprefix("lakebed://").partition("/")[0]
            if re.fullmatch(r"[a-z0-9][a-z0-9-]+", name):
                yield name


def test_names_are_found_in_code() -> None:
    assert list(arguments("lakebed fs cat shop/main/x.csv")) == ["shop"]
    assert list(arguments("lakebed branch create shop/dev --source main")) == ["shop"]
    assert list(arguments("lakebed grant ben reader shop")) == ["shop"]
