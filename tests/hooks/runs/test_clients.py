"""A contract refuses bad data: what users of the SDK, the command line and the lakeFS client see."""

# mypy: disable-error-code="attr-defined, call-arg, arg-type, no-untyped-call"
# what lakefs_sdk exports and leaves out, it does not say to mypy
from __future__ import annotations

import io
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import lakebed
import lakefs
import lakefs_sdk
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed.cli import main
from lakefs.client import Client

from tests.support.processes.server import RunningServer

CONTRACT = """\
name: orders contract
on: {pre-commit: {branches: [main]}, pre-merge: {branches: [main]}}
hooks:
  - id: amounts
    type: contract
    properties:
      path: "orders/*.parquet"
      checks:
        - range: {amount: [0, 1000]}
"""


def orders(*amounts: int) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"amount": list(amounts)}), file)
    return file.getvalue()


@pytest.fixture
def repo(server: RunningServer) -> Iterator[lakebed.Repository]:
    """A repository with good orders on `main`, whose settings have a contract, and bad orders on `dev`."""
    name = f"h{uuid.uuid4().hex[:12]}"
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        repo = lake.repository(name).create(f"local://{name}")
        repo.branch("main").put("orders/1.parquet", orders(1, 2))
        repo.branch("main").commit("first")
        repo.set_hook_settings({"contract.yaml": CONTRACT})
        repo.branch("dev").create("main").put("orders/2.parquet", orders(5, -7, 9))
        repo.branch("dev").commit("bad orders")
        yield repo


def refusal(repo: lakebed.Repository) -> lakebed.HookRefusedError:
    with pytest.raises(lakebed.HookRefusedError) as caught:
        repo.branch("dev").merge_into(repo.branch("main"))
    return caught.value


def test_the_sdk_shows_the_value_that_broke_the_contract(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    head = main.commit_info().id
    error = refusal(repo)
    assert str(error).endswith(f"see repo.runs.hooks({error.run_id!r}).all()")
    assert "orders/2.parquet" in error.reason
    assert main.commit_info().id == head
    run = repo.runs.get(error.run_id)
    assert (run.event, run.state, run.branch) == ("pre-merge", "refused", "main")
    (hook,) = repo.runs.hooks(run.id).all()
    assert (hook.action, hook.hook_id, hook.type, hook.state) == ("orders contract", "amounts", "contract", "refused")
    bad = [one for one in hook.details if one["state"] == "refused"]
    assert [(one["file"], one["check"], one["column"]) for one in bad] == [("orders/2.parquet", "range", "amount")]
    assert "-7" in str(bad[0]["values"])
    assert "orders/2.parquet" in repo.runs.log(run.id, hook.id)
    repo.branch("dev").put("orders/2.parquet", orders(5, 7, 9))
    repo.branch("dev").commit("mend")
    merged = repo.branch("dev").merge_into(main)
    assert main.commit_info().id == merged.commit_id
    assert repo.runs.list("main", limit=1).all()[0].state == "passed"


def test_a_run_by_hand_and_again_changes_nothing(repo: lakebed.Repository) -> None:
    heads = {one.id: one.commit_id for one in repo.branches()}
    refused = refusal(repo).run_id
    again = repo.runs.rerun(refused)
    assert (again.state, again.rerun_of, again.commit_id) == ("refused", refused, repo.runs.get(refused).commit_id)
    by_hand = repo.runs.run("pre-merge", "main")
    assert (by_hand.event, by_hand.commit_id) == ("pre-merge", heads["main"])
    assert by_hand.state == "passed"
    into = repo.runs.run("pre-merge", "dev", branch="main")
    assert (into.state, into.branch, into.commit_id) == ("refused", "main", heads["dev"])
    assert {one.id: one.commit_id for one in repo.branches()} == heads
    with pytest.raises(lakebed.InvalidRequestError, match="no action of the name 'nope'"):
        repo.runs.run("pre-merge", "main", "nope")
    with pytest.raises(lakebed.NotFoundError):
        repo.runs.run("pre-merge", "nope")


def test_the_command_line_shows_a_refusal_and_its_run(
    repo: lakebed.Repository,
    server: RunningServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, value in {**server.environment, "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main.run(list(arguments))
        sys.stdout.flush()
        return code, *capfd.readouterr()

    code, _, said = run("merge", f"{repo.id}/dev", "main")
    run_id = repo.runs.list(limit=1).all()[0].id
    assert code == 4
    assert said.endswith(
        f"\n  Nothing was changed. `lakebed hooks show {repo.id} {run_id}` shows what the hooks found.\n"
    )
    assert said.count("\n") == 2
    code, shown, _ = run("hooks", "show", repo.id, run_id, "--log")
    assert code == 0
    assert "orders/2.parquet  range" in shown
    assert "row 1: -7" in shown or "-7" in shown
    code, ran, _ = run("hooks", "rerun", repo.id, run_id)
    assert (code, "refused  pre-merge" in ran) == (4, True)


def test_the_lakefs_client_gets_412_and_describes_the_run(repo: lakebed.Repository, server: RunningServer) -> None:
    client = Client(host=server.endpoint, username=server.access_key_id, password=server.secret_access_key)
    there = lakefs.Repository(repo.id, client=client)
    with pytest.raises(lakefs.exceptions.ServerException) as caught:
        there.branch("dev").merge_into(there.branch("main"))
    assert caught.value.status_code == 412
    actions = lakefs_sdk.ActionsApi(client.sdk_client._api)
    run = actions.list_repository_runs(repo.id).results[0]
    assert f"run id '{run.run_id}'" in str(caught.value.body)
    assert (run.status, run.event_type) == ("failed", "pre-merge")
    (hook,) = actions.list_run_hooks(repo.id, run.run_id).results
    assert (hook.status, hook.hook_id) == ("failed", "amounts")
    assert b"orders/2.parquet" in bytes(actions.get_run_hook_output(repo.id, run.run_id, hook.hook_run_id))
