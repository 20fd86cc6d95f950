"""docs/architecture.md: its folders exist, and a put, a read, a commit and a merge call the files that it names."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import lakebed
import lakebed_testing
import pytest

from tests.docs.snippets import ROOT, links

PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
SECTIONS: dict[str, str] = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
PATHS = {title: re.findall(r"\| `(\S+\.py)` \|", body) for title, body in SECTIONS.items()}


@contextmanager
def recorded(files: set[str]) -> Iterator[None]:
    """Add the files of this repository whose functions run, in any thread. The sync twin counts as its source."""

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{ROOT}/"):
            files.add(frame.f_code.co_filename.removeprefix(f"{ROOT}/").replace("/_sync/", "/_async/"))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


@pytest.fixture(scope="module")
def called() -> dict[str, set[str]]:
    """The files that each request calls. The server starts inside: its threads are recorded from their start."""
    files: set[str] = set()
    found = {}
    with (
        recorded(files),
        lakebed_testing.server() as server,
        lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake,
    ):
        repo = lake.repository("sales").create("mem://sales")
        main, dev = repo.branch("main"), repo.branch("dev")
        main.put("a", b"1")
        main.commit("load")
        dev.create("main")
        dev.put("b", b"2")
        dev.commit("change")
        requests: dict[str, Callable[[], Any]] = {
            "A put": lambda: main.put("c", b"3"),
            "A read": lambda: main.get("a"),
            "A commit": lambda: main.commit("more"),
            "A merge": lambda: dev.merge_into(main),
        }
        for title, request in requests.items():
            files.clear()
            request()
            found[title] = set(files)
    return found


@pytest.mark.medium
@pytest.mark.parametrize("title", ["A put", "A read", "A commit", "A merge"])
def test_request_calls_the_named_files(title: str, called: dict[str, set[str]]) -> None:
    assert len(PATHS[title]) >= 7
    assert [path for path in PATHS[title] if path not in called[title]] == []


def test_folders_exist() -> None:
    named = re.findall(r"`([\w./]+)`", "".join(re.findall(r"^\| (`.+?) \|", SECTIONS["Folders"], re.MULTILINE)))
    assert len(named) >= 15
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_page_is_linked_from_the_readme_or_the_index_of_decisions() -> None:
    indexes = [ROOT / "README.md", ROOT / "docs/decisions/README.md"]
    linked = {(page.parent / target).resolve() for page in indexes for target, _ in links(page) if target}
    pages = [*(ROOT / "docs").glob("**/*.md"), *(ROOT / "docs").glob("**/*.ipynb")]
    assert len(pages) > 100
    assert sorted(str(page.relative_to(ROOT)) for page in pages if page.resolve() not in linked) == []
