"""`lakebed user|group|policy|key`, `grant`, `revoke`, `can` and `whoami`: what administrators do, on a real server."""

from __future__ import annotations

import json
import stat
import uuid
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.support.processes.server import RunningServer


@pytest.fixture
def name() -> str:
    return f"x{uuid.uuid4().hex[:12]}"


def test_users(run: Run, name: str) -> None:
    made = run("user", "create", name, "--name", "Ana", "--email", "ana@example.org", "--group", "Viewers", "--json")
    assert (made.json["id"], made.json["friendly_name"], made.json["disabled"]) == (name, "Ana", False)
    assert "already" in run("user", "create", name, code=4).err.lower()
    assert run("user", "list", "--prefix", name).text == f"{name}  Ana  ana@example.org\n"
    shown = run("user", "show", name)
    assert "Viewers" in shown.text
    assert run("user", "show", name, "--json").json["policies"] == [
        "AuthManageOwnCredentials",
        "CatalogReadAll",
        "FSReadAll",
    ]
    run("user", "update", name, "--name", "Ana Ruiz")
    assert "Nothing to change" in run("user", "update", name, code=2).err
    run("user", "disable", name)
    assert "disabled" in run("user", "list", "--prefix", name).text
    run("user", "enable", name)
    assert "disabled" not in run("user", "list", "--prefix", name).text
    assert "pass --yes" in run("user", "delete", name, code=2).err
    run("user", "delete", name, "--yes")
    gone = run("user", "show", name, code=3)
    assert f"there is no user '{name}'" in gone.err
    assert "`lakebed user list`" in gone.err


def test_a_service(run: Run, name: str) -> None:
    run("user", "create", name, "--service")
    assert run("user", "list", "--prefix", name).text == f"{name}  service\n"
    assert run("user", "list", "--prefix", name, "-n", "0").text == ""
    run("user", "delete", name, "--yes")


def test_groups(run: Run, name: str) -> None:
    run("group", "create", name, "--description", "Readers of sales")
    assert run("group", "list", "--prefix", name).text == f"{name}  Readers of sales\n"
    run("user", "create", name)
    run("group", "add", name, name)
    assert run("group", "add", name, name, code=4).err
    assert run("group", "members", name, "--json").json[0]["id"] == name
    run("policy", "attach", "FSReadAll", name, "--group")
    assert run("group", "show", name, "--json").json["policies"] == ["FSReadAll"]
    assert "FSReadAll" in run("group", "show", name).text
    run("policy", "detach", "FSReadAll", name, "--group")
    run("group", "remove", name, name)
    assert "`lakebed group members`" in run("group", "remove", name, name, code=3).err
    run("group", "delete", name, "--yes")
    assert "`lakebed group list`" in run("group", "show", name, code=3).err
    run("user", "delete", name, "--yes")


def test_policies(run: Run, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"statement": [{"effect": "allow", "action": ["fs:Read*"], "resource": "*"}]}
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(document))
    run("policy", "create", name, "--file", str(file))
    assert run("policy", "show", name).json == document
    assert run("policy", "show", name, "--json").json["id"] == name
    assert run("policy", "list", "--prefix", name).text == f"{name}\n"
    run("policy", "edit", name, "--file", "-", stdin=json.dumps(document["statement"]).encode())
    refused = run(
        "policy",
        "edit",
        name,
        "--file",
        "-",
        stdin=b'[{"effect": "allow", "action": ["fs:X"], "resource": "*"}]',
        code=2,
    )
    assert "no operation needs 'fs:X'" in refused.err
    assert "not JSON" in run("policy", "create", "p", "--file", "-", stdin=b"{", code=2).err
    assert "no list of statements" in run("policy", "create", "p", "--file", "-", stdin=b"{}", code=2).err
    assert "--file FILE" in run("policy", "create", "p", code=2).err
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/fs:Read/fs:List/' \"$1\"\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(editor))
    run("policy", "edit", name)
    assert run("policy", "show", name).json["statement"][0]["action"] == ["fs:List*"]
    monkeypatch.setenv("EDITOR", "true")
    assert run("policy", "edit", name).text == "Nothing was changed.\n"
    run("policy", "delete", name, "--yes")
    assert "`lakebed policy list`" in run("policy", "show", name, code=3).err


def test_policies_of_a_user(run: Run, name: str) -> None:
    run("user", "create", name)
    run("policy", "attach", "FSReadAll", name)
    assert "FSReadAll" in run("user", "show", name).text
    run("policy", "detach", "FSReadAll", name)
    assert "`lakebed user show`" in run("policy", "detach", "FSReadAll", name, code=3).err
    run("user", "delete", name, "--yes")


def test_keys_of_another_user(run: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run("user", "create", name, "--name", "Ana")
    made = run("key", "create", "--user", name, "--json").json
    assert [row["id"] for row in run("key", "list", "--user", name, "--json").json] == [made["id"]]
    assert made["id"] in run("key", "show", made["id"], "--user", name).text
    with monkeypatch.context() as own:
        own.setenv("LAKEBED_ACCESS_KEY_ID", made["id"])
        own.setenv("LAKEBED_SECRET_ACCESS_KEY", made["secret"])
        assert run("whoami").text.startswith(f"user     {name}\nname     Ana\n")
        assert run("whoami", "--json").json["id"] == name
        denied = run("user", "list", code=6)
        assert "needs auth:ListUsers on *" in denied.err
    run("key", "delete", made["id"], "--user", name, "--yes")
    run("user", "delete", name, "--yes")


def test_a_key_that_may_only_read_one_repository(run: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run("repo", "create", name, f"local://{name}")
    made = run("key", "create", "--read", name, "--name", "report", "--expires", "30d", "--json").json
    assert made["name"] == "report"
    line = next(line for line in run("key", "list").text.splitlines() if line.startswith(made["id"]))
    assert "  report  ends 20" in line
    assert line.endswith("  with a policy")
    with monkeypatch.context() as own:
        own.setenv("LAKEBED_ACCESS_KEY_ID", made["id"])
        own.setenv("LAKEBED_SECRET_ACCESS_KEY", made["secret"])
        assert [row["id"] for row in run("branch", "list", name, "--json").json] == ["main"]
        denied = run("branch", "create", f"{name}/dev", code=6)
        assert "the policy of the access key does not allow it" in denied.err
    run("key", "delete", made["id"], "--yes")


def test_a_commit_for_another_user(run: Run, name: str) -> None:
    run("repo", "create", name, f"local://{name}")
    run("user", "create", name)
    made = run("commit", f"{name}/main", "-m", "x", "--allow-empty", "--author", name, "--json").json
    assert made["committer"] == name
    later = ("commit", f"{name}/main", "-m", "later", "--allow-empty", "--author", name, "--no-wait", "--json")
    run("task", "wait", name, run(*later).json["id"])
    newest = run("log", f"{name}/main", "-n", "1", "--json").json[0]
    assert (newest["message"], newest["committer"]) == ("later", name)
    run("branch", "create", f"{name}/dev")
    for number, more in enumerate([(), ("--no-wait",)]):
        merge = ("merge", f"{name}/dev", "main", "-m", f"m{number}", "--allow-empty", "--author", name, *more)
        begun = run(*merge, "--json").json
        if more:
            run("task", "wait", name, begun["id"])
        assert run("log", f"{name}/main", "-n", "1", "--json").json[0]["committer"] == name
    run("user", "delete", name, "--yes")


def test_grants_and_simulations(run: Run, name: str) -> None:
    run("user", "create", name)
    target = f"{name}/main/x"
    no = run("can", name, "write", target, code=6)
    assert no.text == f"no: no statement of the user's policies allows fs:WriteObject on repository/{name}/object/x\n"
    assert "There is no repository" in run("grant", name, "writer", name).err  # a right may come first
    yes = run("can", name, "write", target)
    assert yes.text == (
        f"yes: statement 1 of policy 'lakebed.writer.{name}' allows fs:WriteObject on repository/{name}/object/x\n"
    )
    for verb, place in (
        *(("read", target), ("delete", target), ("list", name), ("log", f"{name}/main"), ("commit", f"{name}/main")),
        *(("merge", f"{name}/main"), ("branch", f"{name}/dev"), ("revert", f"{name}/main"), ("tag", f"{name}/v1")),
        ("fs:ReadRepository", f"repository/{name}"),
    ):
        assert run("can", name, verb, place, "--json").json["allowed"], verb
    run("grant", name, "reader", name)
    run("can", name, "write", target, code=6)
    run("can", name, "read", target, "--from", "10.0.0.1")
    run("revoke", name, name)
    run("can", name, "read", target, code=6)
    assert "`lakebed user show`" in run("revoke", name, name, code=3).err
    run("group", "create", name)
    run("group", "add", name, name)
    run("grant", name, "admin", name, "--group")
    run("can", name, "fs:DeleteRepository", f"repository/{name}")
    run("revoke", name, name, "--group")
    run("group", "delete", name, "--yes")
    run("user", "delete", name, "--yes")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("write", "sales/main"), "write needs REPO/BRANCH/PATH"),
        (("commit", "sales/main/x"), "commit needs REPO/BRANCH"),
        (("commit", "sales"), "commit needs REPO/BRANCH"),
        (("fly", "sales"), "'fly' is not one of read, write"),
        (("fs:Fly", "*"), "no operation uses 'fs:Fly'"),
    ],
)
def test_invalid_simulations_are_refused(run: Run, arguments: tuple[str, str], message: str) -> None:
    assert message in run("can", "admin", *arguments, code=2).err


def test_the_last_administrator(run: Run, server: RunningServer) -> None:
    assert "AuthFullAccess" in run("group", "remove", "Admins", "admin", code=4).err
    assert "AuthFullAccess" in run("user", "disable", "admin", code=4).err
