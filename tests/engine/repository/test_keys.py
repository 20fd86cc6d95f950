"""Keys are defined in one place: KV keys in `operations.keys`, object keys in `lakebed_format.keys`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import lakebed
import lakebed_engine
import lakebed_format
import lakebed_server
import lakebed_spark
import pytest
from lakebed_engine.operations import keys
from lakebed_format import keys as object_keys

ENGINE = Path(lakebed_engine.__path__[0])
KV_KEYS = ENGINE / "operations" / "keys.py"
OBJECT_KEYS = Path(lakebed_format.__path__[0]) / "keys.py"
PACKAGES = [Path(one.__path__[0]) for one in (lakebed, lakebed_engine, lakebed_format, lakebed_server, lakebed_spark)]

SPELLS_FILES = ENGINE / "operations/repository/sample_files.py"
"""Its bytes are those of PNG files."""

PLAIN_BYTES = {b"", b"\0", b"\n"}
KV_CALLS = {"Put", "Check", "Delete", "absent", "get", "get_many", "scan", "drop_partition", "partitions"}
KV_CALLS |= {"scan_pages", "scan_rows"}
FOLDERS = re.compile(r"_lakebed/|(?<![\w./-])(?:data|workspaces|symlinks)/(?![*\w])")


def literals(tree: ast.AST) -> Iterator[ast.Constant]:
    """Constants that are not docstrings."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in prose)


def kv_keys_in(source: str) -> list[str]:
    """Parts of KV keys that code spells itself."""
    tree = ast.parse(source)
    found = [repr(one.value) for one in literals(tree) if isinstance(one.value, bytes) and one.value not in PLAIN_BYTES]
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _name(call.func) in KV_CALLS and _is_kv(call.func):
            found += [ast.unparse(one) for one in call.args[:2] if isinstance(one, ast.JoinedStr) or _is_text(one)]
    return found


def _name(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _is_kv(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) or ast.unparse(function).rpartition(".")[0].endswith("kv")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.mark.medium
def test_only_keys_py_spells_kv_keys() -> None:
    found = {
        path.relative_to(ENGINE).as_posix(): spelled
        for path in [*ENGINE.glob("operations/**/*.py"), *ENGINE.glob("*.py"), *ENGINE.glob("verbs/*.py")]
        if path not in (KV_KEYS, SPELLS_FILES) and (spelled := kv_keys_in(path.read_text()))
    }
    assert not found


@pytest.mark.parametrize(
    "code",
    ['PREFIX = b"new/"', 'kv.get("new", key)', 'ctx.kv.scan(f"repo/{uid}")', 'Put("new", key, value)', 'at + b"/"'],
)
def test_a_key_that_is_spelled_elsewhere_is_found(code: str) -> None:
    assert kv_keys_in(code)


@pytest.mark.medium
def test_only_keys_py_spells_object_keys() -> None:
    found = {
        str(path): spelled
        for package in PACKAGES
        for path in package.rglob("*.py")
        if path != OBJECT_KEYS
        and (spelled := [one.value for one in literals(ast.parse(path.read_text())) if _is_object_key(one)])
    }
    assert not found


def _is_object_key(one: ast.Constant) -> bool:
    return isinstance(one.value, str) and FOLDERS.search(one.value) is not None


def test_every_prefix_of_a_repository_is_known_to_the_sweep() -> None:
    other = {keys.FIRST_ROW, keys.DROPPED_REPOSITORIES, keys.SCRUB_RESULTS, keys.SCRUB_LEASE, keys.SCRUB_PLACE}
    other |= {keys.STAGED_MARKER, keys.TOKENS_LEASE, keys.EXPIRY_CLOCK_TIME, keys.DELIVERY_ORDER}
    defined = {value for name, value in vars(keys).items() if name.isupper() and isinstance(value, bytes)}
    assert defined == other | set(keys.REPOSITORY_KEYS)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (keys.branch_key("main"), keys.BRANCH_ROWS),
        (keys.METADATA, keys.METADATA),
        (keys.METADATA + b"x", None),
        (keys.part_key("a", 7), keys.PART_ROWS),
        (b"novel/x", None),
        (b"", None),
    ],
)
def test_the_kind_of_a_key(key: bytes, kind: bytes | None) -> None:
    assert keys.kind_of(key) == kind


def test_the_keys_behind_a_kind() -> None:
    assert keys.behind(keys.BRANCH_ROWS) == b"branch0"
    assert keys.branch_key("\U0010ffff") < keys.behind(keys.BRANCH_ROWS)
    assert keys.behind(keys.METADATA) == b"metadata\0"


@pytest.mark.parametrize(
    ("key", "plain"),
    [
        ("a", True),
        ("orders/2026/ü.parquet", True),
        ("x" * 255, True),
        ("x" * 256, False),
        ("ü" * 128, False),
        ("a//b", False),
        ("/a", False),
        ("a/", False),
        ("a/../b", False),
        ("a/..b", True),
        ("a/.lakebed-tmp/b", False),
        ("a/x.lakebed-tmp", True),
        ("tab\t", False),
        ("c1\x85", False),
        ("nbsp\xa0", True),
    ],
)
def test_plain_keys(key: str, plain: bool) -> None:
    from lakebed._direct import directory

    assert object_keys.is_plain(key.encode()) is plain
    assert directory.is_plain(key) is plain
