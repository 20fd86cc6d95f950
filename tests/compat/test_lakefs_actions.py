"""All calls of the generated lakeFS client about runs of hooks, parsed by its own models."""

# mypy: disable-error-code="attr-defined, call-arg, arg-type"
# what lakefs_sdk exports and leaves out, it does not say to mypy
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lakefs
import lakefs_sdk
import pytest
from lakefs.client import Client

from tests.support.processes.server import RunningServer
from tests.support.stored_runs import PASSED, REFUSED, store_runs


@pytest.fixture
def actions(client: Client) -> Any:
    return lakefs_sdk.ActionsApi(client.sdk_client._api)


@pytest.fixture
def repo(server: RunningServer, lakefs_repo: lakefs.Repository) -> lakefs.Repository:
    store_runs(server, lakefs_repo.id)
    return lakefs_repo


def refused(call: Callable[..., object], *arguments: Any, **more: Any) -> int:
    with pytest.raises(lakefs_sdk.ApiException) as caught:
        call(*arguments, **more)
    return int(caught.value.status)


def test_runs_are_listed_and_described(actions: Any, repo: lakefs.Repository) -> None:
    page = actions.list_repository_runs(repo.id)
    assert [run.run_id for run in page.results] == [REFUSED, PASSED]
    assert (page.pagination.has_more, page.pagination.results) == (False, 2)
    first = actions.list_repository_runs(repo.id, amount=1)
    assert (first.pagination.has_more, first.pagination.next_offset) == (True, REFUSED)
    (second,) = actions.list_repository_runs(repo.id, after=REFUSED).results
    assert (second.run_id, second.status, second.branch, second.commit_id) == (PASSED, "completed", "dev", "")
    found = actions.get_run(repo.id, REFUSED)
    assert (found.event_type, found.status, found.branch) == ("pre-merge", "failed", "main")
    assert (found.commit_id, (found.end_time - found.start_time).seconds) == ("c" * 64, 2)
    assert [run.run_id for run in actions.list_repository_runs(repo.id, branch="dev").results] == [PASSED]
    assert [run.run_id for run in actions.list_repository_runs(repo.id, commit="c" * 64).results] == [REFUSED]
    assert refused(actions.list_repository_runs, repo.id, branch="dev", commit="c" * 64) == 400
    assert refused(actions.get_run, repo.id, "none") == 404
    assert refused(actions.list_repository_runs, "no-such-repository") == 404


def test_hooks_of_a_run_and_their_logs(actions: Any, repo: lakefs.Repository) -> None:
    hooks = actions.list_run_hooks(repo.id, REFUSED).results
    assert [(one.hook_run_id, one.action, one.hook_id, one.status) for one in hooks] == [
        ("0000_0000", "orders", "contract", "failed"),
        ("0001_0000", "names", "py", "completed"),
    ]
    assert hooks[0].end_time > hooks[0].start_time
    assert hooks[1].end_time is None
    assert actions.list_run_hooks(repo.id, "none").results == []
    content = actions.get_run_hook_output(repo.id, REFUSED, "0000_0000")
    assert bytes(content).startswith(b"row 3: -1\n\xff")
    assert refused(actions.get_run_hook_output, repo.id, REFUSED, "0009_0000") == 404
