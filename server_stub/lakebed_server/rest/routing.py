"""Finds the operation of a path, with a trie over the raw path.

It matches segments as they were sent, so that an encoded slash stays inside its segment. It decodes each parameter
exactly once, after the match (`facts/spec_first.md` 4). Starlette matches decoded paths one by one, which costs 80 us
for 130 routes and loses encoded slashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

from lakebed_server.http.body import unescape
from lakebed_server.vocabulary import RequestError, bad_request

T = TypeVar("T")

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Match(NamedTuple, Generic[T]):
    """The target of a path, and the raw values of its parameters in the order of the path."""

    target: T
    raw: tuple[str, ...]


class Node(Generic[T]):
    """A node for one more segment. `any` is the branch of a parameter. `targets` are the targets by method."""

    __slots__ = ("any", "literals", "targets")

    def __init__(self) -> None:
        self.literals: dict[str, Node[T]] = {}
        self.any: Node[T] | None = None
        self.targets: dict[str, T] = {}


class Trie(Generic[T]):
    """Paths such as `/repositories/{repository}/refs/{ref}/objects`. A literal has priority over a parameter."""

    def __init__(self, routes: Iterable[tuple[str, str, T]]) -> None:
        self._root: Node[T] = Node()
        for method, path, target in routes:
            node = self._root
            for segment in path.split("/")[1:]:
                if segment.startswith("{"):
                    node.any = node.any or Node()
                    node = node.any
                else:
                    node = node.literals.setdefault(segment, Node())
            if method in node.targets:
                raise ValueError(f"two operations for {method} {path}")
            node.targets[method] = target

    def find(self, method: str, path: str) -> Match[T]:
        """The target of a method and a raw path.

        Raises RequestError: 404, 405 with Allow, or 400 for `.`, `..` and a parameter without a value.
        """
        segments = path.split("/")[1:]
        found = self._walk(self._root, segments, 0, method, ())
        if found is not None:
            return found
        allowed = self._methods(self._root, segments, 0)
        if allowed:
            allow = ", ".join(sorted(allowed))
            raise RequestError(
                "method_not_allowed",
                f"{method} is not allowed here; allowed: {allow}",
                ((b"allow", allow.encode()),),
            )
        for segment in segments:
            refuse_dots(segment.replace("%2e", ".").replace("%2E", "."))
        if path.rstrip("/").count("//") or (path.endswith("/") and method not in ("GET", "HEAD")):
            filled = [segment or "x" for segment in segments]
            if self._walk(self._root, filled, 0, method, ()) is not None:
                raise bad_request("the path has an empty part in the place of a name: a name is missing")
        raise RequestError("endpoint_not_found", "invalid API endpoint")

    def _walk(self, node: Node[T], segments: list[str], at: int, method: str, raw: tuple[str, ...]) -> Match[T] | None:
        if at == len(segments):
            target = node.targets.get(method)
            return None if target is None else Match(target, raw)
        segment = segments[at]
        if not segment:
            return None
        literal = node.literals.get(segment)
        if literal is not None:
            found = self._walk(literal, segments, at + 1, method, raw)
            if found is not None:
                return found
        if node.any is None:
            return None
        return self._walk(node.any, segments, at + 1, method, (*raw, segment))

    def _methods(self, node: Node[T], segments: list[str], at: int) -> set[str]:
        if at == len(segments):
            return set(node.targets)
        ways = (node.literals.get(segments[at]), node.any if segments[at] else None)
        return {method for way in ways if way is not None for method in self._methods(way, segments, at + 1)}


def decode_segment(name: str, raw: str) -> str:
    """A path parameter, decoded once: `a%2Fb` is `a/b`, `a%252Fb` is `a%2Fb`.

    Refused with 400: broken escapes (`%zz`), bytes that are not UTF-8, control characters, `.` and `..`.
    """
    if "%" in raw:
        raw = unescape(raw, f"parameter {name}")
    if _CONTROL.search(raw) is not None:
        raise bad_request(f"parameter {name}: control characters are not allowed")
    refuse_dots(raw)
    return raw


def refuse_dots(segment: str) -> None:
    """Refuse `.` and `..`, because proxies and clients rewrite them."""
    if segment in (".", ".."):
        raise bad_request("the path segments . and .. are not allowed")
