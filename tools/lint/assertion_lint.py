"""Find tests that assert nothing: `python tools/lint/assertion_lint.py` prints them, and exits 1 if there are any.

A test asserts with `assert`, `pytest.raises`, `pytest.warns`, `pytest.fail` or `expect(...).to_...`, or with a function
that does. This tool searches such functions in the file of the test, its conftest.py and the modules of `tests` that it
imports, three calls deep. It finds them by name only.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEPTH = 3
CHECKS = {"assert", "pytest.raises", "pytest.warns", "pytest.fail", "AssertionError", "expect()"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def nodes_of(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text())))


@cache
def functions(file: Path) -> list[Function]:
    return [node for node in nodes_of(file) if isinstance(node, Function)]


@cache
def sources(file: Path) -> list[Path]:
    """The file, its conftest.py and the modules of `tests` that it imports."""
    modules = [node.module for node in nodes_of(file) if isinstance(node, ast.ImportFrom) and node.module]
    imported = [ROOT / f"{name.replace('.', '/')}.py" for name in modules if name.startswith("tests.")]
    return [one for one in (file, file.parent / "conftest.py", *imported) if one.exists()]


@cache
def by_name(file: Path) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for one in functions(file):
        found.setdefault(one.name, []).append(one)
    return found


@cache
def names(function: Function) -> frozenset[str]:
    """What a function uses, as it is written: `pytest.raises`, `server.start`. `assert` for a statement of it."""
    nodes = list(ast.walk(function))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "expect":
                used.add("expect()")  # of Playwright: `expect(page)` alone checks nothing
            used.add(f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else node.attr)
    return frozenset(used | ({"assert"} if any(isinstance(node, ast.Assert) for node in nodes) else set()))


@cache
def asserts(function: Function, file: Path, depth: int = DEPTH) -> bool:
    used = names(function)
    if used & CHECKS:
        return True
    last = {name.rpartition(".")[2] for name in used}
    if any(name.startswith("assert_") for name in last):
        return True
    called = ((one, source) for source in sources(file) for name in last for one in by_name(source).get(name, ()))
    return depth > 0 and any(asserts(one, source, depth - 1) for one, source in called)


if __name__ == "__main__":
    silent: Iterator[str] = (
        f"{file.relative_to(ROOT)}:{function.lineno}: {function.name} asserts nothing"
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
        for function in functions(file)
        if function.name.startswith("test_") and not asserts(function, file)
    )
    sys.exit("\n".join(silent) or None)
