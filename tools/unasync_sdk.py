#!/usr/bin/env python
"""Generate the sync API of the SDK from the async one, or check the generated files.

    python tools/unasync_sdk.py            write sdk/lakebed/_sync
    python tools/unasync_sdk.py --check    compare only; exit code 1 when they differ

It replaces single words from the table below. Code that needs more than another word is in `lakebed._compat`. A check
refuses output that still contains async code.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

import unasync

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "sdk" / "lakebed" / "_async"
TARGET = ROOT / "sdk" / "lakebed" / "_sync"

TABLE = {
    "AsyncIterable": "Iterable",
    "AsyncIterator": "Iterator",
    "AsyncRetrying": "Retrying",
    "_async": "_sync",
    "aclose": "close",
    "aio": "sync",
    "aio_files": "sync_files",
    "aio_http": "sync_http",
    "aiter": "iter",
    "asynccontextmanager": "contextmanager",
    "lakebed.aio": "lakebed",
}

HEADER = """# Generated from sdk/lakebed/_async/{name} by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""
LEFT = re.compile(r"^(async|await|asyncio|anyio|Async\w+|a(close|iter|next|read)\w*|__a(enter|exit|iter|next|wait)__)$")


def translate(source: str) -> str:
    """One file."""
    rule = unasync.Rule("/_async/", "/_sync/", TABLE)
    tokens = unasync.tokenize_rt.src_to_tokens(source)
    return str(unasync.tokenize_rt.tokens_to_src(rule._unasync_tokens(tokens)))


def leftovers(code: str) -> list[str]:
    """Words in code, not in comments or strings, that belong to the async world."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return [f"line {t.start[0]}: {t.string}" for t in tokens if t.type == tokenize.NAME and LEFT.match(t.string)]


def formatted(made: dict[str, str]) -> dict[str, str]:
    """As ruff would leave the files: sorted imports, lines of the right length."""
    with tempfile.TemporaryDirectory() as folder:
        for name, code in made.items():
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(code, encoding="utf-8")
        ours = 'lint.isort.known-first-party=["lakebed"]'  # ruff cannot detect it in another folder
        settings = ["--no-cache", "--quiet", "--config", str(ROOT / "pyproject.toml")]
        for command in (["check", "--fix-only", "--select", "I", "--config", ours], ["format"]):
            subprocess.run([sys.executable, "-m", "ruff", *command, *settings, folder], check=True)
        return {name: Path(folder, name).read_text(encoding="utf-8") for name in made}


def generate() -> dict[str, str]:
    """Return every file of the sync API."""
    made = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        code = translate(path.read_text(encoding="utf-8"))
        if left := leftovers(code):
            raise SystemExit(f"{name}: still async after translation: {', '.join(left)}")
        made[name] = HEADER.format(name=name) + code
    return formatted(made)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare only")
    check = parser.parse_args().check
    made = generate()
    there = {path.relative_to(TARGET).as_posix(): path.read_text(encoding="utf-8") for path in TARGET.rglob("*.py")}
    different = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
    if check:
        for name in different:
            print(f"sdk/lakebed/_sync/{name} differs: run python tools/unasync_sdk.py", file=sys.stderr)
        return 1 if different else 0
    for name in different:
        if name in made:
            (TARGET / name).parent.mkdir(parents=True, exist_ok=True)
            (TARGET / name).write_text(made[name], encoding="utf-8")
        else:
            (TARGET / name).unlink()
        print(f"sdk/lakebed/_sync/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
