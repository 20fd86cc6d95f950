"""docs/testing.md: tests/docs runs its blocks unchanged; here the tests that they define run too."""

from __future__ import annotations

import pytest
from lakebed_wire.operations import OPERATIONS

from tests.docs.snippets import ROOT, blocks

pytestmark = pytest.mark.medium  # an HTTP server in a thread

pytest_plugins = ["pytester"]
PAGE = ROOT / "docs" / "testing.md"


def test_the_tests_of_the_guide_pass(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    suites = [block.code for block in blocks(PAGE) if "def test_" in block.code]
    assert len(suites) == 6
    expected = sum(code.count("def test_") for code in suites)
    backend = "import pytest\n\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n"
    pytester.makepyfile(conftest=backend, **{f"test_block_{number}": code for number, code in enumerate(suites)})
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    options = ["-W", "error", "-p", "lakebed_testing.plugin", "-p", "anyio.pytest_plugin", "-p", "no:cacheprovider"]
    pytester.runpytest_inprocess(*options).assert_outcomes(passed=expected)


def test_the_operations_that_the_guide_names_are_there() -> None:
    text = PAGE.read_text("utf-8").split("An operation is")[1].split("\n- ")[0]
    named = [word for word in text.split("`")[1::2] if word.isidentifier() and word[0].islower()]
    known = {operation.operation_id for operation in OPERATIONS}
    assert len([word for word in named if word in known]) == 6, named
