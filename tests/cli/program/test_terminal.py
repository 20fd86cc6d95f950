"""Colours and the pager, on a real terminal and in front of a pipe."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import lakebed
import pytest
from lakebed.cli import terminal

from tests.cli.conftest import Run
from tests.support.processes.server import RunningServer, clean_environment
from tests.support.waiting import PATIENCE

ESCAPE = re.compile(rb"\x1b\[[0-9;]*m")


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    branch = repo.branch("main")
    for number in range(3):
        branch.put(f"f{number}", b"x")
        branch.commit(f"commit number {number}")
    branch.put("g", b"x")
    branch.delete("f0")
    return branch


def on_terminal(
    server: RunningServer, *arguments: str, typed: bytes = b"", more: Mapping[str, str] | None = None
) -> bytes:
    """What a terminal shows. `typed` is sent when the output pauses."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lakebed.cli", *arguments],
        env={**clean_environment(**server.environment), "TERM": "xterm", "LINES": "24", **(more or {})},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown, ends = b"", time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        ready, _, _ = select.select([ours], [], [], 0.5)
        if not ready:
            if process.poll() is not None:
                break
            if typed and shown:
                os.write(ours, typed)
            continue
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    process.kill() if process.poll() is None and time.monotonic() >= ends else process.wait(PATIENCE)
    os.close(ours)
    assert b"Traceback" not in shown, shown
    return shown


def place(branch: lakebed.Branch) -> str:
    return f"{branch.repository.id}/{branch.name}"


def test_colours_on_a_terminal(server: RunningServer, main: lakebed.Branch) -> None:
    shown = on_terminal(server, "--no-pager", "log", "--oneline", place(main))
    assert re.search(rb"\x1b\[33m[0-9a-f]{12}\x1b\[0m  commit number 2", shown)
    shown = on_terminal(server, "diff", place(main), more={"PAGER": "cat"})
    assert b"\x1b[31m- f0\x1b[0m" in shown
    assert b"\x1b[32m+ g\x1b[0m" in shown
    assert b"\x1b[1;31mlakebed:" in on_terminal(server, "log", place(main) + "x")


@pytest.mark.parametrize(("arguments", "name"), [((), "NO_COLOR"), (("--color", "never"), "OTHER"), ((), "TERM")])
def test_no_colours(server: RunningServer, main: lakebed.Branch, arguments: tuple[str, ...], name: str) -> None:
    more = {name: "dumb"}
    shown = on_terminal(server, "--no-pager", "log", "--oneline", place(main), *arguments, more=more)
    assert b"commit number 2" in shown
    assert not ESCAPE.search(shown)


def test_pipe_gets_no_colours_and_no_pager(run: Run, main: lakebed.Branch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_PAGER", "false")
    for words in (("log", place(main)), ("diff", place(main)), ("branch", "list", main.repository.id)):
        assert not ESCAPE.search(run(*words).out)
    always = run("--color", "always", "diff", place(main)).out
    assert always == b"\x1b[31m- f0\x1b[0m\n\x1b[32m+ g\x1b[0m\n"
    assert run("diff", place(main), "--json", "--color", "always").json[0]["path"] == "f0"


def test_the_pager_gets_the_log(server: RunningServer, main: lakebed.Branch, tmp_path: Path) -> None:
    for name in ("LAKEBED_PAGER", "PAGER"):
        shown = on_terminal(server, "log", place(main), more={name: "sed s/^/paged:/"})
        assert shown.count(b"paged:") >= 10
    for words in (("--no-pager",), ("--json",)):
        assert b"paged:" not in on_terminal(
            server, "log", place(main), *words, more={"LAKEBED_PAGER": "sed s/^/paged:/"}
        )
    assert b"paged:" not in on_terminal(
        server, "fs", "cat", place(main) + "/f1", more={"LAKEBED_PAGER": "sed s/^/paged:/"}
    )
    assert b"number 2" in on_terminal(server, "log", place(main), more={"LAKEBED_PAGER": "no-such-pager"})
    assert b"number 2" in on_terminal(server, "log", place(main), more={"LAKEBED_PAGER": ""})


def test_quitting_the_pager_is_not_an_error(server: RunningServer, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put_many({f"{number:05}": b"x" for number in range(9000)})
    shown = on_terminal(server, "diff", place(main), typed=b"q", more={"LAKEBED_PAGER": "less"})
    assert b"00001" in shown
    assert b"08999" not in shown
    assert b"Broken" not in shown
    shown = on_terminal(server, "diff", place(main), more={"LAKEBED_PAGER": "head -2"})
    assert b"00001" in shown


def test_times_of_the_log_are_accepted_as_they_are_printed(run: Run, main: lakebed.Branch) -> None:
    printed = next(line for line in run("log", place(main)).text.splitlines() if line.startswith("date"))
    moment = printed.removeprefix("date").strip()
    assert moment.endswith(" UTC")
    assert len(run("log", place(main), "--since", moment, "--json").json) >= 1
    assert run("log", place(main), "--since", "2999-01-01 00:00:00 UTC", "--json").json == []
    assert run("log", place(main), "--since", "2999-01-01T00:00:00+02:00", "--json").json == []
    assert "is not a time" in run("log", place(main), "--since", "yesterday", code=2).err


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "text/csv"),
        ("a.CSV", "text/csv"),
        ("a.json", "application/json"),
        ("a.parquet", "application/vnd.apache.parquet"),
        ("a", "application/octet-stream"),
        ("x.unknown", "application/octet-stream"),
    ],
)
def test_upload_knows_the_content_type(
    run: Run, repo: lakebed.Repository, tmp_path: Path, name: str, kind: str
) -> None:
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / name).write_bytes(b"1")
    target = f"{repo.id}/main"
    run("fs", "upload", str(tmp_path / "up" / name), f"{target}/one/")
    run("fs", "upload", "-r", str(tmp_path / "up"), f"{target}/many")
    run("fs", "upload", "-", f"{target}/in/{name}", stdin=b"1")
    run("fs", "upload", str(tmp_path / "up" / name), f"{target}/reported/", "--content-type", "text/x-mine")
    main = repo.branch("main")
    assert {main.stat(f"{folder}/{name}").content_type for folder in ("one", "many", "in")} == {kind}
    assert main.stat(f"reported/{name}").content_type == "text/x-mine"


def test_colours_are_decided_for_each_run(run: Run, main: lakebed.Branch) -> None:
    run("--color", "always", "diff", place(main))
    assert terminal._painted == [True]
    run("diff", place(main))
    assert terminal._painted == [False]
