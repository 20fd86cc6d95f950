"""`lakebed serve`, `login`, `profile`, `credentials` and `aws-config` as real processes, with the real `aws`."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import lakebed
import pytest
import yaml

from tests.cli.support import Command
from tests.server.serving import Process
from tests.support.processes.server import RunningServer, clean_environment, running_server
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def command(home: Path) -> Command:
    """The command without variables: only the file in this home."""
    return Command({"HOME": str(home)})


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory) as server:
        yield server


def tree(home: Path) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load((home / ".lakebed.yaml").read_text())
    return found


def key_login(command: Command, server: RunningServer, *more: str, code: int = 0) -> str:
    """Log in with an access key, whose secret is on standard input."""
    flags = ("--access-key-id", server.access_key_id, *more)
    return command("login", server.endpoint, *flags, stdin=f"{server.secret_access_key}\n".encode(), code=code).err


def test_from_serve_to_the_first_command(home: Path, command: Command) -> None:
    """Two commands, and nothing to copy."""
    server = Process("--port", "0", "--data-dir", str(home / "data"), HOME=str(home))
    try:
        port = server.ready()
        said = next(line.strip() for line in server.said if "lakebed login" in line)
        done = command.alone(*said.split()[1:])
        assert f"signed in to http://127.0.0.1:{port} as admin" in done.text
        assert command("repo", "create", "first").text
        assert command("repo", "list", "--json").text.count("first") > 0
        assert stat.S_IMODE((home / ".lakebed.yaml").stat().st_mode) == 0o600
    finally:
        assert server.stop() == 0


def test_two_servers(home: Path, command: Command, server: RunningServer, other: RunningServer) -> None:
    key_login(command, server, "--profile", "one")
    note = key_login(command, other, "--profile", "two")
    assert "Use it with --profile two" in note
    with lakebed.connect(other.endpoint, other.access_key_id, other.secret_access_key) as lake:
        lake.repository("only-in-two").create(exist_ok=True)
    listed = command("--profile", "two", "repo", "list", "--json").text
    assert "only-in-two" in listed
    assert "only-in-two" not in command("repo", "list", "--json").text  # the first profile is in use
    assert "only-in-two" in Command({"HOME": str(home), "LAKEBED_PROFILE": "two"})("repo", "list", "--json").text
    rows = command("profile", "list", "--json").json["profiles"]
    assert [(row["profile"], row["endpoint"], row["used"]) for row in rows] == [
        ("one", server.endpoint, True),
        ("two", other.endpoint, False),
    ]
    assert server.secret_access_key not in command("profile", "list").text
    command("profile", "use", "two")
    assert "only-in-two" in command("repo", "list", "--json").text
    assert "is for" in command("--endpoint", server.endpoint, "repo", "list", code=None).err
    command("profile", "remove", "two", "--yes")
    assert list(tree(home)["profiles"]) == ["one"]  # type: ignore[call-overload]
    assert "profile" not in tree(home)
    assert "there is no profile 'two'" in command("--profile", "two", "repo", "list", code=None).err


def test_what_login_refuses(home: Path, command: Command, server: RunningServer, other: RunningServer) -> None:
    wrong = command(
        "login", server.endpoint, "--profile", "p", "--access-key-id", server.access_key_id, stdin=b"x\n", code=None
    )
    assert wrong.code != 0
    assert not (home / ".lakebed.yaml").exists()  # a key that does not work is not stored
    key_login(command, server, "--profile", "p")
    before = (home / ".lakebed.yaml").read_text()
    assert f"is for {server.endpoint}" in command(
        "login", other.endpoint, "--profile", "p", "--access-key-id", other.access_key_id,
        stdin=f"{other.secret_access_key}\n".encode(), code=None,
    ).err  # fmt: skip
    assert (home / ".lakebed.yaml").read_text() == before
    empty = home / "empty.env"
    empty.write_text("LAKEBED_ENDPOINT=http://x\n")
    assert "has no access key" in command("login", "--from-file", str(empty), code=2).err


def test_half_a_key_on_the_command_line(server: RunningServer, home: Path) -> None:
    variables = {**server.environment, "HOME": str(home)}
    secret = variables.pop("LAKEBED_SECRET_ACCESS_KEY")
    half = Command(variables)
    assert half("--secret-access-key", secret, "repo", "list").code == 0
    assert "half of the credentials" in half("repo", "list", code=None).err


def aws(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in clean_environment().items() if not name.startswith("AWS_")}
    here = os.path.dirname(sys.executable)
    return subprocess.run(
        [os.path.join(here, "aws"), *arguments],
        env={**variables, "HOME": str(home), "PATH": f"{here}:{variables['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_the_real_aws(home: Path, server: RunningServer, repo: lakebed.Repository) -> None:
    """`aws` finds the key and the endpoint through the profile, and its own files have no secret."""
    command = Command({"HOME": str(home), "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"})
    key_login(command, server, "--profile", "prod")
    printed = json.loads(command("credentials", "--profile", "prod").text)
    assert printed == {
        "Version": 1,
        "AccessKeyId": server.access_key_id,
        "SecretAccessKey": server.secret_access_key,
    }
    (home / ".aws").mkdir()
    config = home / ".aws" / "config"
    config.write_text(
        "[default]\nregion = eu-west-1\n\n[profile lakebed-prod]\nregion = old\n\n[profile z]\nregion = x\n"
    )
    shown = command("aws-config", "--profile", "prod").text
    assert "[profile lakebed-prod]" in shown
    assert server.secret_access_key not in shown
    command("aws-config", "--profile", "prod", "--write")
    written = config.read_text()
    assert written.count("[profile lakebed-prod]") == 1
    assert "[default]\nregion = eu-west-1" in written
    assert "[profile z]\nregion = x" in written
    assert "old" not in written
    assert server.secret_access_key not in written
    repo.branch("main").put("a/b.txt", b"hello")
    listed = aws(home, "--profile", "lakebed-prod", "s3", "ls", f"s3://{repo.id}/main/a/")
    assert "b.txt" in listed.stdout, listed.stderr
    (home / "up.txt").write_text("from aws")
    copied = aws(home, "--profile", "lakebed-prod", "s3", "cp", str(home / "up.txt"), f"s3://{repo.id}/main/up.txt")
    assert copied.returncode == 0, copied.stderr
    assert repo.branch("main").get("up.txt") == b"from aws"


def test_the_real_aws_with_a_sign_in(home: Path, server: RunningServer, repo: lakebed.Repository) -> None:
    """The profile has a token: `lakebed credentials` gets a temporary key with it."""
    command = Command({"HOME": str(home), "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"})
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        token = lake.session_token().token
    (home / ".lakebed.yaml").write_text(
        yaml.safe_dump({"profiles": {"signed": {"endpoint": server.endpoint, "token": token}}})
    )
    printed = json.loads(command("credentials", "--profile", "signed").text)
    assert {"SessionToken", "Expiration"} <= set(printed)
    command("aws-config", "--profile", "signed", "--name", "mine", "--write")
    repo.branch("main").put("a", b"1")
    listed = aws(home, "--profile", "mine", "s3", "ls", f"s3://{repo.id}/main/")
    assert " a" in listed.stdout, listed.stderr


def test_created_key_uses_the_names_of_the_settings(home: Path, server: RunningServer) -> None:
    """Old scripts read `id` and `secret`; the settings are called `access_key_id` and `secret_access_key`."""
    made = Command({**server.environment, "HOME": str(home)})("key", "create", "--json").json
    assert (made["id"], made["secret"]) == (made["access_key_id"], made["secret_access_key"])


WINDOWS = """
import sys
sys.modules["fcntl"] = None
from lakebed.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve",),
        ("fsck", "sales"),
        ("sweep", "--dry-run"),
        ("rebuild", "--namespace", "local://x"),
        ("keys", "reset-admin"),
    ],
)
def test_verbs_of_the_server_on_windows(arguments: tuple[str, ...], home: Path) -> None:
    """The test imitates Windows by a Python without the file locks of Unix. The command prints one sentence and writes
    nothing.
    """
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS, *arguments],
        env=clean_environment(HOME=str(home)),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode not in (0, None)
    assert "runs on Linux and macOS, not on this system" in done.stderr
    assert "use WSL or a container" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(home.iterdir()) == []


def test_the_client_on_windows(home: Path, server: RunningServer) -> None:
    """Without file locks, the client still logs in and lists."""
    environment = clean_environment(HOME=str(home))
    login = ("login", server.endpoint, "--profile", "p", "--access-key-id", server.access_key_id)
    for arguments, said in (
        (login, f"{server.secret_access_key}\n"),
        (("profile", "list"), ""),
        (("repo", "list"), ""),
    ):
        done = subprocess.run(
            [sys.executable, "-c", WINDOWS, *arguments],
            env=environment,
            input=said,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
