"""`config server`, `key token`, `repo dump --no-wait`, `repo restore --task`, and `api`."""

from __future__ import annotations

import json
import shutil
from uuid import uuid4

import httpx
import lakebed

from tests.cli.conftest import Run
from tests.support.processes.server import RunningServer


def test_config_server_prints_level_and_settings(run: Run, lake: lakebed.Lake) -> None:
    reported = run("config", "server", "--json").json
    assert (reported["api_level"], reported["set_up"], reported["signs"]) == (lake.version(), True, False)
    text = run("config", "server").text
    assert "nothing: they are off" in text
    assert f"API level             {lake.version()}\nset up                yes\n" in text


def test_token_is_the_only_output(run: Run, server: RunningServer) -> None:
    printed = run("key", "token")
    assert "It works until" in printed.err
    headers = {"Authorization": f"Bearer {printed.text.removesuffix(chr(10))}"}
    assert httpx.get(f"{server.endpoint}/api/v1/user", headers=headers, trust_env=False).status_code == 200
    given = run("key", "token", "--json", "-q")
    assert given.json.keys() == {"token", "expires"}
    assert given.err == ""
    assert run("key", "end-tokens", "--yes").text == "Your tokens no longer work.\n"
    reported = httpx.get(
        f"{server.endpoint}/api/v1/user", headers={"Authorization": f"Bearer {given.json['token']}"}, trust_env=False
    )
    assert reported.status_code == 401


def test_dump_and_restore_without_waiting(
    run: Run, repo: lakebed.Repository, lake: lakebed.Lake, server: RunningServer
) -> None:
    begun = run("repo", "dump", repo.id, "--no-wait", "--json").json["id"]
    dump = run("repo", "dump", repo.id, "--task", begun, "--json").json
    assert dump == run("repo", "dump", repo.id, "--json").json
    assert run("task", "show", repo.id, begun, "--json").json["operation"] == "dump"
    assert "lakebed repo dump --task" in run("task", "wait", repo.id, begun, code=2).err
    copy = f"{repo.id}-b"
    run("repo", "create", copy, f"local://{copy}", "--bare")
    objects = server.data_dir / "objects"
    shutil.copytree(objects / repo.id, objects / copy, dirs_exist_ok=True)
    ids = [part for name in ("commits", "tags", "branches") for part in (f"--{name}", dump[name])]
    assert "only --task" in run("repo", "restore", copy, *ids[:4], code=2).err
    assert "only --task" in run("repo", "restore", copy, *ids, "--task", "x", code=2).err
    said = run("repo", "restore", copy, *ids, "--no-wait").text
    restored = said.splitlines()[0].split()[-1]
    assert f"`lakebed repo restore {copy} --task {restored}` waits for it" in said
    assert "are restored" in run("repo", "restore", copy, "--task", restored).text
    assert lake.repository(copy).branch("main").info() == repo.branch("main").info()
    run("repo", "restore", copy, "--task", "none", code=3)


def test_plain_requests(run: Run, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("a", b"\xff\x00")
    objects = f"/repositories/{repo.id}/refs/main/objects"
    found = run("api", "get", f"{objects}/ls", "--param", "prefix=a", "--param", "amount=1").json
    assert [row["path"] for row in found["results"]] == ["a"]
    assert run("api", "GET", objects, "--param", "path=a").out == b"\xff\x00"
    head = run("api", "HEAD", objects, "--param", "path=a")
    assert head.text.startswith("HTTP 200\n")
    assert "content-length" in head.text
    name = f"api-{uuid4().hex[:12]}"
    sent = json.dumps({"name": name, "storage_namespace": f"local://{name}"}).encode()
    made = run("api", "POST", "/repositories", "--body", "-", "--json", stdin=sent).json
    assert (made["status"], made["body"]["id"]) == (201, name)
    assert made["headers"]["content-type"] == "application/json"
    assert run("api", "GET", "/repositories/none", "--json", code=3).error["kind"] == "repository_not_found"
    assert "not JSON" in run("api", "POST", "/repositories", "--body", "-", stdin=b"{", code=2).err
    assert "KEY=VALUE" in run("api", "GET", objects, "--param", "path", code=2).err
    assert "such as /repositories" in run("api", "GET", "https://elsewhere.test/", code=2).err
