"""Hooks of MkDocs for the site of the docs (mkdocs.yml names this file).

Pages in docs/ link to files of the repository outside of docs/, as GitHub needs it. The site has these files too:

- README.md is its first page, and CONTRIBUTING.md, CHANGELOG.md and SECURITY.md are pages;
- openapi.yaml keeps its name;
- any other file is below `source/`, as plain text, so that a browser shows it.

The links are rewritten when a page is built. MkDocs reports a link to a file that does not exist.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security-policy.md",
}
KEPT = {"openapi.yaml"}
_LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)(#[^)\s]+)?\)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace each folder in the navigation by its pages, in the order of their names."""
    docs = Path(config.docs_dir)
    for section in config.nav or []:
        for title, entries in section.items():
            if isinstance(entries, list):
                section[title] = [page for entry in entries for page in pages_of(docs, entry, entries)]
    return config


def pages_of(docs: Path, entry: str, listed: list[str]) -> list[str]:
    """The pages of an entry of the navigation: of a folder, the pages without an entry of their own."""
    if not entry.endswith("/"):
        return [entry]
    found = (path.relative_to(docs).as_posix() for path in sorted((docs / entry).glob("*.md")))
    return [page for page in found if page not in listed]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside of docs/ that a page links to."""
    for name, uri in PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    wanted = set(KEPT)
    for file in files.documentation_pages():
        wanted |= outside(file.content_string, file.src_uri)
    for target in sorted(wanted - PAGES.keys()):
        if (ROOT / target).is_file():
            files.append(File.generated(config, _place(target), content=(ROOT / target).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page that lead out of docs/, and those of a page from outside."""
    return rewritten(markdown, page.file.src_uri)


def outside(markdown: str, uri: str) -> set[str]:
    """The files outside of docs/ to which a page links, relative to the root of the repository."""
    targets = {_normal(uri, link[1]) for link in _LINK.finditer(_CODE.sub("", markdown))}
    return {target for target in targets if not target.startswith("docs/")}


def rewritten(markdown: str, uri: str) -> str:
    """The text of a page with the links of the site. Code is left as it is."""

    def link_of_the_site(link: re.Match[str]) -> str:
        place = _place(_normal(uri, link[1]))
        return f"]({os.path.relpath(place, PurePosixPath(uri).parent)}{link[2] or ''})"

    parts = _CODE.split(markdown)
    return "".join(part if number % 2 else _LINK.sub(link_of_the_site, part) for number, part in enumerate(parts))


def _normal(uri: str, target: str) -> str:
    """The file that a link of a page names, relative to the root of the repository."""
    folder = "" if uri in PAGES.values() else PurePosixPath("docs", uri).parent
    return os.path.normpath(os.path.join(folder, target))


def _place(target: str) -> str:
    """The place on the site of a file of the repository."""
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    if target in PAGES or target in KEPT:
        return PAGES.get(target, target)
    return f"source/{target}.txt"
