"""Helpers of several test modules are not in test modules, so that tests can be read, moved and run alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]

_MAY_IMPORT = re.compile(r"\btests\.[\w.]*\btest_|\bfrom\s+tests[\w.]*\s+import\b[^)]*?\btest_")


def imports_of_tests(source: str) -> Iterator[str]:
    """The test modules that this source imports from."""
    if _MAY_IMPORT.search(source) is None:  # to parse all tests takes 3 seconds
        return
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        elif isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        yield from (name for name in names if name.startswith("tests.") and _is_test(name))


def _is_test(module: str) -> bool:
    file = TESTS.parent.joinpath(*module.split(".")).with_suffix(".py")
    return file.name.startswith("test_") and file.exists()


def test_no_module_imports_a_test_module() -> None:
    files = sorted(TESTS.rglob("*.py"))
    assert len(files) > 300
    found = {str(file.relative_to(TESTS)): list(imports_of_tests(file.read_text())) for file in files}
    assert {file: names for file, names in found.items() if names} == {}


def test_all_forms_of_imports_are_found() -> None:
    name = "tests.support.own.test_imports"
    for source in (
        f"from {name} import TESTS",
        "from tests.support.own import test_imports",
        f"import {name}",
        f"def f():\n    from {name} import TESTS",
        "from tests.support.own import (\n    helpers,\n    test_imports,\n)",
    ):
        assert list(imports_of_tests(source)) == [name], source
    assert list(imports_of_tests("from tests.support.waiting import PATIENCE")) == []
