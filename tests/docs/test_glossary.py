"""docs/glossary.md: each concept links to its file, and the path of the file has the name of the concept."""

from __future__ import annotations

import re

import pytest

from tests.docs.snippets import ROOT

ROW = re.compile(r"^\| \*\*(.+?)\*\* \| (.+?) \| \[`(.+?)`\]\(\.\./(.+?)\) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs/glossary.md").read_text("utf-8"))
STEM = 4
"""Letters that a word of the concept and a word of the path must share at least: `commit` and `commits`."""


def words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall(r"[a-z0-9]+", text.lower())}


def is_found_by_name(concept: str, path: str) -> bool:
    """Whether a word of the concept begins a word of the path, or the other way round."""
    pairs = [(one, other) for one in words(concept) for other in words(path)]
    return any(
        one == other or (one[:STEM] == other[:STEM] and min(len(one), len(other)) >= STEM) for one, other in pairs
    )


def test_every_row_is_read() -> None:
    page = (ROOT / "docs/glossary.md").read_text("utf-8")
    assert len(ROWS) == page.count("\n| **") >= 70
    assert len({concept for concept, *_ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("concept", "meaning", "shown", "path"), ROWS, ids=[row[0] for row in ROWS])
def test_concept_is_found_by_the_name_of_its_file(concept: str, meaning: str, shown: str, path: str) -> None:
    assert (ROOT / path).is_file()
    assert path.endswith(shown)
    assert is_found_by_name(concept, shown.partition("/")[2])
    assert meaning.endswith(".")


@pytest.mark.parametrize(("concept", "path"), [("Merge base", "history/log.py"), ("Tag", "branch/view.py")])
def test_other_files_are_not_found(concept: str, path: str) -> None:
    assert not is_found_by_name(concept, path)
