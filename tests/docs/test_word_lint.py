"""The word lint finds the words of CONTRIBUTING.md in text, and only there, and keeps its list of files short."""

from __future__ import annotations

import re

import pytest

from tests.docs.snippets import ROOT
from tools.lint.word_lint import WORDS, check, problems


def words_in(path: str, text: str) -> list[str]:
    return [one.word for one in check(path, text)]


def test_style_guide_lists_the_same_words() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("### The word list")[2]
    rows = [re.sub(r"\(.*?\)", "", row.split("|")[1]) for row in guide.splitlines() if row.startswith("| `")]
    assert sorted(re.findall("`(.+?)`", "".join(rows))) == sorted(WORDS)
    assert len(WORDS) == 29


@pytest.mark.parametrize("word", WORDS)
def test_all_listed_words_are_found(word: str) -> None:
    assert word in words_in("docs/x.md", f"Here: {word} it.")
    assert word in words_in("sdk/x.py", f"# Here: {word} it.\n")


@pytest.mark.parametrize("word", [word for word in WORDS if " " in word])
def test_words_are_found_across_lines(word: str) -> None:
    one, rest = word.split(" ", 1)
    assert word in words_in("sdk/x.py", f"# Here {one}\n    # {rest} it.\n")
    assert word in words_in("sdk/x.py", f'x = (\n    "Here is {one} "\n    f"{rest} {{it}}."\n)\n')


@pytest.mark.parametrize("escape", ["\\n", "\\t", "\\r"])
def test_words_are_found_after_an_escape(escape: str) -> None:
    assert words_in("sdk/x.py", f'x = "It is here:{escape}it{escape}lies there"\n') == ["lies"]


def test_code_and_quotations_are_ignored() -> None:
    text = 'He said "who told" it.\n\n```sh\nnobody\n```\n\n`lies` [page](stands.md) <!-- look -->\n'
    assert words_in("docs/x.md", text) == []


def test_who_after_a_noun_and_look_up_are_allowed() -> None:
    assert words_in("docs/x.md", "The user who owns it can look up keys. It looks like Git.") == []
    assert words_in("docs/x.md", "The rows of who waits. Who comes? It says who.") == ["who", "who"]


def test_findings_have_the_line_of_the_word() -> None:
    (found,) = check("docs/x.md", "One.\n\nTwo\nit lies here.\n")
    assert (found.line, found.word) == (4, "lies")


def test_strings_count_in_products_and_not_in_tests() -> None:
    code = 'def test_nobody_waits():\n    """It lies."""\n    f(f"nobody {x} waits here")\n'
    assert words_in("sdk/x.py", code) == ["nobody", "lies", "nobody"]
    assert words_in("tests/x.py", code) == ["nobody", "lies"]


def test_yaml_descriptions_are_read() -> None:
    assert words_in("openapi.yaml", "a:\n  description: >-\n    Good.\n    It lies.\n  x: nobody\n") == ["lies"]


def test_list_of_pending_files_only_shrinks() -> None:
    dirty = check("README.md", "It lies.")
    assert problems({"README.md": dirty}, ["README.md"]) == []
    assert len(problems({"README.md": dirty}, [])) == 1
    assert len(problems({"README.md": []}, ["README.md"])) == 1
    assert len(problems({}, ["gone.md"])) == 1
