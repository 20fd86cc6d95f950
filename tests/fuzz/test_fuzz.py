"""Changed inputs for each parser, more with LAKEBED_FUZZ_CASES; and broken parsers, which are found out.

`python -m tests.fuzz.run TARGET --start SEED --cases 1` runs one case again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from lakebed_format.decoding import DAMAGE

from tests.fuzz.run import Violation, fuzz
from tests.fuzz.targets import TARGETS
from tests.support.seeds import seed_of_the_engine
from tests.support.sizes import sized

CASES = int(os.environ.get("LAKEBED_FUZZ_CASES", sized(300)))
START = int(os.environ.get("LAKEBED_FUZZ_START", seed_of_the_engine()))


class Run(NamedTuple):
    """What one command with all targets printed: a line for each target that is well, and traces of the others."""

    found: dict[str, dict[str, Any]]
    traces: str


@pytest.fixture(scope="module")
def run() -> Run:
    """Each target in a fork with bounded memory: to import the parsers takes more time than to run the cases."""
    command = [sys.executable, "-m", "tests.fuzz.run", *TARGETS, "--start", str(START), "--cases", str(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode == 0) == (len(rows) == len(TARGETS)), done.stderr[-3000:]
    return Run({row["target"]: row for row in rows}, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_are_a_value_or_the_right_error(
    name: str, run: Run, record_property: Callable[[str, object], None]
) -> None:
    assert name in run.found, run.traces[-3000:]
    found = run.found[name]
    assert found["cases"] == CASES
    assert found["read"] > 0, "no change was small enough to be read"
    assert found.get("refused", 0) > CASES / 5 or not TARGETS[name].errors, "the changes reach nothing"
    record_property(f"changed_{name.replace(' ', '_')}", CASES)


def without(*kinds: type[Exception]) -> tuple[type[Exception], ...]:
    return tuple(kind for kind in DAMAGE if kind not in kinds)


ANYTHING = re.compile(rb"(.*?)(;.*)?", re.DOTALL)

BREAKS: dict[str, tuple[str, object]] = {
    **dict.fromkeys(
        ("ranges", "patches", "layers", "metaranges", "metaranges that carry a patch"),
        ("lakebed_format.decoding.DAMAGE", without(OSError)),
    ),
    **dict.fromkeys(
        ("commits", "ref snapshots", "markers"), ("lakebed_format.decoding.DAMAGE", without(RecursionError))
    ),
    "pushed layers": ("lakebed_engine.operations.direct_writes.bulk_register.DAMAGE", without(OSError)),
    "Delta logs": ("lakebed_engine.operations.merge.delta_log_merge.FOLDER", "_delta_log/0"),
    "XML": ("xml.etree.ElementTree.ParseError", LookupError),
    "aws-chunked": ("lakebed_server.s3.requests.aws_chunked._HEAD", ANYTHING),
    "forms": ("lakebed_server.http.forms.FormParserError", pa.ArrowException),
}


def test_every_parser_has_a_break() -> None:
    assert set(BREAKS) == set(TARGETS)


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_parser_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser maps one exception less, or its pattern accepts anything."""
    monkeypatch.setattr(*BREAKS[name])
    with pytest.raises(Violation, match="seed"):
        fuzz(TARGETS[name], 0, 2000)


OUTLIVES = """
import time
from dataclasses import replace
from tests.fuzz import run
from tests.fuzz.targets import TARGETS

run.HANG = 0.2
target = TARGETS["commits"]
try:
    run.fuzz(replace(target, errors=()), 0, 2000)
except run.Violation:
    time.sleep(0.5)  # longer than a case may take
    print("goes on")
"""


@pytest.mark.slow
def test_a_violation_leaves_no_watchdog_that_ends_the_process() -> None:
    """Such a watchdog ended the run of pytest two minutes later, inside of another test and without a message."""
    command = [sys.executable, "-c", OUTLIVES]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stdout) == (0, "goes on\n"), done.stderr[-3000:]
