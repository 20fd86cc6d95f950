"""Check a built site: each link, anchor and loaded file exists on it, and no page loads from another host.

python -m tools.site.check build/site
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "embed": "src",
    "object": "data",
}
IN_LINK = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "prefetch", "modulepreload", "manifest"}
"""The kinds of `<link>` for which a browser sends a request or opens a connection."""
_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


class Link(NamedTuple):
    """An address on a page. `loaded`: the browser asks for it without a click."""

    address: str
    loaded: bool


class Read(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values and (name == "id" or tag == "a")}
        if "href" in values and tag in ("a", "area"):
            self.links.append(Link(values["href"], loaded=False))
        elif tag == "link" and "href" in values:
            self.links.append(Link(values["href"], loaded=bool(IN_LINK & set(values.get("rel", "").split()))))
        elif values.get(LOADED.get(tag, "")):
            self.links.append(Link(values[LOADED[tag]], loaded=True))


def problems(site: Path) -> Iterator[str]:
    """The faults of a site, each as a line."""
    pages = {path: Read(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.links:
            if fault := _fault(site, path, link, pages):
                yield f"{path.relative_to(site)}: {fault}"
    for path in sorted(site.rglob("*.css")):
        for found in _URL.findall(path.read_text("utf-8")):
            if _other_host(address := found[0] or found[1]):
                yield f"{path.relative_to(site)}: loads {address} from another host"


def _fault(site: Path, path: Path, link: Link, pages: dict[Path, Read]) -> str:
    parts = urlsplit(link.address)
    if _other_host(link.address):
        return f"loads {link.address} from another host" if link.loaded else ""
    if parts.scheme:  # mailto, data
        return ""
    base = site if parts.path.startswith("/") else path.parent  # 404.html has the addresses of the root
    target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return f"links to {link.address}, which is not on the site"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return f"links to {link.address}: {target.name} has no such anchor"
    return ""


def _other_host(address: str) -> bool:
    return urlsplit(address).scheme in ("http", "https", "ws", "wss") or address.startswith("//")


def main() -> int:
    """Print the problems. Returns 1 if there are any."""
    site = Path(sys.argv[1]).resolve()
    found = list(problems(site))
    print("\n".join(found) or f"{len(list(site.rglob('*.html')))} pages: every link leads somewhere on the site")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
