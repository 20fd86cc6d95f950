"""Every handle gives its repository the public type. mypy checks `assert_type` in this file, pytest the values."""

from typing import assert_type

import lakebed
from lakebed import aio


def test_sync_handles_have_a_repository_of_the_public_type() -> None:
    with lakebed.connect("http://127.0.0.1:1", "key", "secret") as lake:
        repository = lake.repository("sales")
        branch = repository.branch("main")
        assert assert_type(branch.repository, lakebed.Repository) is repository
        assert assert_type(repository.ref("main~1").repository, lakebed.Repository) is repository
        assert assert_type(repository.tag("v1").repository, lakebed.Repository) is repository
        assert assert_type(branch.workspace().repository, lakebed.Repository) is repository
        assert assert_type(repository.task("t1").repository, lakebed.Repository) is repository
        assert assert_type(branch.repository.branch("dev"), lakebed.Branch).id == "dev"
        assert callable(branch.repository.workspace)


async def test_async_handles_have_a_repository_of_the_public_type() -> None:
    async with aio.connect("http://127.0.0.1:1", "key", "secret") as lake:
        repository = lake.repository("sales")
        branch = repository.branch("main")
        assert assert_type(branch.repository, aio.Repository) is repository
        assert assert_type(repository.ref("main~1").repository, aio.Repository) is repository
        assert assert_type(branch.workspace().repository, aio.Repository) is repository
        assert assert_type(repository.task("t1").repository, aio.Repository) is repository
        assert assert_type(branch.repository.branch("dev"), aio.Branch).id == "dev"


async def _use_workspace(branch: aio.Branch) -> None:
    """For mypy only: the method that the type of `repository` did not show before."""
    assert_type(await branch.repository.workspace("w1"), aio.Workspace)
