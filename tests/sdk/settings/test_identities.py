"""Users, groups, policies, keys and decisions through both doors, against a real server."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import lakebed
import pytest
from lakebed import (
    AlreadyExistsError,
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)

from tests.sdk.doors import Door
from tests.support.processes.server import RunningServer

READ = {"effect": "allow", "action": ["fs:Read*", "fs:List*"], "resource": "*"}


@pytest.fixture
def name() -> str:
    return f"x{uuid.uuid4().hex[:12]}"


@pytest.fixture
def run(door: Door, server: RunningServer) -> Any:
    """Run a body with the lake of the administrator."""

    def over(body: Any) -> None:
        door.run(body, endpoint=server.endpoint, key=server.access_key_id, secret=server.secret_access_key, quick=False)

    return over


def connect(server: RunningServer, key: lakebed.AccessKey) -> lakebed.Lake:
    return lakebed.connect(server.endpoint, key.id, key.secret)


def test_users(run: Any, name: str) -> None:
    async def body(lake: Any) -> None:
        made = await lake.users.create(name, friendly_name="Ana", email="ana@example.org", service=True)
        assert (made.id, made.friendly_name, made.email, made.disabled, made.service) == (
            *(name, "Ana", "ana@example.org", False, True),
        )
        assert await lake.users.get(name) == made
        with pytest.raises(AlreadyExistsError, match="Already exists"):
            await lake.users.create(name)
        with pytest.raises(InvalidRequestError, match="must not contain a slash"):
            await lake.users.create("a/b")
        assert [user.id async for user in lake.users.list(name)] == [name]
        assert (await lake.users.update(name, friendly_name="", disabled=True)).disabled
        with pytest.raises(InvalidRequestError, match="nothing to change"):
            await lake.users.update(name)
        await lake.users.drop(name)
        with pytest.raises(NotFoundError, match=r"there is no user .*; see lake\.users\.list\(\)"):
            await lake.users.get(name)

    run(body)


def test_groups_and_attachments(run: Any, name: str) -> None:
    async def body(lake: Any) -> None:
        group = await lake.groups.create(name, "those who read")
        assert (group.id, group.description) == (name, "those who read")
        assert await lake.groups.get(name) == group
        assert "Admins" in [one.id async for one in lake.groups.list()]
        await lake.users.create(name)
        await lake.groups.add(name, name)
        with pytest.raises(AlreadyExistsError):
            await lake.groups.add(name, name)
        assert [one.id for one in await lake.groups.members(name).all()] == [name]
        assert [one.id for one in await lake.users.groups(name).all()] == [name]
        await lake.groups.attach(name, "FSReadAll")
        await lake.users.attach(name, "CatalogReadAll")
        assert [one.id for one in await lake.groups.policies(name).all()] == ["FSReadAll"]
        assert [one.id for one in await lake.users.policies(name).all()] == ["CatalogReadAll"]
        effective = await lake.users.policies(name, effective=True).all()
        assert [one.id for one in effective] == ["CatalogReadAll", "FSReadAll"]
        await lake.users.detach(name, "CatalogReadAll")
        await lake.groups.detach(name, "FSReadAll")
        await lake.groups.remove(name, name)
        with pytest.raises(NotFoundError, match="is not a member"):
            await lake.groups.remove(name, name)
        granted = await lake.groups.grant(name, "sales", "reader")
        assert granted.id == "lakebed.reader.sales"
        await lake.groups.revoke(name, "sales")
        await lake.groups.drop(name)
        await lake.users.drop(name)
        # with another member, the next call would take the rights of this user for all tests
        assert [one.id for one in await lake.groups.members("Admins").all()] == ["admin"]
        with pytest.raises(ConflictError, match="no user could manage users"):
            await lake.groups.remove("Admins", "admin")

    run(body)


def test_policies(run: Any, name: str) -> None:
    async def body(lake: Any) -> None:
        made = await lake.policies.create(name, [READ])
        assert (made.id, made.statements) == (name, (READ,))
        assert await lake.policies.get(name) == made
        changed = await lake.policies.update(
            name, [READ, {**READ, "effect": "deny", "resource": ["arn:lakefs:fs:::x"]}]
        )
        assert changed.statements[1]["resource"] == ["arn:lakefs:fs:::x"]
        with pytest.raises(InvalidRequestError, match="did you mean 'fs:ReadObject'") as caught:
            await lake.policies.create("other", [{**READ, "action": ["fs:ReadObjet"]}])
        assert caught.value.kind == "invalid_policy"
        assert [one.id async for one in lake.policies.list(name)] == [name]
        await lake.policies.drop(name)
        with pytest.raises(NotFoundError):
            await lake.policies.get(name)

    run(body)


def test_keys_and_grants_of_another_user(run: Any, name: str, server: RunningServer) -> None:
    async def body(lake: Any) -> None:
        await lake.users.create(name)
        key = await lake.keys.create(name)
        assert [one.id for one in await lake.keys.list(name)] == [key.id]
        assert (await lake.keys.get(key.id, name)).secret == ""
        repo = await lake.repository(name).create(f"local://{name}")
        with connect(server, key) as own:
            assert own.user().id == name
            with pytest.raises(PermissionDeniedError) as caught:
                own.repository(name).branch("main").put("x", b"1")
            assert caught.value.reason == f"needs fs:WriteObject on repository/{name}/object/x"
            with pytest.raises(PermissionDeniedError, match=f"needs auth:CreateUser on user/{name}2"):
                own.users.create(f"{name}2")
            assert (await lake.users.grant(name, name, "writer")).id == f"lakebed.writer.{name}"
            own.repository(name).branch("main").put("x", b"1")
            await lake.users.revoke(name, name)
            await lake.users.update(name, disabled=True)
            with pytest.raises(AuthenticationError, match="is disabled"):
                own.user()
        await lake.keys.drop(key.id, name)
        await lake.users.drop(name)
        await repo.delete()

    run(body)


def test_own_keys(run: Any) -> None:
    async def body(lake: Any) -> None:
        key = await lake.keys.create()
        assert key.id in [one.id for one in await lake.keys.list()]
        assert await lake.keys.get(key.id) == await lake.access_key(key.id)
        await lake.keys.drop(key.id)
        assert key.id not in [one.id for one in await lake.access_keys()]

    run(body)


def test_simulation(run: Any, name: str) -> None:
    async def body(lake: Any) -> None:
        await lake.users.create(name)
        await lake.policies.create(
            name,
            [READ, {"effect": "allow", "action": ["fs:WriteObject"], "resource": "*",
                    "condition": {"StringLike": {"fs:Branch": ["dev-*"]}}}],
        )  # fmt: skip
        await lake.users.attach(name, name)
        allowed = await lake.simulate("fs:WriteObject", "repository/sales/object/x", user=name, branch="dev-1")
        assert (bool(allowed), allowed.policy, allowed.statement) == (True, name, 2)
        refused = await lake.simulate("fs:WriteObject", "repository/sales/object/x", user=name, branch="main")
        assert (bool(refused), refused.effect, refused.policy) == (False, "neutral", None)
        assert "no statement" in refused.reason
        assert await lake.simulate("auth:CreateUser", "user/x")
        with pytest.raises(InvalidRequestError, match="no operation uses"):
            await lake.simulate("fs:Nonsense", "*")
        await lake.users.drop(name)
        await lake.policies.drop(name)

    run(body)


def test_limits_of_keys(run: Any, name: str, server: RunningServer) -> None:
    async def body(lake: Any) -> None:
        plain = await lake.keys.create()
        assert (plain.name, plain.expires, plain.last_used, plain.policy) == ("", None, None, None)
        made = await lake.keys.create(name="report", expires_in=timedelta(days=1), policy=[READ])
        assert (made.name, made.policy) == ("report", (READ,))
        assert timedelta(hours=23) < made.expires - made.created <= timedelta(days=1)
        assert await lake.keys.get(made.id) == replace(made, secret="")
        assert replace(made, secret="") in await lake.keys.list()
        with pytest.raises(InvalidRequestError, match="not both"):
            await lake.keys.create(read="sales", policy=[READ])
        with pytest.raises(InvalidRequestError, match="no operation needs"):
            await lake.keys.create(policy=[{**READ, "action": ["fs:Nonsense"]}])
        with pytest.raises(InvalidRequestError, match="a lifetime is"):
            await lake.keys.create(expires_in=0)
        await lake.repository(name).create(f"local://{name}")
        read = await lake.keys.create(read=name)
        with connect(server, read) as other:
            assert other.repository(name).branch("main").info().id == "main"
            with pytest.raises(PermissionDeniedError, match="the policy of the access key does not allow it"):
                other.repository(name).branch("dev").create("main")
            with pytest.raises(PermissionDeniedError):
                other.keys.create()
        for key in (plain, made, read):
            await lake.keys.drop(key.id)

    run(body)


def test_a_commit_for_another_user(run: Any, name: str) -> None:
    async def body(lake: Any) -> None:
        await lake.users.create(name, email=f"{name}@example.org")
        repository = await lake.repository(name).create(f"local://{name}")
        main = repository.branch("main")
        await main.put("a", b"x")
        made = await main.commit("m", author=name)
        assert (made.committer, made.metadata["lakebed.committed_by"]) == (f"{name}@example.org", "admin")
        workspace = main.workspace()
        await workspace.put("b", b"x")
        made = await workspace.commit("m", author=name)
        assert (made.committer, made.metadata["lakebed.committed_by"]) == (f"{name}@example.org", "admin")
        await main.put("c", b"x")
        with pytest.raises(NotFoundError, match="there is no user 'unknown'"):
            await main.commit("m", author="unknown")
        with pytest.raises(NotFoundError, match="there is no user 'unknown'"):
            await main.start_commit("m", author="unknown")
        made = await (await main.start_commit("m", author=name)).wait()
        assert (made.committer, made.metadata["lakebed.committed_by"]) == (f"{name}@example.org", "admin")

    run(body)
