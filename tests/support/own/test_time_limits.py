"""A test that hangs fails at its time limit, with the stacks of all threads, also after a fork and with signals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.time_limits import SOAK_LIMIT, add_limit
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[3]

HANGING = """
import os, signal, threading

def wait_in_a_thread():
    threading.Event().wait()

def wait_in_the_test():
    threading.Event().wait()

def test_hangs():
    if os.fork() == 0:
        os._exit(0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    threading.Thread(target=wait_in_a_thread, daemon=True).start()
    wait_in_the_test()
"""


@pytest.mark.slow
def test_hanging_test_fails_with_the_stacks_of_all_threads(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING)
    options = ["-c", str(ROOT / "pyproject.toml"), "--timeout", "1", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path / "test_hanging.py")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    shown = done.stdout + done.stderr
    assert "in wait_in_a_thread" in shown
    assert "in wait_in_the_test" in shown


def test_every_test_has_a_limit_that_allows_two_waits(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) > 2 * PATIENCE


def test_soak_tests_have_a_longer_limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for tier, limits in (("test", []), ("soak", [SOAK_LIMIT])):
        monkeypatch.setenv("LAKEBED_TIER", tier)
        item = pytest.Function.from_parent(request.node.parent, name="example", callobj=lambda: None)
        add_limit(item)
        assert [mark.args[0] for mark in item.iter_markers("timeout")] == limits
