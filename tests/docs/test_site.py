"""The check of the built site finds each kind of fault, and the links of a page lead to the files that the site has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site.check import problems
from tools.site.hooks import outside, pages_of, rewritten

GOOD = (
    '<link rel="canonical" href="https://x.test/"><h1 id="top">x</h1><a href="#top">x</a><a href="https://x.test">x</a>'
)
BAD = {
    '<a href="gone.html">x</a>': "gone.html, which is not on the site",
    '<a href="other.html#gone">x</a>': "other.html has no such anchor",
    '<a href="#gone">x</a>': "a.html has no such anchor",
    '<img src="gone.png">': "gone.png, which is not on the site",
    '<script src="https://cdn.test/x.js"></script>': "loads https://cdn.test/x.js from another host",
    '<script src="//cdn.test/x.js"></script>': "loads //cdn.test/x.js from another host",
    '<link rel="stylesheet" href="https://fonts.test/x.css">': "loads https://fonts.test/x.css from another host",
    '<link rel="preconnect" href="https://fonts.test">': "loads https://fonts.test from another host",
    '<iframe src="https://x.test/"></iframe>': "loads https://x.test/ from another host",
}


@pytest.mark.parametrize("html", BAD)
def test_a_fault_of_the_site_is_found(html: str, tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<h2 id="there">x</h2>')
    (tmp_path / "a.html").write_text(GOOD + '<a href="other.html#there">x</a>')
    assert list(problems(tmp_path)) == []
    (tmp_path / "a.html").write_text(GOOD + html)
    (found,) = problems(tmp_path)
    assert BAD[html] in found


def test_a_stylesheet_that_loads_from_another_host_is_found(tmp_path: Path) -> None:
    (tmp_path / "x.css").write_text(
        '@import "https://x.test/a.css"; a {b: url(data:x)} c {d: url( "//x.test/f.woff2")}'
    )
    assert len(list(problems(tmp_path))) == 2


@pytest.mark.parametrize(
    ("uri", "link", "expected"),
    [
        ("keys.md", "[x](../SECURITY.md#a)", "[x](security-policy.md#a)"),
        ("keys.md", "[x](../openapi.yaml)", "[x](openapi.yaml)"),
        ("keys.md", "[x](access.md#b)", "[x](access.md#b)"),
        ("keys.md", "[x](../sdk/lakebed/errors.py)", "[x](source/sdk/lakebed/errors.py.txt)"),
        ("how-to/x.md", "[x](../../README.md#sixty-seconds)", "[x](../index.md#sixty-seconds)"),
        ("decisions/0001.md", "[x](../keys.md)", "[x](../keys.md)"),
        ("keys.md", "`[x](../README.md)`", "`[x](../README.md)`"),
        ("keys.md", "[x](https://x.test) [x](#here)", "[x](https://x.test) [x](#here)"),
    ],
)  # fmt: skip
def test_links_lead_to_the_files_of_the_site(uri: str, link: str, expected: str) -> None:
    assert rewritten(link, uri) == expected


def test_files_outside_of_docs_are_found() -> None:
    text = "[x](../sdk/lakebed/errors.py) [y](tour.md) [z](../README.md#a) `[c](../code.py)` [o](https://x.test/a.md)"
    assert outside(text, "keys.md") == {"sdk/lakebed/errors.py", "README.md"}
    assert outside("[x](docs/keys.md) [y](openapi.yaml)", "index.md") == {"openapi.yaml"}


def test_a_folder_of_the_navigation_lists_its_pages(tmp_path: Path) -> None:
    (tmp_path / "how-to").mkdir()
    for name in ("b.md", "a.md", "listed.md", "picture.png"):
        (tmp_path / "how-to" / name).touch()
    listed = ["how-to/listed.md", "how-to/", "none/"]
    assert [pages_of(tmp_path, entry, listed) for entry in listed] == [
        ["how-to/listed.md"],
        ["how-to/a.md", "how-to/b.md"],
        [],
    ]
