"""Every regular expression of the source tree: of calls of `re`, wherever they are, and of openapi.yaml."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
FOLDERS = ("sdk", "server_stub", "generated")
CALLS = frozenset({"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"})
OTHERS = frozenset({"fnmatch", "pathspec", "regex", "glob", "sre_compile"})
USES = CALLS - {"compile"}
_LOOKED_AT = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Attribute, ast.Call)


class Found(NamedTuple):
    """A pattern, where it is, and the method of `re.Pattern` that it is used by."""

    where: str
    pattern: str | bytes
    flags: int
    method: str


class Sources(NamedTuple):
    """What the tree has: patterns, calls of `re` whose pattern is not written there, and other matchers."""

    patterns: list[Found]
    unknown: list[str]
    others: list[str]


def sources(root: Path = ROOT, folders: Iterable[str] = FOLDERS) -> Sources:
    """Read all modules below folders."""
    modules = [
        Module(path.relative_to(root).as_posix(), ast.parse(path.read_text("utf-8")))
        for folder in folders
        for path in sorted((root / folder).rglob("*.py"))
    ]
    uses: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for name, method in module.uses():
            uses[name].add(method)
    every = [module.read(uses) for module in modules]
    return Sources(*([one for found in every for one in found[part]] for part in range(3)))  # type: ignore[arg-type]


def spec_patterns(path: Path = ROOT / "openapi.yaml") -> list[Found]:
    """The patterns of openapi.yaml. The binder searches by them."""
    return list(_spec_patterns(yaml.safe_load(path.read_text("utf-8")), path.name))


def _spec_patterns(node: Any, where: str) -> Iterator[Found]:
    if isinstance(node, dict):
        if node.get("type") == "string" and isinstance(node.get("pattern"), str):
            yield Found(where, node["pattern"], 0, "search")
        for name, value in node.items():
            yield from _spec_patterns(value, f"{where}/{name}")
    elif isinstance(node, list):
        for value in node:
            yield from _spec_patterns(value, where)


class Module:
    """One module: its names of `re`, its constants, and the calls of it."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self._name = name
        self._nodes = [node for node in ast.walk(tree) if isinstance(node, _LOOKED_AT)]  # to walk takes the most time
        self._aliases: dict[str, str] = {}  # of functions of `re`
        self._modules: set[str] = set()
        self._others: list[str] = []
        self._constants: dict[str, ast.expr] = {}
        self._targets: dict[ast.AST, str] = {}
        for node in self._nodes:
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
                self._constants[name] = node.value
                self._targets[node.value] = name

    def _import(self, node: ast.Import) -> None:
        for one in node.names:
            if one.name == "re":
                self._modules.add(one.asname or one.name)
            self._other(one.name)

    def _import_from(self, node: ast.ImportFrom) -> None:
        for one in node.names:
            if node.module == "re" and one.name in CALLS:
                self._aliases[one.asname or one.name] = one.name
            self._other(f"{node.module}.{one.name}")

    def _other(self, name: str) -> None:
        if name.partition(".")[0] in OTHERS or name == "msgspec.Meta":
            self._others.append(f"{self._name}: {name}")

    def uses(self) -> Iterator[tuple[str, str]]:
        """The names whose attribute is one of the methods of a pattern, and the method."""
        for node in self._nodes:
            if isinstance(node, ast.Attribute) and node.attr in USES:
                name = getattr(node.value, "id", getattr(node.value, "attr", ""))
                yield name, node.attr

    def read(self, uses: dict[str, set[str]]) -> Sources:
        """What the module has. `uses`: by which methods names are used, in any module."""
        made = Sources([], [], self._others)
        for node in self._nodes:
            if isinstance(node, ast.Call):
                self._read_call(node, uses, made)
        return made

    def _read_call(self, node: ast.Call, uses: dict[str, set[str]], made: Sources) -> None:
        where = f"{self._name}:{node.lineno}"
        method = self._method(node.func)
        if method:
            pattern = self._text(node.args[0]) if node.args else None
            if pattern is None:
                made.unknown.append(f"{self._name}: re.{method}({ast.unparse(node.args[0]) if node.args else ''})")
                return
            methods = uses.get(self._targets.get(node, ""), set()) or {"search"} if method == "compile" else {method}
            made.patterns.extend(Found(where, pattern, self._flags(node), one) for one in sorted(methods))
        for keyword in node.keywords:
            if keyword.arg == "pattern" and _is_meta(node.func):
                made.patterns.append(Found(where, ast.literal_eval(keyword.value), 0, "search"))
        if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "attr", "") == "str":
            made.others.append(f"{self._name}: .str.{node.func.attr}")

    def _method(self, func: ast.expr) -> str:
        """The function of `re` that is called, or empty."""
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in self._modules:
            return func.attr if func.attr in CALLS else ""
        return self._aliases.get(func.id, "") if isinstance(func, ast.Name) else ""

    def _text(self, node: ast.expr) -> str | bytes | None:
        """The text of a pattern that is written in the module, or None."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            return node.value
        if isinstance(node, ast.Name) and node.id in self._constants:
            return self._text(self._constants[node.id])
        if isinstance(node, ast.JoinedStr):
            return self._join(node.values)
        if isinstance(node, ast.FormattedValue):
            return self._text(node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._join([node.left, node.right])
        return None

    def _join(self, nodes: Iterable[ast.expr]) -> str | bytes | None:
        parts = [self._text(node) for node in nodes]
        if any(part is None for part in parts):
            return None
        return b"".join(parts) if isinstance(parts[0], bytes) else "".join(parts)  # type: ignore[arg-type]

    def _flags(self, node: ast.Call) -> int:
        """The flags in a call."""
        names = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr.isupper()}
        return int(sum(getattr(re, name) for name in names if isinstance(getattr(re, name, None), re.RegexFlag)))


def _is_meta(func: ast.expr) -> bool:
    return getattr(func, "attr", getattr(func, "id", "")) == "Meta"
