"""Runs patterns over the texts that are worst for them, in a process of its own: `re` cannot be stopped from within.

Reads patterns as JSON from standard input. Writes the place of each pattern before its run, and the seconds after it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from tests.patterns.backtracking import attacks
from tests.patterns.finding import ROOT, Found

LENGTH = 20_000
"""Characters of each text. A quadratic pattern takes seconds for them, a linear one milliseconds."""


def slow(patterns: Sequence[Found], limit: float, timeout: float) -> list[str]:
    """The places of patterns that took more than `limit` seconds for a text, and of a pattern that never ended."""
    rows = [[one.where, *_as_text(one.pattern), one.flags, one.method] for one in patterns]
    command = [sys.executable, "-m", "tests.patterns.measure"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            out, _ = process.communicate(json.dumps(rows), timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
    lines = [line.split("\t") for line in out.splitlines()]
    if process.returncode > 0:
        raise RuntimeError(f"the measuring process failed: {out[-500:]}")
    ended = {where for where, *seconds in lines if seconds}
    over = {where for where, *seconds in lines if seconds and float(seconds[0]) > limit}
    return sorted(over | ({where for where, *_ in lines} - ended))


def _as_text(pattern: str | bytes) -> tuple[str, bool]:
    return (pattern.decode("latin-1"), True) if isinstance(pattern, bytes) else (pattern, False)


def _run(pattern: str | bytes, flags: int, method: str) -> float:
    """The seconds of the slowest text."""
    compiled: re.Pattern[Any] = re.compile(pattern, flags)
    most = 0.0
    for text in attacks(pattern, flags, method, LENGTH):
        given = text.encode("latin-1", "replace") if isinstance(pattern, bytes) else text
        started = time.process_time()
        if method in ("sub", "subn"):
            getattr(compiled, method)(given[:0], given)
        elif method == "finditer":
            list(compiled.finditer(given))
        else:
            getattr(compiled, method)(given)
        most = max(most, time.process_time() - started)
    return most


if __name__ == "__main__":
    for where, pattern, is_bytes, flags, method in json.load(sys.stdin):
        print(where, flush=True)
        print(where, _run(pattern.encode("latin-1") if is_bytes else pattern, flags, method), sep="\t", flush=True)
