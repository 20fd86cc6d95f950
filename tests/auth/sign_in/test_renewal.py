"""Tokens of sign-ins: the SDK sends them everywhere and renews them, and the server ends them with their session."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import httpx
import jwt
import lakebed
import pytest
import yaml
from lakebed import aio
from lakebed._settings import sign_in_file
from lakebed_testing import LakebedServer

from tests.auth.signed_in import HOUR, new_session, signing_server, token_of


@pytest.fixture(scope="module")
def server() -> Iterator[LakebedServer]:
    with signing_server() as running:
        yield running


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "lakebed.yaml"
    monkeypatch.setenv("LAKEBED_CONFIG_FILE", str(path))
    path.write_text("")
    return path


def renew(server: LakebedServer, token: str, **more: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.post(f"{server.endpoint}/api/v1/auth/login/renew", **{"headers": headers, **more})


def claims(token: str) -> dict[str, Any]:
    return jwt.decode(token, options={"verify_signature": False})


def test_every_client_sends_the_token(server: LakebedServer) -> None:
    token = token_of(new_session())
    with lakebed.connect(server.endpoint, token=token) as lake:
        assert lake.user().id == "admin"
        lake.repository("tokens").create("mem://tokens")
        lake.repository("tokens").branch("main").put("a.txt", b"a")
        assert pickle.loads(pickle.dumps(lake)).user().id == "admin"
    files = fsspec.filesystem("lakebed", endpoint=server.endpoint, token=token)
    assert files.cat("tokens/main/a.txt") == b"a"
    assert token not in files.to_json(include_password=False)
    assert token not in repr(files)

    async def ask() -> str:
        async with aio.connect(server.endpoint, token=token) as lake:
            return (await lake.user()).id

    assert asyncio.run(ask()) == "admin"


def test_an_unpickled_workspace_uses_the_connection_of_its_session(server: LakebedServer) -> None:
    first, second = token_of(new_session()), token_of(new_session())
    with (
        lakebed.connect(server.endpoint, token=first) as lake,
        lakebed.connect(server.endpoint, token=second) as other,
    ):
        lake.repository("pickled").create("mem://pickled")
        for one in (lake, other):
            workspace = one.repository("pickled").branch("main").workspace().create()
            text = pickle.dumps(workspace)
            assert first.encode() not in text
            assert second.encode() not in text
            assert pickle.loads(text).repository.branch("main")._transport is one._transport


def test_the_sdk_renews_a_token_after_half_of_its_life_and_stores_it(server: LakebedServer, file: Path) -> None:
    session = new_session(age=7 * HOUR)
    old = token_of(session, age=7 * HOUR)
    sign_in_file.store(file, server.endpoint, old)
    with lakebed.connect() as lake:
        assert lake.user().id == "admin"
        new = lake.settings.token
        assert lake.user().id == "admin"
        assert lake.settings.token == new
        assert pickle.loads(pickle.dumps(lake)).settings.token == new
    assert yaml.safe_load(file.read_text()) == {"endpoint": server.endpoint, "token": new}
    assert claims(new)["jti"] == claims(old)["jti"]
    assert claims(new)["session_end"] == claims(old)["session_end"]
    assert claims(new)["exp"] > claims(old)["exp"] + 6 * HOUR


def test_a_young_token_is_not_renewed(server: LakebedServer, file: Path) -> None:
    young = token_of(new_session(), age=5 * HOUR)
    sign_in_file.store(file, server.endpoint, young)
    with lakebed.connect() as lake:
        assert lake.user().id == "admin"
        assert lake.settings.token == young


def test_a_token_that_came_from_an_argument_is_stored_nowhere(server: LakebedServer, file: Path) -> None:
    session = new_session(age=7 * HOUR)
    sign_in_file.store(file, server.endpoint, stored := token_of(session))
    with lakebed.connect(server.endpoint, token=token_of(session, age=7 * HOUR)) as lake:
        lake.user()
    assert yaml.safe_load(file.read_text())["token"] == stored


@pytest.mark.medium
def test_a_refused_renewal_leaves_the_old_token_in_use(file: Path) -> None:
    with signing_server() as server:
        sign_in_file.store(file, server.endpoint, old := token_of(new_session("nobody"), age=7 * HOUR))
        with lakebed.connect() as lake, pytest.raises(lakebed.AuthenticationError) as refused:
            lake.user()
    assert "the sign-in has expired: run `lakebed login`" in str(refused.value)
    assert f"the SDK sent the token from file {file}" in str(refused.value)
    assert old not in str(refused.value)
    assert yaml.safe_load(file.read_text())["token"] == old


def test_a_session_is_renewed_until_its_limit(server: LakebedServer) -> None:
    session = new_session(age=30 * 24 * HOUR - 100)
    got = renew(server, token_of(session, age=6 * HOUR))
    assert got.status_code == 200, got.text
    assert claims(got.json()["token"])["exp"] == session.ends
    over = new_session(age=30 * 24 * HOUR + 100)
    assert renew(server, token_of(over, age=6 * HOUR)).status_code == 401


def test_only_the_token_of_a_sign_in_can_be_renewed(server: LakebedServer) -> None:
    pair = (server.access_key_id, server.secret_access_key)
    assert renew(server, "", headers={}, auth=pair).status_code == 400
    with server.connect() as lake:
        assert renew(server, lake.session_token().token).status_code == 400
    cookie = {"internal_auth_session": token_of(new_session())}
    assert renew(server, "", headers={}, cookies=cookie).status_code == 403


def test_an_ended_session_cannot_be_renewed(server: LakebedServer) -> None:
    session = new_session()
    first, second = token_of(session), token_of(session, age=HOUR)
    end = f"{server.endpoint}/api/v1/auth/logout"
    assert httpx.post(end, headers={"authorization": f"Bearer {first}"}).status_code == 204
    assert [renew(server, one).status_code for one in (first, second)] == [401, 401]


def test_a_disabled_user_cannot_renew(server: LakebedServer) -> None:
    with server.connect() as lake:
        created = int(lake.users.create("eva").created.timestamp())
        token = token_of(new_session("eva", generation=created))
        assert renew(server, token).status_code == 200
        lake.users.update("eva", disabled=True)
    assert renew(server, token).status_code == 401


def test_session_token_of_a_signed_in_connection_is_a_renewed_one(server: LakebedServer) -> None:
    token = token_of(new_session(), age=HOUR)
    with lakebed.connect(server.endpoint, token=token) as lake:
        given = lake.session_token()
    assert given.token != token
    assert claims(given.token)["jti"] == claims(token)["jti"]
