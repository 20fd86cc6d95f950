"""Find words that mark a sentence without an actor or with the wrong verb: `python tools/lint/word_lint.py [PATH ...]`.

The words, and what to write instead, are in CONTRIBUTING.md. The lint reads the text that people read: Markdown pages,
the descriptions of openapi.yaml, the Makefile, and of Python files the docstrings, comments, messages and test names.
It ignores code (fenced blocks and `code`), "quotations", and generated files.

Files in `word_lint_pending.txt` are not clean yet. A file that is not on that list must be clean, and a clean file must
not be on it. `--update` removes the clean files from the list; it adds none.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PENDING = ROOT / "tools/lint/word_lint_pending.txt"
GENERATED = ("generated/", "sdk/lakebed/_sync/")
OWN = ("tools/lint/word_lint.py", "tests/docs/test_word_lint.py")
"""These spell the words."""

WORDS = (
    *("told", "tell", "tells", "stand", "stands", "lie", "lies"),
    *("whoever", "whomever", "nobody", "somebody", "those that", "those who", "one that", "one who"),
    *("hear", "hears", "befall", "befalls", "look", "looks", "beside", "anew", "meanwhile"),
    *("at once", "for ever", "so many", "to be had", "who"),
)
_EXCEPT = {"look": r"(?! (?:up|like)\b)", "looks": r"(?! (?:up|like)\b)"}
_NO_NOUN = (
    r"(?<![\w'] )(?<!-)|(?<=\bto )|(?<=\bby )|(?<=\bof )|(?<=\bfor )|(?<=\bas )|(?<=\band )|(?<=\bbut )|(?<=\bor )"
)
"""Before an agentless `who`: the beginning of a sentence or clause, or a word that is not a noun."""


def _pattern(word: str) -> str:
    before = f"(?:{_NO_NOUN})" if word == "who" else ""
    return rf"{before}\b{word.replace(' ', '[ ]')}\b{_EXCEPT.get(word, '')}"


_FOUND = re.compile("|".join(_pattern(word) for word in WORDS), re.IGNORECASE)
_LOOSE = re.compile(
    r"(?:(?<![A-Za-z])|(?<=\\[nrt]))(?:"
    + "|".join(r"[\W_]+(?:[bfru]+\W+)?".join(word.split()) for word in WORDS)
    + ")(?![A-Za-z])",
    re.IGNORECASE,
)
"""Also finds the words in code, across comment signs and quotes. Without a match, a Python file needs no parser."""
_IGNORED = re.compile(
    r"``.+?``|`[^`]*`"  # code
    r'|"[^"\n]{1,400}"|“[^”]{1,400}”'  # quotations
    r"|\]\([^)\s]*\)|<[^>\s]+>|\bhttps?://\S+"  # addresses of links
    r"|<!--.*?-->",
    re.DOTALL,
)
_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2[`~]*$", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


class Passage(NamedTuple):
    """A piece of text and the line on which it begins."""

    line: int
    text: str


class Finding(NamedTuple):
    """One word of the list in one file."""

    path: str
    line: int
    word: str
    around: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.word}: ...{self.around}..."


def _blank(match: re.Match[str]) -> str:
    """As many lines as before, without the text."""
    return " " + "\n" * match[0].count("\n") + "\N{SECTION SIGN} "


def _markdown(text: str) -> Iterator[Passage]:
    text = _FENCE.sub(_blank, text)
    line = 1
    for block in re.split(r"(\n\s*\n)", text):
        yield Passage(line, block)
        line += block.count("\n")


def _is_message(text: str) -> bool:
    return len(_WORD.findall(text)) >= 3 and " " in text.strip()


def _python(text: str, is_test: bool) -> Iterator[Passage]:
    """Comments (neighbouring lines as one passage), strings of three words or more, and names of tests.

    In tests, strings are data: only docstrings count.
    """
    nodes = list(ast.walk(ast.parse(text)))  # once: the walk takes most of the time
    docstrings = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            parts = (str(one.value) if isinstance(one, ast.Constant) else "\N{SECTION SIGN}" for one in node.values)
            if not is_test and _is_message(joined := "".join(parts)):
                yield Passage(node.lineno, joined)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in docstrings or (not is_test and _is_message(node.value)):
                yield Passage(node.lineno, node.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield Passage(node.lineno, node.name.replace("_", " "))
    yield from _comments(text)


def _comments(text: str) -> Iterator[Passage]:
    first, lines, last = 0, [""], -1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != last + 1:
            yield Passage(first, "\n".join(lines))
            first, lines = token.start[0], []
        lines.append(token.string.lstrip("#! "))
        last = token.start[0]
    yield Passage(first, "\n".join(lines))


def _yaml(text: str) -> Iterator[Passage]:
    """Values of `description` and `summary`, and comments."""
    found = re.compile(r"^( *)(?:- )?(?:description|summary): *([^\n]*(?:\n\1 +[^\n]*|\n *(?=\n))*)", re.MULTILINE)
    for one in found.finditer(text):
        yield Passage(text.count("\n", 0, one.start()) + 1, one[2].strip("\"'"))
    for comment in re.finditer(r"^ *# ?(.*)$", text, re.MULTILINE):
        yield Passage(text.count("\n", 0, comment.start()) + 1, comment[1])


def _makefile(text: str) -> Iterator[Passage]:
    for comment in re.finditer(r"(?:^|\s)#+ ?(.*)$", text, re.MULTILINE):
        yield Passage(text.count("\n", 0, comment.start()) + 1, comment[1])


def passages(path: str, text: str) -> Iterator[Passage]:
    """The text in a file that people read."""
    if path.endswith(".md"):
        return _markdown(text)
    if path.endswith(".py"):
        return _python(text, path.startswith("tests/"))
    return _yaml(text) if path.endswith((".yaml", ".yml")) else _makefile(text)


def check(path: str, text: str) -> list[Finding]:
    """The findings in a file. `path` is relative to the repository."""
    findings: list[Finding] = []
    if path.endswith(".py") and _LOOSE.search(text) is None:
        return findings
    for passage in passages(path, text):
        plain = _IGNORED.sub(_blank, passage.text)
        flat = re.sub(r"\s", " ", plain)
        for found in _FOUND.finditer(flat):
            line = passage.line + plain.count("\n", 0, found.start())
            around = " ".join(flat[max(0, found.start() - 40) : found.end() + 40].split())
            findings.append(Finding(path, line, found[0].lower(), around))
    return sorted(findings)


def count_words(path: str, text: str) -> int:
    """The number of words that `check` reads in a file, or would read if it may contain a word of the list."""
    return sum(len(_WORD.findall(_IGNORED.sub(_blank, passage.text))) for passage in passages(path, text))


def files(chosen: Iterable[str]) -> list[str]:
    """The files of the repository that the lint reads, below the chosen paths."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *(chosen or ["."])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        path
        for path in sorted(set(listed.stdout.splitlines()))
        if (path.endswith((".md", ".py")) or path in ("openapi.yaml", "Makefile"))
        and not path.startswith(GENERATED)
        and path not in OWN
        and (ROOT / path).is_file()
    ]


def pending() -> list[str]:
    """The files that are not clean yet."""
    return [line for line in PENDING.read_text("utf-8").splitlines() if line and not line.startswith("#")]


def problems(found: dict[str, list[Finding]], listed: Iterable[str]) -> list[str]:
    """What breaks the rule of the list: findings in other files, and clean files that are on it."""
    listed = set(listed)
    other = [str(one) for path, findings in found.items() if path not in listed for one in findings]
    clean = [path for path in sorted(listed) if path in found and not found[path]]
    gone = [path for path in sorted(listed) if not (ROOT / path).is_file()]
    return [*other, *(f"{path}: clean or gone: `--update` removes it from the list" for path in (*clean, *gone))]


def _update(found: dict[str, list[Finding]]) -> None:
    comments = [line for line in PENDING.read_text("utf-8").splitlines() if line.startswith("#")]
    kept = [path for path in sorted(set(pending())) if (ROOT / path).is_file() and (path not in found or found[path])]
    PENDING.write_text("\n".join([*comments, *kept]) + "\n", "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Print the findings; the exit status."""
    parser = argparse.ArgumentParser(description="Check the words of every text that people read.")
    parser.add_argument("paths", nargs="*", help="files and folders [the whole repository]")
    parser.add_argument("--update", action="store_true", help="remove clean files from the list of pending files")
    chosen = parser.parse_args(arguments)
    paths = [str(Path(path).resolve().relative_to(ROOT)) for path in chosen.paths]
    found = {path: check(path, (ROOT / path).read_text("utf-8")) for path in files(paths)}
    if chosen.update:
        _update(found)
    if paths:  # show everything that is chosen, pending or not
        for findings in found.values():
            print(*findings, sep="\n", end="\n" if findings else "")
    wrong = problems(found, pending())
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"word lint: {sum(map(len, found.values()))} findings in {len(found)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
