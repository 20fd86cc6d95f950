"""YAML of untrusted files, as nodes that know their lines.

Users of a repository write these files. So this module reads only one document of plain data, without tags and repeated
keys. It builds the nodes from the events of the parser without recursion, and stops as soon as a file is too deep or
too large. An alias counts as often as it is used.

Plain scalars have the types of YAML 1.2, because it has fewer surprises: `on`, `yes`, `12:30` and `2026-01-01` are
text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

DEEPEST: Final = 30
"""Levels of lists and mappings."""
MOST_WEIGHT: Final = 4 << 20
"""Characters of all texts, and NODE_WEIGHT for each node, with aliases expanded."""
NODE_WEIGHT: Final = 64

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_FLAGS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,100}")
_BASED = re.compile(r"0o[0-7]{1,100}|0x[0-9a-fA-F]{1,100}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,100}|[0-9]{1,100}(?:\.[0-9]{0,100})?)(?:[eE][-+]?[0-9]{1,10})?")
_TEXT_TAG = "tag:yaml.org,2002:str"


class Problem(Exception):
    """An error in a file. `line`: from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text. `plain`: without quotes, so that it may also be null, a flag or a number."""

    text: str
    line: int
    plain: bool


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping. Its keys are texts. `lines`: where each key is."""

    fields: Mapping[str, Node]
    lines: Mapping[str, int]
    line: int


Node = Scalar | Items | Fields


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end is not read yet."""

    line: int
    anchor: str | None
    is_mapping: bool
    children: list[Node] = field(default_factory=list)
    weight: int = NODE_WEIGHT
    height: int = 1


@dataclass(frozen=True, slots=True)
class _Finished:
    """A node with its weight and its number of levels."""

    node: Node
    weight: int
    height: int


def read(text: str) -> Node:
    """Read the only document of a text. Raises Problem."""
    builder = _Builder()
    for event in _events(text):
        builder.take(event)
    if builder.root is None:
        raise Problem("the file is empty", 1)
    return builder.root


def is_null(node: Node) -> bool:
    """Whether a node is null, for example because nothing follows its key."""
    return isinstance(node, Scalar) and node.plain and node.text in _NULLS


def value(node: Node) -> Any:
    """Return the node as plain data that JSON can express. Raises Problem."""
    if isinstance(node, Items):
        return [value(item) for item in node.items]
    if isinstance(node, Fields):
        return {name: value(item) for name, item in node.fields.items()}
    return _plain(node) if node.plain else node.text


def _plain(node: Scalar) -> str | int | float | bool | None:
    text = node.text
    if text in _NULLS:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if not math.isfinite(number):
            raise Problem(f"the number {text[:40]} is too large", node.line)
        return number
    return text


def _events(text: str) -> Iterator[Any]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        position = getattr(error, "position", None)
        line = mark.line + 1 if mark is not None else text.count("\n", 0, position) + 1 if position else 1
        reason = (
            getattr(error, "problem", None) or getattr(error, "reason", None) or "it has a character that YAML forbids"
        )
        raise Problem(f"the file is not YAML: {str(reason)[:200]}", line) from None
    except (ValueError, OverflowError):  # the Python parser raises it for an escape such as \UFFFFFFFF
        raise Problem("the file is not YAML: an escape names no character", 1) from None


class _Builder:
    """Builds nodes from events."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self._open: list[_Open] = []
        self._anchors: dict[str, _Finished] = {}
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark is not None else 1
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise Problem("a second document begins here: one file is one action", line)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor, line)
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._begin(event, line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._end()

    def _alias(self, anchor: str | None, line: int) -> None:
        if anchor is None or anchor not in self._anchors:
            shown = (anchor or "")[:40]
            raise Problem(f"the alias *{shown} has no finished anchor &{shown} before it", line)
        self._add(self._anchors[anchor], line)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if event.tag not in (None, "!", _TEXT_TAG):
            raise Problem(f"the tag {event.tag[:40]} is not supported: write plain data", line)
        try:
            event.value.encode()
        except UnicodeEncodeError:
            raise Problem("a text has half of a surrogate pair, which is not a character", line) from None
        plain = event.tag is None and event.style in (None, "")
        finished = _Finished(Scalar(event.value, line, plain), NODE_WEIGHT + len(event.value), 0)
        self._name(event.anchor, finished)
        self._add(finished, line)

    def _begin(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, line: int) -> None:
        if event.tag not in (None, "!"):
            raise Problem(f"the tag {event.tag[:40]} is not supported: write plain data", line)
        if len(self._open) == DEEPEST:
            raise Problem(f"the file is nested more than {DEEPEST} levels deep", line)
        self._open.append(_Open(line, event.anchor, isinstance(event, yaml.MappingStartEvent)))

    def _end(self) -> None:
        done = self._open.pop()
        node = _mapping(done) if done.is_mapping else Items(tuple(done.children), done.line)
        finished = _Finished(node, done.weight, done.height)
        self._name(done.anchor, finished)
        self._add(finished, done.line)

    def _name(self, anchor: str | None, finished: _Finished) -> None:
        if anchor is not None:
            self._anchors[anchor] = finished

    def _add(self, finished: _Finished, line: int) -> None:
        if not self._open:
            self.root = finished.node
            return
        parent = self._open[-1]
        parent.children.append(finished.node)
        parent.weight += finished.weight
        parent.height = max(parent.height, finished.height + 1)
        if parent.weight > MOST_WEIGHT:
            raise Problem("the file has too many values, or its aliases expand to too many", line)
        if len(self._open) - 1 + parent.height > DEEPEST:
            raise Problem(f"the file is nested more than {DEEPEST} levels deep", line)


def _mapping(done: _Open) -> Fields:
    fields: dict[str, Node] = {}
    lines: dict[str, int] = {}
    merged: list[Node] = []
    for key, item in zip(done.children[::2], done.children[1::2], strict=True):
        if not isinstance(key, Scalar):
            raise Problem("a key of a mapping must be text", key.line)
        if key.plain and key.text == "<<":
            merged += item.items if isinstance(item, Items) else [item]
            continue
        if key.text in fields:
            raise Problem(f"the key {key.text[:80]!r} occurs twice", key.line)
        fields[key.text], lines[key.text] = item, key.line
    for other in merged:
        if not isinstance(other, Fields):
            raise Problem("'<<' merges mappings only", other.line)
        for name, item in other.fields.items():
            if name not in fields:
                fields[name], lines[name] = item, other.lines[name]
    return Fields(fields, lines, done.line)
