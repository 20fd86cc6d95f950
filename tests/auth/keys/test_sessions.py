"""Login sessions are listed with their origin, ended by their user or an administrator, and bounded in number."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import httpx
import lakebed
import pytest
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_server.auth.sessions import MOST, OpenSession, Sessions
from lakebed_testing import LakebedServer

from tests.auth.signed_in import new_session, signing_server, token_of
from tests.support.waiting import wait_until


@pytest.fixture
def server() -> Iterator[LakebedServer]:
    with signing_server() as running:
        yield running


def log_in(server: LakebedServer, key: lakebed.AccessKey | None = None, agent: str = "a browser") -> str:
    """A token of login."""
    pair = (server.access_key_id, server.secret_access_key) if key is None else (key.id, key.secret)
    body = dict(zip(("access_key_id", "secret_access_key"), pair, strict=True))
    answer = httpx.post(f"{server.endpoint}/api/v1/auth/login", json=body, headers={"user-agent": agent})
    return str(answer.json()["token"])


def status(server: LakebedServer, token: str) -> int:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.get(f"{server.endpoint}/api/v1/user", headers=headers).status_code


def add_user(lake: lakebed.Lake, user: str) -> lakebed.AccessKey:
    lake.users.create(user)
    return lake.keys.create(user=user)


def test_a_session_is_listed_with_its_origin_and_ended(server: LakebedServer) -> None:
    token = log_in(server, agent="Firefox")
    other = log_in(server)
    with server.connect() as lake:
        listed = lake.users.sessions("admin").all()
        assert {(one.source, one.address) for one in listed} == {("token", "127.0.0.1")}
        (mine,) = [one for one in listed if one.user_agent.startswith("Firefox")]
        assert time.time() - 60 < mine.created.timestamp() <= time.time() < mine.expires.timestamp()
        assert (status(server, token), status(server, other)) == (200, 200)
        lake.users.end_session("admin", mine.id)
        assert (status(server, token), status(server, other)) == (401, 200)
        assert mine.id not in {one.id for one in lake.users.sessions("admin")}
        with pytest.raises(lakebed.NotFoundError) as gone:
            lake.users.end_session("admin", mine.id)
    assert gone.value.kind == "session_not_found"


def test_pages_of_sessions(server: LakebedServer) -> None:
    for _ in range(5):
        log_in(server)
    with server.connect() as lake:
        first = lake.request("GET", "/auth/users/admin/sessions", {"amount": "2"}).json()
        assert (len(first["results"]), first["pagination"]["has_more"]) == (2, True)
        assert len(lake.users.sessions("admin").all()) == 5


def test_users_see_and_end_their_own_sessions_only(server: LakebedServer) -> None:
    with server.connect() as admin:
        key = add_user(admin, "ana")
        token = log_in(server, key)
        log_in(server)
        with lakebed.connect(server.endpoint, key.id, key.secret) as lake:
            (mine,) = lake.users.sessions("ana")
            with pytest.raises(lakebed.PermissionDeniedError, match="needs auth:ListCredentials on user/admin"):
                lake.users.sessions("admin").all()
            (theirs,) = admin.users.sessions("admin")
            with pytest.raises(lakebed.PermissionDeniedError, match="needs auth:DeleteCredentials on user/admin"):
                lake.users.end_session("admin", theirs.id)
            with pytest.raises(lakebed.NotFoundError):
                lake.users.end_session("ana", theirs.id)
            lake.users.end_session("ana", mine.id)
        assert status(server, token) == 401
        again = log_in(server, key)
        (session,) = admin.users.sessions("ana")
        admin.users.end_session("ana", session.id)
        assert status(server, again) == 401


def test_a_key_with_a_policy_does_not_reach_the_sessions_of_its_user(server: LakebedServer) -> None:
    read = [{"effect": "allow", "action": ["fs:Read*"], "resource": "*"}]
    with server.connect() as admin:
        admin.users.create("ana")
        key = admin.keys.create(user="ana", policy=read)
    with lakebed.connect(server.endpoint, key.id, key.secret) as lake, pytest.raises(lakebed.PermissionDeniedError):
        lake.users.sessions("ana").all()


def test_the_list_is_empty_after_logout(server: LakebedServer) -> None:
    token = log_in(server)
    with server.connect() as lake:
        with lakebed.connect(server.endpoint, token=token) as signed_in:
            signed_in.request("POST", "/auth/logout")
        assert lake.users.sessions("admin").all() == []
        log_in(server)
        lake.end_session_tokens()
        assert lake.users.sessions("admin").all() == []


def test_a_deleted_user_who_is_created_again_has_no_old_session(server: LakebedServer) -> None:
    with server.connect() as lake:
        key = add_user(lake, "eva")
        log_in(server, key)
        generation = int(lake.users.get("eva").created.timestamp())
        old = token_of(new_session("eva", generation=generation))
        assert status(server, old) == 200
        lake.users.drop("eva")
        wait_until(lambda: time.time() >= generation + 1, "the second of the creation, which is the generation, ends")
        lake.users.create("eva")
        assert lake.users.sessions("eva").all() == []
        wait_until(lambda: status(server, old) == 401, "the server refuses the old session, which it may remember")


def test_expired_sessions_and_the_oldest_of_too_many_are_pruned() -> None:
    async def run() -> None:
        sessions = Sessions(MemoryKV())
        await sessions.add("ana", OpenSession("expired", 1, 5, "oidc", "", ""))
        for number in range(MOST + 3):
            await sessions.add("ana", OpenSession(f"{number:04}", 10 + number, 1000, "oidc", "", ""))
        await sessions.add("ana-b", OpenSession("other", 1, 1000, "oidc", "", ""))
        found, more = await sessions.page("ana", "", 1000, now=500)
        assert [one.id for one in found] == [f"{number:04}" for number in range(3, MOST + 3)]
        assert not more
        assert await sessions.page("ana", "", 1000, now=1001) == ([], False)

    asyncio.run(run())
