"""Errors about names say what to do next, in calls that there are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import lakebed
import pytest
import respx
from lakebed._gateway import next_steps
from lakebed._gateway.error_answers import BY_KIND

from tests.sdk.doors import REPO, Door


@pytest.mark.parametrize(
    ("taken", "step"),
    [
        (lambda repo: repo.create("local://elsewhere"), "exist_ok=True to use it if .* another name"),
        (lambda repo: repo.branch("main").create(), "exist_ok=True to use it as it is"),
        (lambda repo: repo.tag("v1").create("main"), r"exist_ok=True .* drop\(\) it first"),
        (lambda repo: repo.tag("main").create("main"), "taken by a branch.*; choose another name"),
        (lambda repo: repo.branch("v1").create(), "taken by a tag.*; choose another name"),
    ],
)
def test_existing_name_error_names_the_next_step(
    repo: lakebed.Repository, taken: Callable[[Any], Any], step: str
) -> None:
    repo.tag("v1").create("main")
    with pytest.raises(lakebed.AlreadyExistsError, match=step) as caught:
        taken(repo)
    assert caught.value.repository == repo.id
    assert repo.id in str(caught.value)


def test_a_repository_over_another_namespace(repo: lakebed.Repository) -> None:
    there = repo.info().storage_namespace
    with pytest.raises(lakebed.AlreadyExistsError, match="choose another name, or create") as caught:
        repo.create("local://elsewhere", exist_ok=True)
    assert f"create({there!r}, exist_ok=True)" in str(caught.value)


def test_existing_object_error_names_the_next_step(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("x", b"1")
    with pytest.raises(lakebed.ObjectExistsError, match="omit the condition"):
        main.put("x", b"2", if_absent=True)
    with pytest.raises(lakebed.ObjectExistsError, match="mode 'w' or 'wb' replaces it"):
        main.open("x", "xb")
    assert main.get("x") == b"1"


def test_errors_of_missing_things_name_the_next_step(lake: lakebed.Lake, repo: lakebed.Repository) -> None:
    repo.tag("v1").create("main")
    absent: list[tuple[Callable[[], Any], str]] = [
        (lake.repository("no-such-one").info, r"lake\.repositories\(\)"),
        (repo.branch("dev").info, r"repo\.branch\('dev'\)\.create\(\"main\"\) creates it$"),
        (repo.tag("v2").info, r"repo\.tags\(\)"),
        (repo.ref("v2").list().all, r"repo\.branches\(\) and repo\.tags\(\)"),
        (lambda: repo.branch("main").stat("x"), r"ref\.list\(prefix\)"),
        (lambda: repo.workspace("nope").info(), r"repo\.workspaces\(\)"),
    ]
    for ask, step in absent:
        with pytest.raises(lakebed.NotFoundError, match=step):
            ask()
    way_out = r"is read-only: repo\.branch\(\"fix\"\)\.create\('v1'\)"
    for change in (lambda: repo.branch("v1").put("x", b"1"), lambda: repo.branch("v1").commit("no")):
        with pytest.raises(lakebed.NotFoundError, match=way_out):
            change()


@pytest.mark.parametrize("key", [None, "load-7"])
def test_commit_with_unknown_outcome_names_the_next_step(door: Door, wire: respx.MockRouter, key: str | None) -> None:
    """With a key of the caller's it is safe to ask again, and the error says so; without one it is not."""
    for verb in ("commits", "cherry-pick"):
        wire.post(url__startswith=f"{REPO}/branches/main/{verb}").mock(side_effect=httpx.ReadError("reset"))
    wire.get(url__startswith=f"{REPO}/refs").mock(side_effect=httpx.ConnectError("down"))
    origin = {"id": "c" * 64, "parents": [], "committer": "a", "message": "m", "creation_date": 1, "meta_range_id": ""}
    wire.get(url__startswith=f"{REPO}/commits").mock(httpx.Response(200, json=origin))

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        for verb in (main.commit, main.cherry_pick):
            with pytest.raises(lakebed.CommitStateUnknownError) as caught:
                await verb("m", key=key)
            assert ("The same call with the same key" in str(caught.value)) is (key is not None)
            assert ("Do not repeat it without a check" in str(caught.value)) is (key is None)

    door.run(scenario)


def test_every_next_step_has_a_known_kind_and_existing_calls() -> None:
    handles: dict[str, type] = {
        "lake": lakebed.Lake,
        "repo": lakebed.Repository,
        "ref": lakebed.Ref,
        "tag": lakebed.Tag,
        "users": lakebed.Users,
        "groups": lakebed.Groups,
        "policies": lakebed.Policies,
        "pulls": lakebed.Pulls,
        "runs": lakebed.Runs,
        "deliveries": lakebed.Deliveries,
    }
    assert set(next_steps._STEPS) <= set(BY_KIND)
    texts = [*next_steps._STEPS.values(), next_steps._BRANCH, next_steps._FIXED, next_steps._REFUSED]
    named = [found for text in texts for found in re.findall(r"\b(\w+)\.(\w+)\(", text)]
    assert len(named) > 8
    for handle, verb in named:
        assert hasattr(handles[handle], verb), f"{handle}.{verb}"
