"""The directory at the start of a server: an older store, a second server, and `auth.mode: single`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import lakebed
import pytest
from lakebed_auth import builtin
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_server.access import opening
from lakebed_server.access.directory import Directory
from lakebed_server.access.permissions import Permissions
from lakebed_server.access.rows import Holder, StoredPolicy
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.records import User
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.vocabulary import StartError

from tests.auth.people import NOW
from tests.support.processes.server import running_server


async def old_store() -> MemoryKV:
    """A store of 0.1: an administrator with an access key, and nothing else."""
    kv = MemoryKV()
    store = CredentialStore(kv, KeyRing([SecretKey("a secret of the tests")]))
    assert await store.make_first_admin(NOW) is not None
    return kv


async def test_the_administrator_of_an_older_store_is_in_the_group_admins() -> None:
    kv = await old_store()
    directory = Directory(kv)
    await opening.prepare(kv, directory, "rbac", NOW)
    groups, _ = await directory.groups_of("admin", "", "", 10)
    assert [group.id for group in groups] == ["Admins"]
    known = await Permissions(directory).of("admin")
    assert known.policies.allows_some("auth:CreateUser")
    policies, more = await directory.policies("", "", 100)
    assert ({policy.id for policy in policies}, more) == (set(builtin.POLICIES), False)
    for group, names in builtin.GROUPS.items():
        held, _ = await directory.policies_of(Holder("group", group), "", "", 100)
        assert {policy.id for policy in held} == set(names)


async def test_a_reset_makes_the_administrator_one_again() -> None:
    kv = await old_store()
    directory = Directory(kv)
    await opening.restore_admin(kv, directory, NOW)
    assert await directory.epoch() == 0  # the first start makes the groups
    await opening.prepare(kv, directory, "rbac", NOW)
    await directory.create_user(User("eva", NOW))
    await directory.add_member("Admins", "eva")
    await directory.remove_member("Admins", "admin")
    await directory.update_user("admin", disabled=True)
    await directory.attach(Holder("user", "eva"), "AuthFullAccess")
    await directory.delete_group("Admins")
    await directory.delete_policy("FSFullAccess")
    await opening.restore_admin(kv, directory, NOW)
    known = await Permissions(directory).of("admin")
    assert known.policies.allows_some("auth:CreateUser")
    assert known.policies.always_allows(("fs:DeleteObject",), "lake")
    changes, _ = await directory.changes("", 1000)
    assert changes[-1].what == "making user 'admin' an administrator again"


async def test_servers_that_start_together_make_the_directory_once() -> None:
    kv = await old_store()
    await asyncio.gather(*(opening.prepare(kv, Directory(kv), "rbac", NOW) for _ in range(5)))
    assert await Directory(kv).epoch() == 1


async def test_a_later_start_changes_nothing() -> None:
    kv = await old_store()
    directory = Directory(kv)
    await opening.prepare(kv, directory, "rbac", NOW)
    await directory.delete_policy("CatalogReadAll")
    epoch = await directory.epoch()
    await opening.prepare(kv, directory, "rbac", NOW)
    assert await directory.epoch() == epoch
    assert "CatalogReadAll" not in {policy.id for policy in (await directory.policies("", "", 100))[0]}


async def test_single_mode_makes_no_directory() -> None:
    kv = await old_store()
    await opening.prepare(kv, Directory(kv), "single", NOW)
    assert await Directory(kv).epoch() == 0


async def test_single_mode_is_refused_when_there_are_other_users() -> None:
    kv = await old_store()
    directory = Directory(kv)
    await opening.prepare(kv, directory, "rbac", NOW)
    await directory.create_user(User("ana", NOW))
    with pytest.raises(StartError, match="but there are other users"):
        await opening.prepare(kv, directory, "single", NOW)


async def test_a_deletion_that_was_interrupted_is_finished_by_the_next_creation() -> None:
    kv = await old_store()
    directory = Directory(kv)
    await opening.prepare(kv, directory, "rbac", NOW)
    await directory.create_policy(StoredPolicy("p", NOW, (await directory.policy("FSReadAll")).statement))
    await directory.create_user(User("ana", NOW))
    await directory.add_member("Viewers", "ana")
    await directory.attach(Holder("user", "ana"), "p")
    apply, calls = kv.apply, 0

    async def fail_later(batch: object) -> int:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise OSError("the process is killed here")
        return await apply(batch)  # type: ignore[arg-type]

    kv.apply = fail_later  # type: ignore[method-assign]
    with pytest.raises(OSError, match="killed"):
        await directory.delete_user("ana")
    kv.apply = apply  # type: ignore[method-assign]
    assert [user.id for user in (await directory.members("Viewers", "", "", 10))[0]] == []
    await directory.create_user(User("ana", NOW + 1))
    assert await directory.effective_policies("ana") == []
    assert (await directory.policies_of(Holder("user", "ana"), "", "", 10))[0] == []


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "shown"), [("rbac", "external"), ("single", "none")])
def test_clients_learn_the_mode(tmp_path: Path, mode: str, shown: str) -> None:
    with running_server(tmp_path / "data", environment={"LAKEBED_AUTH_MODE": mode}) as server:
        state = httpx.get(f"{server.endpoint}/api/v1/setup_lakefs").json()
        assert state["login_config"]["RBAC"] == shown
        with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
            assert lake.repository("sales").create("local://sales").branch("main").info().id == "main"
