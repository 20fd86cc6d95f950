"""A new colleague, as docs/access.md has it: sign-in by browser and command, one right, refusals, and the auditor."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import lakebed
import pytest
import yaml
from playwright.sync_api import Browser, Page

from tests.browser.signing_in import OpenedAddress, sign_in
from tests.cli.support import Command
from tests.docs.snippets import ROOT, exchanges, matches
from tests.support.browser import watched_context
from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import RunningServer, clean_environment, running_server
from tests.support.services.oidc_provider import OidcProvider, running_oidc_provider
from tests.support.waiting import PATIENCE

NOA, LOGIN = "noa@example.com", "noa-3"
ORDERS, STAFF = b"order,price\n1,9.50\n", b"name,salary\nVera,1\n"
OBJECTS = {"payments": "orders.csv", "people": "staff.csv"}
PROGRAMS = Path(sys.executable).parent


class Place(NamedTuple):
    """An action on a repository, and what its refusal says."""

    action: str
    repository: str

    @property
    def path(self) -> str:
        return "new.csv" if self.action == "write" else OBJECTS[self.repository]

    @property
    def reason(self) -> str:
        if self.action == "list":
            return f"needs fs:ListObjects on repository/{self.repository}"
        permission = {"read": "ReadObject", "write": "WriteObject", "delete": "DeleteObject"}[self.action]
        return f"needs fs:{permission} on repository/{self.repository}/object/{self.path}"


REFUSED = [Place(action, "people") for action in ("read", "list", "write")]
REFUSED += [Place(action, "payments") for action in ("write", "delete")]


class Walk(NamedTuple):
    """The server after the steps of docs/access.md, and the commands of its people."""

    server: RunningServer
    admin: Command
    noa: Command
    vera: Command


def configuration(provider: OidcProvider, endpoint: str) -> str:
    """The settings of docs/sign-in.md for this provider. They name no group for new people."""
    page = (ROOT / "docs" / "sign-in.md").read_text()
    block = re.search(r"^ *```yaml\n(.*?)^ *```$", page, re.MULTILINE | re.DOTALL)
    assert block is not None
    settings = yaml.safe_load(textwrap.dedent(block[1]))
    oidc = settings["auth"]["oidc"]
    oidc |= {"issuer": provider.issuer, "client_secret": provider.secret, "redirect_uri": f"{endpoint}/oidc/callback"}
    assert oidc.pop("default_groups")
    return yaml.safe_dump({**settings, "history": {"enabled": True}})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    file = tmp_path_factory.mktemp("settings") / "lakebed.yaml"
    with reserved_ports(1) as (port,):
        endpoint = f"http://127.0.0.1:{port}"
        with running_oidc_provider([f"{endpoint}/oidc/callback"]) as provider:
            file.write_text(configuration(provider, endpoint))
            with running_server(tmp_path_factory, flags=["--port", str(port), "--config", str(file)]) as running:
                yield running


@pytest.fixture(scope="module")
def walk(server: RunningServer, chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """Follow the section of docs/access.md line by line. Each line is run as the person before the `$`."""
    home = tmp_path_factory.mktemp("noa")
    (home / "lakebed.yaml").write_text("")
    opened = OpenedAddress(home)
    environment = {"LAKEBED_CONFIG_FILE": str(home / "lakebed.yaml"), "BROWSER": opened.variable, "HOME": str(home)}
    commands = {"admin": Command(server.environment), "noa": Command(environment)}
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        for name, data in (("payments", ORDERS), ("people", STAFF)):
            main = lake.repository(name).create(f"local://{name}").branch("main")
            main.put(OBJECTS[name], data)
            main.commit("first")
    with watched_context(chromium, expected=["status of 403"]) as context:
        page = context.new_page()
        sign_in(page, f"{server.endpoint}/oidc/login?next=/api/v1/repositories", LOGIN)
        page.wait_for_url("**/api/v1/repositories")
        assert "needs fs:ListRepositories" in page.locator("body").inner_text()
        for person, line, expected in steps(server.endpoint):
            program, *arguments = line.split()
            assert program == "lakebed"
            if person == "vera" and person not in commands:
                commands[person] = with_new_key(commands["admin"], server, person)
            if arguments[0] == "login":
                printed = log_in(commands[person], arguments, page, opened)
            else:
                result = commands[person](*arguments, code=None)
                printed = result.text + result.err
            assert matches(expected, printed), f"{person}$ {line}\n{printed}"
    return Walk(server, **commands)


def steps(endpoint: str) -> Iterator[tuple[str, str, str]]:
    """The person, the command and the output of each line of the section."""
    page = (ROOT / "docs" / "access.md").read_text()
    section = page.partition("## A new colleague\n")[2].partition("\n## ")[0]
    section = section.replace("https://lake.example.com", endpoint).replace("192.0.2.7", "127.0.0.1")
    for block in re.findall(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
        people = re.findall(r"^(\w+)\$ ", block, re.MULTILINE)
        lines = exchanges(re.sub(r"^\w+\$ ", "$ ", block, flags=re.MULTILINE))
        for person, (command, expected) in zip(people, lines, strict=True):
            yield person, command, expected


def with_new_key(admin: Command, server: RunningServer, user: str) -> Command:
    key = admin("key", "create", "--user", user, "--json").json
    return Command(
        {
            "LAKEBED_ENDPOINT": server.endpoint,
            "LAKEBED_ACCESS_KEY_ID": key["id"],
            "LAKEBED_SECRET_ACCESS_KEY": key["secret"],
        }
    )


def log_in(command: Command, arguments: list[str], page: Page, opened: OpenedAddress) -> str:
    """`lakebed login` with a browser that is signed in at the provider: the person types nothing."""
    with command.start(*arguments) as process:
        page.goto(opened.wait())
        assert page.locator("p").inner_text() == "You are signed in. You can close this window."
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out.decode()


Tool = Callable[[Walk, Place, Path], str]


def by_sdk(walk: Walk, place: Place, _: Path) -> str:
    lake = lakebed.connect()
    main = lake.repository(place.repository).branch("main")
    actions: Mapping[str, Callable[[], object]] = {
        "read": lambda: main.get(place.path),
        "list": lambda: list(main.list()),
        "write": lambda: main.put(place.path, b"1"),
        "delete": lambda: main.delete(place.path),
    }
    with lake, pytest.raises(lakebed.PermissionDeniedError) as caught:
        actions[place.action]()
    return caught.value.reason


def by_fsspec(walk: Walk, place: Place, _: Path) -> str:
    fs = fsspec.filesystem("lakebed", skip_instance_cache=True)
    path = f"{place.repository}/main/{place.path}"
    actions: Mapping[str, Callable[[], object]] = {
        "read": lambda: fs.cat(path),
        "list": lambda: fs.ls(f"{place.repository}/main"),
        "write": lambda: fs.pipe(path, b"1"),
        "delete": lambda: fs.rm_file(path),
    }
    with pytest.raises(PermissionError) as caught:
        actions[place.action]()
    assert isinstance(caught.value, lakebed.PermissionDeniedError)
    return caught.value.reason


def by_command(walk: Walk, place: Place, scratch: Path) -> str:
    file = scratch / "new.csv"
    file.write_bytes(b"1")
    branch = f"{place.repository}/main"
    actions = {
        "read": ["cat", f"{branch}/{place.path}"],
        "list": ["ls", branch],
        "write": ["upload", str(file), f"{branch}/{place.path}"],
        "delete": ["rm", f"{branch}/{place.path}"],
    }
    result = walk.noa("fs", *actions[place.action], code=6)
    return result.err.strip().removeprefix("lakebed: ")


def by_aws(walk: Walk, place: Place, scratch: Path) -> str:
    """The aws command, with the profile of docs/keys.md: it gets temporary keys by the token of the sign-in."""
    page = (ROOT / "docs" / "keys.md").read_text()
    profile = re.search(r"^```ini\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert profile is not None
    config, file = scratch / "config", scratch / "new.csv"
    config.write_text(profile[1].replace("https://lake.example.org", walk.server.endpoint))
    file.write_bytes(b"1")
    bucket = ["--bucket", place.repository]
    of_object = [*bucket, "--key", f"main/{place.path}"]
    actions = {
        "read": ["get-object", *of_object, str(scratch / "got")],
        "list": ["list-objects-v2", *bucket, "--prefix", "main/"],
        "write": ["put-object", *of_object, "--body", str(file)],
        "delete": ["delete-object", *of_object],
    }
    inherited = {k: v for k, v in clean_environment(**walk.noa.environment).items() if not k.startswith("AWS_")}
    profile_of_noa = {"AWS_CONFIG_FILE": str(config), "AWS_PROFILE": "lake", "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
    done = subprocess.run(
        [PROGRAMS / "aws", "s3api", *actions[place.action]],
        env={**inherited, **profile_of_noa},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode != 0
    code, _, reason = done.stderr.strip().partition(" operation: ")
    assert "(AccessDenied)" in code, done.stderr
    return reason


def rows(auditor: lakebed.Lake, repository: str) -> dict[str, dict[str, Any]]:
    """The refusals of Noa that the auditor sees, by the id of the request."""
    found = auditor.repository(repository).access_history(user=NOA, refused=True).to_pylist()
    return {row["request_id"]: row for row in found}


@pytest.mark.parametrize("tool", [by_sdk, by_fsspec, by_command, by_aws])
def test_every_tool_reports_the_same_reason_and_the_auditor_sees_it(
    walk: Walk, tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vera = walk.vera.environment
    for name in set(clean_environment()) ^ set(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("LAKEBED_CONFIG_FILE", walk.noa.environment["LAKEBED_CONFIG_FILE"])
    names = ("getObject", "listObjects", "uploadObject", "deleteObject")
    if tool is by_aws:
        names = ("GetObject", "ListObjectsV2", "PutObject", "DeleteObject")
    operations = dict(zip(("read", "list", "write", "delete"), names, strict=True))
    with lakebed.connect(
        walk.server.endpoint, vera["LAKEBED_ACCESS_KEY_ID"], vera["LAKEBED_SECRET_ACCESS_KEY"]
    ) as auditor:
        before = {repository: rows(auditor, repository) for repository in OBJECTS}
        assert [tool(walk, place, tmp_path) for place in REFUSED] == [place.reason for place in REFUSED]
        for repository, earlier in before.items():
            new = [row for id, row in rows(auditor, repository).items() if id not in earlier]
            assert {(row["status"], row["auth"], row["source_ip"]) for row in new} == {(403, "oidc", "127.0.0.1")}
            seen = [(row["operation"], row["path"]) for row in new if row["operation"] in names]
            wanted = [place for place in REFUSED if place.repository == repository]
            assert seen == [(operations[one.action], one.path if one.action != "list" else "") for one in wanted]
