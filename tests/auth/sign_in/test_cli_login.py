"""`lakebed login` and `lakebed logout` as processes, with a program in the place of the browser."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError

import httpx
import pytest
import yaml
from lakebed.cli.admin.code_receiver import CodeReceiver
from lakebed.errors import AuthenticationError

from tests.auth.provider import CLIENT, CLIENT_SECRET, Provider, running_provider
from tests.cli.support import Command
from tests.support.processes.server import RunningServer, clean_environment, running_server
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow

BROWSER = """
import sys, httpx
with httpx.Client(follow_redirects=True, timeout=60) as browser:
    browser.get(sys.argv[1]).raise_for_status()
"""


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    environment = {
        "LAKEBED_AUTH_OIDC_ISSUER": provider.issuer,
        "LAKEBED_AUTH_OIDC_CLIENT_ID": CLIENT,
        "LAKEBED_AUTH_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "LAKEBED_AUTH_OIDC_DEFAULT_GROUPS": "Viewers",
    }
    with running_server(tmp_path_factory, environment=environment) as running:
        yield running


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lakebed.yaml"


@pytest.fixture
def run(file: Path, tmp_path: Path) -> Command:
    """The command, whose browser follows each redirect to its end. Without a file of settings at first."""
    browser = tmp_path / "browser.py"
    browser.write_text(BROWSER)
    file.write_text("")
    environment = clean_environment(
        LAKEBED_CONFIG_FILE=str(file), BROWSER=f"{sys.executable} {browser} %s", HOME=str(tmp_path)
    )
    return Command(environment)


def test_login_by_the_browser_and_logout(run: Command, server: RunningServer, file: Path) -> None:
    file.write_text("# mine\nca_file: ''\n")
    said = run("login", server.endpoint)
    assert said.text == f"You are signed in to {server.endpoint} as ana@example.com.\n"
    stored = yaml.safe_load(file.read_text())
    assert stored["endpoint"] == server.endpoint
    assert file.read_text().startswith("# mine\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run("repo", "list").code == 0
    refused = run("repo", "create", "new", "local://new", code=None)
    assert "needs fs:CreateRepository on repository/new" in refused.err
    assert stored["token"] not in run("config", "show").text + run("doctor").text + said.err
    assert run("logout").text == "You are signed out.\n"
    assert "token" not in yaml.safe_load(file.read_text())
    file.write_text(f"endpoint: {server.endpoint}\ntoken: {stored['token']}\n")
    assert "the sign-in has expired: run `lakebed login`" in run("repo", "list", code=None).err


def test_login_without_a_browser_asks_for_the_code(run: Command, server: RunningServer, file: Path) -> None:
    with run.start("login", server.endpoint, "--no-browser", stdin=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"Open this address" in process.stderr.readline()
        address = process.stderr.readline().decode().strip()
        with httpx.Client(follow_redirects=True) as browser:
            page = browser.get(address).text
        code = page.partition("<pre>")[2].partition("</pre>")[0]
        _, err = process.communicate(code.encode() + b"\n", timeout=PATIENCE)
    assert process.returncode == 0, err
    assert yaml.safe_load(file.read_text())["endpoint"] == server.endpoint


def test_login_with_a_name_and_a_password(run: Command, server: RunningServer) -> None:
    wrong = run("login", server.endpoint, "--user", server.access_key_id, stdin=b"wrong\n", code=None)
    assert "the access key id or the secret access key is wrong" in wrong.err
    said = run("login", server.endpoint, "--user", server.access_key_id, stdin=f"{server.secret_access_key}\n".encode())
    assert said.text == f"You are signed in to {server.endpoint} as admin.\n"
    assert run("repo", "list").code == 0


def test_login_refuses_a_file_with_an_access_key(run: Command, server: RunningServer, file: Path) -> None:
    file.write_text(f"endpoint: {server.endpoint}\naccess_key_id: k\nsecret_access_key: s\n")
    refused = run("login", code=None)
    assert "has an access key (access_key_id)" in refused.err
    assert "token" not in file.read_text()
    assert "you are not signed in: the credentials are" in run("logout", code=None).err


def test_login_names_the_credentials_that_have_precedence(run: Command, server: RunningServer) -> None:
    other = Command({**run.environment, **server.environment})
    said = other("login")
    assert f"Commands still use the access key {server.access_key_id!r} from environment" in said.err


def test_ctrl_c_ends_the_command(run: Command, server: RunningServer, file: Path) -> None:
    quiet = Command({**run.environment, "BROWSER": "true %s"})
    with quiet.start("login", server.endpoint, stdin=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"Sign in with the page" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert file.read_text() == ""


@contextmanager
def receiving() -> Iterator[tuple[CodeReceiver, str]]:
    with CodeReceiver("the-state") as receiver:
        yield receiver, f"http://127.0.0.1:{receiver.port}/"


def test_a_code_with_another_state_is_not_taken() -> None:
    with receiving() as (receiver, address):
        for query in ("code=forged", "code=forged&state=other", "state=the-state", "code=&state=the-state"):
            with pytest.raises(HTTPError, match="400"):
                urllib.request.urlopen(f"{address}?{query}")
        with pytest.raises(AuthenticationError, match="no sign-in within 0 seconds"):
            receiver.wait(0.01)
        urllib.request.urlopen(f"{address}?code=right&state=the-state")
        urllib.request.urlopen(f"{address}?code=second&state=the-state")
        assert receiver.wait(PATIENCE) == "right"
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address)
