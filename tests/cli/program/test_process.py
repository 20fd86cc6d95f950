"""The command as a process: streams, signals, start-up, and what it says when there is no server."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import lakebed
import pytest
from lakebed._bulk import progress_bar as progress
from lakebed.cli import addons, main
from lakebed_format.installation import install_command

from tests.cli.conftest import Run
from tests.cli.support import Command
from tests.support.processes.server import RunningServer, clean_environment
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

UNREACHABLE = {
    "LAKEBED_ENDPOINT": "http://127.0.0.1:9",
    "LAKEBED_ACCESS_KEY_ID": "AKIDOFMINE",
    "LAKEBED_SECRET_ACCESS_KEY": "the-secret-of-mine",
}


def test_version() -> None:
    assert Command({}).alone("--version").text == f"lakebed {lakebed.__version__}\n"


def test_no_arguments_show_the_help() -> None:
    for arguments in ([], ["repo"]):
        assert Command({}).alone(*arguments, code=2).err.startswith("Usage: lakebed")


def test_help_is_light() -> None:
    code = (
        "import sys; from lakebed.cli.main import run; code = run(['--help']);"
        "heavy = {'pandas', 'pyarrow', 'numpy', 'httpx', 'rich', 'starlette', 'fsspec'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=clean_environment())
    assert done.returncode == 0, done.stderr.decode()
    assert b"serve" in done.stdout


def test_a_verb_imports_no_pandas(server: RunningServer) -> None:
    code = (
        "import sys; from lakebed.cli.main import run; code = run(['repo', 'list']);"
        "heavy = {'pandas', 'pyarrow', 'numpy'} & set(sys.modules); sys.exit(f'imported {heavy}' if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, env=clean_environment(**server.environment)
    )
    assert done.returncode == 0, done.stderr.decode()


LOADED = (
    "__main__", "click*", "urllib3*",
    "lakebed", "lakebed.cli*", "lakebed.errors", "lakebed.model", "lakebed._bulk*", "lakebed._checks",
    "lakebed._compat*", "lakebed._gateway*", "lakebed._http*", "lakebed._lazy", "lakebed._model*", "lakebed._process*",
    "lakebed._render*", "lakebed._settings*", "lakebed._values*", "lakebed._version",
    "lakebed._sync", "lakebed._sync.handles", "lakebed._sync.handles.lake", "lakebed._sync.handles.repository*",
    "lakebed._sync.http*", "lakebed._sync.objects",
    "lakebed_api", "lakebed_api.api", "lakebed_api.api.branches*", "lakebed_api.errors", "lakebed_api.types",
)  # fmt: skip
"""What `lakebed branch list` may import besides the standard library: `x*` is the package `x` and its modules."""


def test_branch_list_loads_only_what_it_needs(server: RunningServer) -> None:
    """Each module takes time at the start of a command: a new one belongs here only if this command needs it."""
    Command(server.environment)("repo", "create", "light", "local://light")
    code = "import sys; from lakebed.cli.main import run; run(['branch', 'list', 'light']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment(**server.environment),
    )
    listed, modules = done.stdout.splitlines()
    assert listed.endswith("main")
    known = {*sys.stdlib_module_names, "_distutils_hack"}  # setuptools loads that in every process of its environment
    foreign = {name for name in modules.split() if name.partition(".")[0] not in known}
    assert {name for name in foreign if not any(fnmatchcase(name, pattern) for pattern in LOADED)} == set()
    assert {pattern for pattern in LOADED if not any(fnmatchcase(name, pattern) for name in foreign)} == set()


def test_unreachable_server_exits_with_7() -> None:
    result = Command(UNREACHABLE).alone("repo", "list", "--retries", "0", code=7)
    assert "127.0.0.1:9" in result.err
    assert "lakebed serve" in result.err
    reported = Command(UNREACHABLE)("--json", "--retries", "0", "repo", "list", code=7).error
    assert reported["kind"] == "store_unavailable"


def test_missing_settings_exit_with_2(tmp_path: Path) -> None:
    result = Command({"HOME": str(tmp_path)}).alone("repo", "list", code=2)
    assert "LAKEBED_ENDPOINT" in result.err
    assert "doctor" in result.err


def test_wrong_credentials_exit_with_6(command: Command) -> None:
    result = command("repo", "list", "--access-key-id", "nobody", "--secret-access-key", "wrong-secret", code=6)
    assert "doctor" in result.err
    assert "wrong-secret" not in result.err


def test_global_options_work_before_and_after_the_verb(command: Command) -> None:
    assert isinstance(command("--json", "repo", "list").json, list)
    assert isinstance(command("repo", "list", "--json").json, list)
    assert command("repo", "list", "--endpoint", "http://127.0.0.1:9", "--retries", "0", code=7)


def test_errors_of_the_command_line_are_json_too(command: Command) -> None:
    assert command("repo", "list", "--nonsense", "--json", code=2).error["kind"] == "usage"


def test_debug_shows_the_traceback() -> None:
    process = Command(UNREACHABLE).start("repo", "list", "--retries", "0", "--debug")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 7
    assert b"Traceback" in err


def test_doctor_of_a_good_connection(command: Command, server: RunningServer) -> None:
    result = command("doctor")
    assert result.text.count("[ok]") == 3
    assert server.secret_access_key not in result.text
    assert server.access_key_id not in result.text
    report = command.alone("doctor", "--json").json
    assert report["ok"] is True
    assert {one["check"] for one in report["checks"]} == {"connection", "credentials", "version"}
    assert report["versions"]["server"] == "installed"


def test_doctor_of_a_bad_one(command: Command, tmp_path: Path) -> None:
    text = Command(UNREACHABLE)("doctor", "--retries", "0", code=7).text
    assert "[FAILED] connection" in text
    assert "the-secret-of-mine" not in text
    assert "[FAILED] credentials" in command("doctor", "--access-key-id", "x", "--secret-access-key", "y", code=6).text
    nothing = Command({"HOME": str(tmp_path)})("doctor", "--json", code=2).json
    assert nothing["ok"] is False
    assert str(tmp_path) not in json.dumps(nothing)


def test_doctor_warns_of_misspelled_settings(server: RunningServer) -> None:
    command = Command({**server.environment, "LAKEBED_ENDPONT": "x"})
    advice = "the variable LAKEBED_ENDPONT is not read by Lakebed; did you mean LAKEBED_ENDPOINT?"
    result = command("doctor")
    assert f"[WARNING] settings: {advice}" in result.text
    assert result.err == f"lakebed: warning: {advice}\n"
    assert command("doctor", "--json").json["warnings"] == [advice]


def test_config_show(tmp_path: Path) -> None:
    environment = {**UNREACHABLE, "LAKEBED_LISTEN_PORT": "7", "LAKEBED_AUTH_SECRET_KEY": "a-secret-of-the-server"}
    command = Command(environment)
    rows = command("config", "show", "--retries", "1").text.splitlines()
    shown = [row.split() for row in rows]
    assert ["endpoint", "http://127.0.0.1:9", "environment", "LAKEBED_ENDPOINT"] in shown
    assert ["secret_access_key", "********", "environment", "LAKEBED_SECRET_ACCESS_KEY"] in shown
    assert ["retries", "1", "argument"] in shown
    assert ["listen.port", "7", "environment", "LAKEBED_LISTEN_PORT"] in shown
    report = command("config", "show", "--json").json
    assert report["client"][0]["key"] == "endpoint"
    host = {"key": "listen.host", "value": "127.0.0.1", "source": "default", "shown": "127.0.0.1"}
    assert host in report["server"]
    for secret in ("the-secret-of-mine", "a-secret-of-the-server"):
        assert secret not in "".join(rows) + str(report)


def test_config_show_reports_invalid_settings(tmp_path: Path) -> None:
    (tmp_path / ".lakebed.yaml").write_text("endpoint: 7\n")
    command = Command({"HOME": str(tmp_path)})
    broken = command("config", "show", "--json").json
    assert broken["client"] == []
    assert broken["problem"].startswith("`endpoint` in ")
    (tmp_path / "server.yaml").write_text("nope: 1\n")
    assert "unknown key nope" in command("config", "show", "--config", str(tmp_path / "server.yaml"), code=2).err


def test_closed_pipe_is_not_an_error(command: Command, repo: lakebed.Repository) -> None:
    repo.branch("main").put("big", b"x" * (8 << 20))
    process = command.start("fs", "cat", f"{repo.id}/main/big")
    assert process.stdout is not None
    assert process.stderr is not None
    with process, process.stderr:
        assert process.stdout.read(10) == b"x" * 10
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=PATIENCE) == 141


def test_no_progress_without_a_terminal(command: Command, repo: lakebed.Repository, file: Path) -> None:
    assert command.alone("fs", "upload", str(file), f"{repo.id}/main/a").err == ""


def test_progress_on_a_terminal_when_it_takes_a_while(command: Command, repo: lakebed.Repository) -> None:
    with _on_a_terminal(command, "fs", "upload", "-", f"{repo.id}/main/slow") as (process, screen):
        assert process.stdin is not None
        process.stdin.write(b"begin")
        process.stdin.flush()
        assert b"uploading" in _read_until(screen, b"uploading")
        process.stdin.close()
        _read_until(screen, None)
    assert process.returncode == 0
    assert repo.ref("main").get("slow") == b"begin"


def test_no_progress_when_it_is_quick(command: Command, repo: lakebed.Repository, file: Path) -> None:
    upload = ("fs", "upload", str(file), f"{repo.id}/main/quick")
    with _on_a_terminal(command, *upload, bar_after=3600.0) as (process, screen):
        assert _read_until(screen, None) == b""
    assert process.returncode == 0
    assert repo.ref("main").exists("quick")


@contextmanager
def _on_a_terminal(
    command: Command, *arguments: str, bar_after: float = progress.PATIENCE
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The command with its standard error on a terminal, and the other end of that.

    `bar_after`: a call of fewer seconds shows no bar. On a busy machine no call ends within the default.
    """
    screen, terminal = pty.openpty()
    program = (
        "from lakebed._bulk import progress_bar as progress; from lakebed.cli.main import main;"
        f"progress.PATIENCE = {bar_after}; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env=clean_environment(**command.environment, TERM="xterm"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
    )
    os.close(terminal)
    try:
        with process:
            yield process, screen
    finally:
        os.close(screen)


def _read_until(screen: int, wanted: bytes | None) -> bytes:
    """What is shown until `wanted` is; None: until the end."""
    seen = b""
    deadline = time.monotonic() + PATIENCE
    while wanted is None or wanted not in seen:
        assert time.monotonic() < deadline, seen
        if not select.select([screen], [], [], 0.1)[0]:
            continue
        try:
            chunk = os.read(screen, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not chunk:
            break
        seen += chunk
    return seen


def test_ctrl_c_leaves_nothing_half_written(command: Command, repo: lakebed.Repository) -> None:
    process = command.start("fs", "upload", "-", f"{repo.id}/main/never", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stderr is not None
    with process:
        process.stdin.write(b"x" * 100_000)
        process.stdin.flush()  # more than a pipe holds: it returns when the upload has begun
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 130
        assert process.stderr.read() == b"\ninterrupted\n"
    assert not repo.ref("main").exists("never")


_READS = """
from lakebed.cli.objects.standard_input import standard_input
with standard_input() as file:
    while True:
        try:
            print("reads", flush=True)
            file.read(1 << 30)
            break
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""


def test_ctrl_c_between_two_reads_of_standard_input() -> None:
    """A signal that comes just before a read would be handled after the next bytes only: in most of these rounds."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _READS], **pipes) as process:  # type: ignore[call-overload]
        try:
            for _ in range(100):
                assert process.stdout.readline() == b"reads\n"
                process.stdin.write(b"x" * 100_000)
                process.stdin.flush()  # more than a pipe holds: it returns between two reads
                process.send_signal(signal.SIGINT)
                assert select.select([process.stdout], [], [], PATIENCE)[0], "the signal was missed"
                assert process.stdout.readline() == b"interrupted\n"
            process.stdin.close()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def test_ctrl_c_in_the_middle_of_many(command: Command, repo: lakebed.Repository, tmp_path: Path) -> None:
    repo.branch("main").put_many({f"f/{number}": b"x" * (4 << 20) for number in range(12)})
    process = command.start("fs", "download", "-r", f"{repo.id}/main/f", str(tmp_path / "out"))
    out = tmp_path / "out"
    wait_until(out.exists, "the download has begun")
    with process:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, 130)
    for file in out.iterdir():
        assert not file.name.endswith(".part")
        assert file.stat().st_size == 4 << 20


def test_server_verbs_exist() -> None:
    assert "--data-dir" in Command({}).alone("serve", "--help").text
    assert "show" in Command({})("config", "--help").text
    for verb in ("serve", "fsck", "sweep", "rebuild"):
        error = json.loads(Command({})(verb, "--no-such-option", "--json", code=2).err)["error"]
        assert (error["kind"], error["exit_code"]) == ("usage", 2)


def test_missing_server_package_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def load(self) -> None:
            raise ModuleNotFoundError("No module named 'msgspec'", name="msgspec")

    monkeypatch.setattr(addons, "entry_points_of", lambda group: [Broken()])
    for verb in ("serve", "fsck", "keys"):
        error = run(verb, "--port", "1", code=1).err
        assert error == (
            f"lakebed: `lakebed {verb}` needs the server, which is not installed: {install_command('server')}\n"
        )
    assert main.run(["--help"]) == 0


def test_upload_reports_skipped_files_in_a_single_line(
    server: RunningServer, repo: lakebed.Repository, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("1")
    (tmp_path / "broken").symlink_to(tmp_path / "nothing")
    done = subprocess.run(
        [sys.executable, "-m", "lakebed.cli", "upload", str(tmp_path), f"{repo.id}/main/t", "-m", "up"],
        capture_output=True,
        check=False,
        env=clean_environment(**server.environment),
        text=True,
    )
    assert done.returncode == 0, done.stderr
    left = [line for line in done.stderr.splitlines() if "skipped" in line]
    assert left == [f"lakebed: 1 in {tmp_path} skipped (links to directories, broken links or special files): 'broken'"]
