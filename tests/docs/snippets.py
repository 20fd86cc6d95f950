"""The code blocks of a Markdown page, and how a console block is compared.

- `python` blocks are run in order, in one namespace for each page;
- `console` blocks hold `$ lakebed ...` lines, each with what it prints (standard output, then standard error). Ids,
  times and sizes match any value of their kind, and a line `...` matches any lines;
- any other block (`sh`, `text`, `sql`, `yaml`) is for reading.
"""

from __future__ import annotations

import re
import shlex
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.support import Command

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
SPARK_PAGES = [page for page in PAGES if page.name.startswith("spark")]
"""Run by tests/spark, in the environment that has PySpark."""
RECIPE_PAGES = [page for page in PAGES if page.parent == ROOT / "docs/recipes"]
"""Run by tests/recipes, in the environment that has their packages."""

_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)  # indented in a step of a list
_ID = re.compile(r"\b[0-9a-f]{12,64}\b")
_SIZE = re.compile(r"\b[\d.,]+ (bytes|[kMG]?B)\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d( UTC|Z)?")


class Block(NamedTuple):
    """A code block, and the line of the page on which its code begins."""

    language: str
    code: str
    line: int


class Exchange(NamedTuple):
    """A command line and what it is said to print."""

    command: str
    expected: str


def blocks(page: Path) -> list[Block]:
    """Every code block of a page that is run."""
    text = page.read_text("utf-8")
    found = [
        Block(one[2], textwrap.dedent(one[3]), text.count("\n", 0, one.start()) + 2) for one in _BLOCK.finditer(text)
    ]
    return [block for block in found if block.language in ("python", "console")]


def exchanges(code: str) -> Iterator[Exchange]:
    """The commands of a console block."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield Exchange(command, expected)


def links(page: Path) -> list[tuple[str, str]]:
    """The links of a page into this repository, code aside: a path (empty: the page itself) and an anchor or none."""
    found = _LINK.findall(_FENCED.sub("", page.read_text("utf-8")))
    return [(target, anchor) for target, anchor in found if "://" not in target]


def anchors(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them: "What's `lakebed://`?" -> "whats-lakebed"."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCED.sub("", page.read_text("utf-8"))):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()  # a link counts as its text
        base = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        name = next(name for name in (base, *(f"{base}-{n}" for n in range(1, 1000))) if name not in found)
        found.add(name)
    return found


def need(page: Path) -> str:
    """The paragraph "You need", which follows the title of a page; empty without one."""
    paragraphs = page.read_text("utf-8").split("\n\n", 2)
    found = len(paragraphs) > 1 and paragraphs[1].startswith("**You need**: ")
    return " ".join(paragraphs[1].split()) if found else ""


def repository(page: Path) -> str:
    """The one repository that a page uses; empty for a page without."""
    if page == ROOT / "README.md":
        return "weather"
    found = re.search(r"This page uses the repository `([a-z0-9-]+)`\.$", need(page))
    return found[1] if found else ""


def matches(expected: str, printed: str) -> bool:
    """Whether a command printed what the page says."""
    pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in _plain(expected))
    return re.fullmatch(pattern, "\n".join(_plain(printed)), re.DOTALL) is not None


def _plain(text: str) -> list[str]:
    text = _SIZE.sub("<size>", _TIME.sub("<time>", _ID.sub("<id>", text)))
    return [re.sub(r" +", " ", line).rstrip() for line in text.strip("\n").split("\n")]


def run_python(page: Path, block: Block, namespace: dict[str, Any]) -> None:
    code = "\n" * (block.line - 1) + block.code  # tracebacks name the line of the page
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The inplace keyword")  # Dask's own calls to pandas 3
        exec(compile(code, str(page), "exec"), namespace)


def run_console(page: Path, block: Block, command: Command) -> None:
    for exchange in exchanges(block.code):
        program, *arguments = shlex.split(exchange.command)
        assert program == "lakebed", f"{page.name}: {exchange.command} cannot be tested; use a `sh` block"
        result = command(*arguments, code=None)
        printed = result.text + result.err
        assert matches(exchange.expected, printed), f"{page.name}: $ {exchange.command}\n{printed}"
