"""Completion in real shells: the user's own repositories, branches, tags and paths, by one bounded cached request."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import lakebed
import pytest

from tests.cli.conftest import Run
from tests.support.processes.nursery import ended
from tests.support.processes.server import RunningServer, clean_environment
from tests.support.services import debian
from tests.support.waiting import PATIENCE


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    branch = repo.branch("main")
    branch.put_many({"orders/june.csv": b"1", "orders/july 2.csv": b"2", "notes.txt": b"n"})
    branch.commit("first")
    repo.branch("maintenance").create("main")
    repo.tag("march").create("main")
    return branch


@pytest.fixture
def environment(server: RunningServer, tmp_path: Path) -> dict[str, str]:
    """A home of its own, and `lakebed` on the path."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "lakebed"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m lakebed.cli "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    kept = clean_environment(**server.environment, HOME=str(tmp_path), PATH=path, TERM="xterm", PS1="ready> ")
    return {name: value for name, value in kept.items() if not name.startswith("XDG_") and name != "ZDOTDIR"}


def candidates(run_in: dict[str, str], *words: str) -> list[str]:
    """What the command offers for the last word, as the scripts of shells ask it."""
    asked = {"_LAKEBED_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["lakebed", *words])}
    done = ended([], {**run_in, **asked, "COMP_CWORD": str(len(words))}, PATIENCE, kind="client")
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_names_of_the_user(environment: dict[str, str], main: lakebed.Branch) -> None:
    name = main.repository.id
    assert candidates(environment, "branch", "list", name[:-2]) == [name]
    assert candidates(environment, "log", name[:-2]) == [f"{name}/"]
    assert candidates(environment, "branch", "show", f"{name}/mai") == [f"{name}/main", f"{name}/maintenance"]
    assert candidates(environment, "log", f"{name}/ma") == [f"{name}/{ref}" for ref in ("main", "maintenance", "march")]
    assert candidates(environment, "fs", "ls", f"{name}/main/o") == [f"{name}/main/orders/"]
    assert candidates(environment, "fs", "cat", f"{name}/main/orders/ju") == [
        f"{name}/main/orders/july 2.csv",
        f"{name}/main/orders/june.csv",
    ]
    assert candidates(environment, "diff", f"{name}/main", "mar") == ["march"]
    assert candidates(environment, "branch", "show", f"{name}/main/o") == []
    assert "switch" in candidates(environment, "sw")


def test_completion_prints_nothing_without_a_server(environment: dict[str, str], main: lakebed.Branch) -> None:
    gone = {**environment, "LAKEBED_ENDPOINT": "http://127.0.0.1:9"}
    assert candidates(gone, "log", "a") == []
    assert candidates({**environment, "LAKEBED_SECRET_ACCESS_KEY": "wrong"}, "log", "a") == []
    none = {key: value for key, value in environment.items() if not key.startswith("LAKEBED_")}
    assert candidates(none, "log", "a") == []


def test_names_are_kept_for_a_while(environment: dict[str, str], main: lakebed.Branch, tmp_path: Path) -> None:
    name = main.repository.id
    assert candidates(environment, "branch", "show", f"{name}/late") == []
    main.repository.branch("later").create("main")
    assert candidates(environment, "branch", "show", f"{name}/late") == []
    folder = tmp_path / ".cache" / "lakebed" / "completion"
    assert folder.stat().st_mode & 0o077 == 0
    for file in folder.iterdir():
        past = time.time() - 60
        os.utime(file, (past, past))
    assert candidates(environment, "branch", "show", f"{name}/late") == [f"{name}/later"]


class Shell:
    """An interactive shell on a terminal."""

    def __init__(self, environment: dict[str, str], *command: str) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)

    def type(self, text: str, until: str) -> str:
        """Send keys, and wait until the terminal shows a text."""
        os.write(self._ours, text.encode())
        shown, ends = "", time.monotonic() + PATIENCE
        while until not in shown and time.monotonic() < ends:
            if select.select([self._ours], [], [], 0.2)[0]:
                shown += os.read(self._ours, 65536).decode(errors="replace")
        assert until in shown, shown
        return shown

    def end(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self._ours)


def completes(shell: Shell, name: str) -> None:
    """Type beginnings and TAB, and read what the line becomes."""
    shell.type(f"lakebed branch show {name[:-3]}\t", name[-3:] + "/")
    shell.type("maint\t", "enance")
    shell.type("\x15", "")
    shell.type(f"lakebed fs cat {name}/main/or\t", "ders/")
    shell.type("june\t", ".csv")
    shell.type("\x15", "")
    assert "zzz " not in shell.type(f"lakebed branch show {name}/zzz\t|", "|")
    shell.type("\x15", "")


def installed(run: Run, shell: str, monkeypatch: pytest.MonkeyPatch, home: Path) -> str:
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    return run("completion", "install").text


def test_bash(
    run: Run, environment: dict[str, str], main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".bashrc").write_text("PS1='ready> '\nbind 'set enable-bracketed-paste off'")
    assert "Completion for bash" in installed(run, "bash", monkeypatch, tmp_path)
    shell = Shell(environment, "/bin/bash", "-i")
    try:
        shell.type("", "ready>")
        completes(shell, main.repository.id)
    finally:
        shell.end()


def test_zsh(
    run: Run, environment: dict[str, str], main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = debian.program("zsh", "zsh")
    (tmp_path / ".zshrc").write_text("PS1='ready> '\nunsetopt zle_bracketed_paste prompt_sp\n")
    installed(run, "zsh", monkeypatch, tmp_path)
    shell = Shell(environment, program, "-i")
    try:
        shell.type("", "ready>")
        completes(shell, main.repository.id)
    finally:
        shell.end()


def test_fish(
    run: Run, environment: dict[str, str], main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = debian.program("fish", "fish")
    installed(run, "fish", monkeypatch, tmp_path)
    name = main.repository.id
    for line, wanted in (
        (f"lakebed branch show {name[:-3]}", f"{name}/"),
        (f"lakebed branch show {name}/maint", f"{name}/maintenance"),
        (f"lakebed fs cat {name}/main/orders/june", f"{name}/main/orders/june.csv"),
    ):
        done = subprocess.run(
            [program, "-c", f"complete -C '{line}'"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        assert wanted in [one.partition("\t")[0] for one in done.stdout.splitlines()]


def test_install_leaves_the_rest_of_the_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = tmp_path / ".bashrc"
    start.write_text("alias a=b")
    installed(run, "bash", monkeypatch, tmp_path)
    once = start.read_text()
    assert once.startswith("alias a=b\n# >>> lakebed completion >>>\n")
    installed(run, "bash", monkeypatch, tmp_path)
    assert start.read_text() == once
    start.write_text(once + "alias c=d\n")
    run("completion", "uninstall", "bash")
    assert start.read_text() == "alias a=b\nalias c=d\n"
    assert not (tmp_path / ".local/share/lakebed/completion.bash").exists()
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "name your shell" in run("completion", "install", code=2).err
    assert run("completion", "show", "zsh").text.startswith("#compdef lakebed")
