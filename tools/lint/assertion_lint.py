"""Find tests that assert nothing: `python tools/lint/assertion_lint.py` prints them, and exits 1 if there are any.

A test asserts with `assert`, `pytest.raises`, `pytest.warns` or `pytest.fail`, or with a function that does. This tool
searches such functions in the file of the test, its conftest.py and the modules of `tests` that it imports, three calls
deep. It finds them by name only.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEPTH = 3
CHECKS = {"pytest.raises", "pytest.warns", "pytest.fail", "AssertionError"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def functions(file: Path) -> list[Function]:
    return [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, Function)]


@cache
def sources(file: Path) -> list[Path]:
    """The file, its conftest.py and the modules of `tests` that it imports."""
    nodes = ast.walk(ast.parse(file.read_text()))
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    imported = [ROOT / f"{name.replace('.', '/')}.py" for name in modules if name.startswith("tests.")]
    return [one for one in (file, file.parent / "conftest.py", *imported) if one.exists()]


def asserts(function: Function, file: Path, depth: int = DEPTH) -> bool:
    nodes = list(ast.walk(function))
    used = {ast.unparse(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute)}
    if used & CHECKS or any(isinstance(node, ast.Assert) for node in nodes):
        return True
    last = {name.rpartition(".")[2] for name in used}
    if any(name.startswith("assert_") for name in last):
        return True
    called = ((one, source) for source in sources(file) for one in functions(source) if one.name in last)
    return depth > 0 and any(asserts(one, source, depth - 1) for one, source in called)


if __name__ == "__main__":
    silent: Iterator[str] = (
        f"{file.relative_to(ROOT)}:{function.lineno}: {function.name} asserts nothing"
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
        for function in functions(file)
        if function.name.startswith("test_") and not asserts(function, file)
    )
    sys.exit("\n".join(silent) or None)
