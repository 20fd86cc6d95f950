"""`tools/jobs.py`: what a tier of tests reports."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tools.jobs import Ended, main, report, run_all, slowest

pytestmark = pytest.mark.slow

PYTEST = """..
============================= slowest 15 durations =============================
12.50s call     tests/a/test_b.py::test_c[one two]
0.75s setup    tests/a/test_b.py::test_c[one two]
(3 durations < 0.005s hidden.  Use -vv to show these durations.)
"""


def test_all_jobs_run_when_one_fails() -> None:
    code = {"good": "print('fine')", "bad": "print('broken'); raise SystemExit(3)", "last": "print('also')"}
    ended = run_all(list(code), 1, lambda name: [sys.executable, "-c", code[name]])
    assert [(one.name, one.code, one.output) for one in ended] == [
        ("good", 0, "fine\n"),
        ("bad", 3, "broken\n"),
        ("last", 0, "also\n"),
    ]
    assert report(ended, 1.0).endswith("FAILED: bad")
    assert report(ended[:1], 1.0).endswith("all 1 jobs passed")


def test_time_of_the_processors_is_measured() -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    (ended,) = run_all(["busy"], 1, lambda _: [sys.executable, "-c", busy])
    assert 0.3 <= ended.cpu <= ended.seconds * 2


def test_a_process_that_outlives_its_job_is_not_waited_for() -> None:
    """Servers of a killed test do this: they keep the output open."""
    script = f"import subprocess; subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(16)'])"
    started = time.monotonic()
    (ended,) = run_all(["parent"], 1, lambda _: [sys.executable, "-W", "ignore", "-c", script])
    assert ended.code == 0
    assert time.monotonic() - started < 15


def test_slowest_tests_of_all_jobs() -> None:
    jobs = [Ended("one", 0, 20.0, 10.0, PYTEST), Ended("two", 0, 9.0, 3.0, "3.00s teardown x.py::test_y\n")]
    assert slowest(jobs) == [
        (12.5, "one: tests/a/test_b.py::test_c[one two] (call)"),
        (3.0, "two: x.py::test_y (teardown)"),
        (0.75, "one: tests/a/test_b.py::test_c[one two] (setup)"),
    ]
    assert "      20 s       10 s  one" in report(jobs, 21.0)


def test_jobs_that_run_alone_come_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "make"
    fake.write_text(f'#!/bin/sh\nsleep 0.2\necho "$2" >> {tmp_path}/order\n')
    fake.chmod(0o755)
    monkeypatch.setenv("MAKE", str(fake))
    assert main(["--alone", "measured", "all of it", "one", "two"]) == 0
    assert (tmp_path / "order").read_text().split()[-1] == "measured"
