"""Access keys, tokens and the secret key of real servers: the probes M4 of the security review, and their answers."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import httpx
import pytest
from click.testing import CliRunner, Result
from lakebed_server.cli.key_commands import keys

from tests.support.processes.server import ADMIN_ID, RunningServer, clean_environment, running_server

pytestmark = pytest.mark.slow

KEYS = "/api/v1/auth/users/admin/credentials"
USER = "/api/v1/user"
Pair = tuple[str, str]


class Door:
    """Plain HTTP to one server."""

    def __init__(self, server: RunningServer) -> None:
        self.pair = (server.access_key_id, server.secret_access_key)
        self.client = httpx.Client(base_url=server.endpoint, timeout=60)

    def knows(self, pair: Pair | str) -> int:
        """The status for an access key, or a token."""
        if isinstance(pair, str):
            return self.client.get(USER, headers=bearer(pair)).status_code
        return self.client.get(USER, auth=pair).status_code

    def make(self) -> Pair:
        made = self.client.post(KEYS, auth=self.pair)
        assert made.status_code == 201, made.text
        return made.json()["access_key_id"], made.json()["secret_access_key"]

    def delete(self, key_id: str, by: Pair | str) -> httpx.Response:
        url = f"{KEYS}/{key_id}"
        return self.client.delete(url, headers=bearer(by)) if isinstance(by, str) else self.client.delete(url, auth=by)

    def token(self, pair: Pair) -> str:
        body = {"access_key_id": pair[0], "secret_access_key": pair[1]}
        answer = self.client.post("/api/v1/auth/login", json=body)
        self.client.cookies.clear()
        assert answer.status_code == 200, answer.text
        return str(answer.json()["token"])


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Door, Door]]:
    """Two servers over one store."""
    place = tmp_path_factory.mktemp("two")
    environment = {
        "LAKEBED_KV_SQLITE_PATH": str(place / "shared.db"),
        "LAKEBED_AUTH_SECRET_KEY": "the secret that both of the servers share",
    }
    with (
        running_server(place / "one", environment=environment) as one,
        running_server(place / "two", environment=environment) as two,
    ):
        here, there = Door(one), Door(two)
        with here.client, there.client:
            yield here, there


def ends_within_a_second(door: Door, what: Pair | str, end: Callable[[], httpx.Response]) -> None:
    """What the server knows works until `end`, and not in any request that is sent a second after its answer."""
    assert door.knows(what) == 200
    answer = end()
    assert answer.status_code == 204, answer.text
    ended = time.monotonic()
    seen = []
    while (asked := time.monotonic()) < ended + 1.4:
        status = door.knows(what)
        if asked >= ended + 1.0:
            seen.append(status)
        time.sleep(0.02)  # the requests of a second and a half, not as many as the server can answer
    assert seen
    assert set(seen) <= {401, 429}  # the server throttles many wrong secrets


def test_a_deleted_key_and_its_token_end_on_every_server_within_a_second(doors: tuple[Door, Door]) -> None:
    here, there = doors
    for door in doors:
        key = here.make()
        token = there.token(key)
        for what in (key, token):
            assert here.knows(what) == there.knows(what) == 200
        ends_within_a_second(door, token, lambda key=key: here.delete(key[0], here.pair))  # type: ignore[misc]
        assert [one.knows(what) for one in doors for what in (key, token)] == [401] * 4


def test_the_key_itself_ends_on_the_other_server_within_a_second(doors: tuple[Door, Door]) -> None:
    here, there = doors
    key = here.make()
    ends_within_a_second(there, key, lambda: here.delete(key[0], here.pair))


def test_a_logout_ends_one_session_on_every_server(doors: tuple[Door, Door]) -> None:
    here, there = doors
    key = here.make()
    kept, left = here.token(key), here.token(key)
    ends_within_a_second(there, left, lambda: here.client.post("/api/v1/auth/logout", headers=bearer(left)))
    assert here.knows(left) == 401
    assert [door.knows(what) for door in doors for what in (kept, key)] == [200] * 4


def test_a_logout_by_cookie_takes_the_cookie_back(doors: tuple[Door, Door]) -> None:
    here, _ = doors
    token = here.token(here.pair)
    answer = here.client.post("/api/v1/auth/logout", headers={"Cookie": f"internal_auth_session={token}"})
    assert answer.status_code == 204
    assert answer.headers["set-cookie"].startswith("internal_auth_session=; Path=/; Max-Age=0;")
    assert here.knows(token) == 401


def test_an_access_key_has_no_session_to_end(doors: tuple[Door, Door]) -> None:
    here, _ = doors
    answer = here.client.post("/api/v1/auth/logout", auth=here.pair)
    assert (answer.status_code, answer.json()["kind"]) == (400, "invalid_request")
    assert "everywhere=true" in answer.json()["message"]


def test_a_logout_everywhere_ends_every_session_and_no_key(doors: tuple[Door, Door]) -> None:
    here, there = doors
    key = here.make()
    ended = [here.token(key), there.token(here.pair)]
    for token in ended:
        assert here.knows(token) == there.knows(token) == 200
    ends_within_a_second(
        there, ended[0], lambda: here.client.post("/api/v1/auth/logout?everywhere=true", auth=here.pair)
    )
    assert [door.knows(token) for door in doors for token in ended] == [401] * 4
    fresh = here.token(key)
    assert [door.knows(what) for door in doors for what in (fresh, key)] == [200] * 4


def test_a_login_after_logout_works_on_a_server_that_missed_the_logout(doors: tuple[Door, Door]) -> None:
    here, there = doors
    assert there.knows(there.token(there.pair)) == 200  # now it remembers the user
    assert here.client.post("/api/v1/auth/logout?everywhere=true", auth=here.pair).status_code == 204
    assert there.knows(here.token(here.pair)) == 200


def test_the_last_key_stays(tmp_path: Path) -> None:
    with Place(tmp_path / "data").serve() as door:
        token = door.token(door.pair)
        refused = door.delete(door.pair[0], token)
        assert (refused.status_code, refused.json()["kind"]) == (409, "last_credential")
        assert "create another one first" in refused.json()["message"]
        assert door.knows(door.pair) == door.knows(token) == 200
        other = door.make()
        assert door.delete(door.pair[0], token).status_code == 204
        assert [door.knows(door.pair), door.knows(token), door.knows(other)] == [401, 401, 200]
        refused = door.delete(other[0], door.token(other))
        assert (refused.status_code, refused.json()["kind"]) == (409, "last_credential")


# the secret key


class Place:
    """A data directory, the commands of its administrator, and servers over it."""

    def __init__(self, data: Path, **environment: str) -> None:
        self.data = data
        self.environment = environment

    def command(self, *arguments: str) -> Result:
        """`lakebed keys`, in this process."""
        with mock.patch.dict(os.environ, clean_environment(**self.environment), clear=True):
            return CliRunner().invoke(keys, [*arguments, "--data-dir", str(self.data)])

    def right(self, *arguments: str) -> str:
        done = self.command(*arguments)
        assert done.exit_code == 0, done.stderr
        return str(done.stdout)

    def serve(self, **more: str) -> Serving:
        return Serving(self.data, {**self.environment, **more})

    @property
    def secrets(self) -> list[str]:
        return (self.data / "secret.key").read_text().split()


class Serving:
    """A server over a data directory, as a context."""

    def __init__(self, data: Path, environment: dict[str, str]) -> None:
        self._context = running_server(data, environment=environment)

    def __enter__(self) -> Door:
        self._door = Door(self._context.__enter__())
        return self._door

    def __exit__(self, *error: object) -> None:
        self._door.client.close()
        self._context.__exit__(*error)  # type: ignore[arg-type]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Where a server has run before."""
    made = Place(tmp_path / "data")
    with made.serve():
        pass
    return made


NOBODY = {"LAKEBED_ADMIN_ACCESS_KEY_ID": "", "LAKEBED_ADMIN_SECRET_ACCESS_KEY": ""}


@pytest.mark.parametrize("admin", [{}, NOBODY], ids=["admin configured", "no admin configured"])
def test_a_lost_secret_key_is_not_replaced(place: Place, tmp_path: Path, admin: dict[str, str]) -> None:
    copy = Place(tmp_path / "copy")
    shutil.copytree(place.data, copy.data)
    (copy.data / "secret.key").unlink()
    with pytest.raises(AssertionError, match="copy the file from") as caught, copy.serve(**admin):
        pass
    assert "reset-admin" in str(caught.value)
    assert not (copy.data / "secret.key").exists()
    refused = copy.command("reset-admin")
    assert refused.exit_code == 1
    assert "--forget-unreadable" in refused.stderr
    assert not (copy.data / "secret.key").exists()

    shutil.copy(place.data / "secret.key", copy.data)
    with copy.serve(**admin) as door:
        assert door.knows(door.pair) == 200


def test_wrong_secret_key_is_reported_and_nothing_is_removed(place: Place, tmp_path: Path) -> None:
    (place.data / "secret.key").write_text("f" * 64)
    with pytest.raises(AssertionError, match="restore the old one"), place.serve():
        pass
    refused = place.command("reset-admin")
    assert refused.exit_code == 1
    assert "1 stored access keys cannot be decrypted" in refused.stderr
    assert place.secrets == ["f" * 64]


def test_an_administrator_without_key_and_secret_gets_back_in(place: Place) -> None:
    (place.data / "secret.key").unlink()
    made = json.loads(place.right("reset-admin", "--forget-unreadable", "--json"))
    assert made["forgotten"] == [ADMIN_ID]
    with place.serve(**NOBODY) as door:
        assert door.knows((made["access_key_id"], made["secret_access_key"])) == 200
        assert door.knows(door.pair) == 401


def test_an_administrator_without_key_gets_back_in_while_the_server_runs(place: Place) -> None:
    with place.serve() as door:
        reported = place.right("reset-admin")
        values = dict(line.removeprefix("export ").split("=", 1) for line in reported.splitlines())
        pair = values["LAKEBED_ACCESS_KEY_ID"], values["LAKEBED_SECRET_ACCESS_KEY"]
        assert set(values) == {"LAKEBED_ACCESS_KEY_ID", "LAKEBED_SECRET_ACCESS_KEY"}
        assert door.knows(pair) == door.knows(door.pair) == 200
        assert door.delete(door.pair[0], pair).status_code == 204


def test_the_secret_key_is_rotated_under_a_running_server(place: Place) -> None:
    (old,) = place.secrets
    with place.serve() as door:
        other, token = door.make(), door.token(door.pair)
        reported = place.right("rotate-secret")
        assert "Access keys encrypted again: 2." in reported
        (new,) = place.secrets
        assert new != old
        ended = time.monotonic()
        assert door.knows(door.pair) == door.knows(other) == 200
        time.sleep(max(0.0, ended + 1.0 - time.monotonic()))  # the promise: tokens end within a second
        assert [door.knows(what) for what in (door.pair, other, token)] == [200, 200, 401]
        later, fresh = door.make(), door.token(other)
        assert door.knows(later) == door.knows(fresh) == 200
    assert old not in (place.data / "secret.key").read_text()
    assert place.data.joinpath("secret.key").stat().st_mode & 0o777 == 0o600
    with place.serve(**NOBODY) as door:
        assert [door.knows(what) for what in (door.pair, other, later, fresh)] == [200] * 4
    assert "Access keys encrypted again: 3." in place.right("rotate-secret")


def test_a_prepared_rotation_reaches_servers_with_copies_of_the_file(place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path / "other", LAKEBED_KV_SQLITE_PATH=str(place.data / "lakebed.db"))
    other.data.mkdir()
    shutil.copy(place.data / "secret.key", other.data)
    with place.serve() as here, other.serve() as there:
        assert "Copy it to every server" in place.right("rotate-secret", "--prepare")
        assert len(place.secrets) == 2
        made = here.make()  # still with the old key: the other server has no other
        assert there.knows(made) == 200
        shutil.copy(place.data / "secret.key", other.data)
        place.right("rotate-secret")
        assert len(place.secrets) == 1
        time.sleep(1.0)  # the promise: servers read a new secret key within a second
        assert [door.knows(what) for door in (here, there) for what in (made, here.pair)] == [200] * 4
        assert here.knows(there.make()) == 200


def test_a_configured_secret_key_is_rotated(tmp_path: Path) -> None:
    old, new = "an old secret key, long enough: " + "o" * 16, "a new secret key, long enough: " + "n" * 16
    data = tmp_path / "data"
    before = Place(data, LAKEBED_AUTH_SECRET_KEY=old)
    with before.serve() as door:
        made = door.make()
    refused = before.command("rotate-secret")
    assert refused.exit_code == 2
    assert "auth.previous_secret_key" in refused.stderr
    both = Place(data, LAKEBED_AUTH_SECRET_KEY=new, LAKEBED_AUTH_PREVIOUS_SECRET_KEY=old)
    with before.serve() as late, both.serve() as early:  # they are restarted one by one
        pair = early.make()
        assert late.knows(pair) == early.knows(pair) == 200
    with both.serve() as door:
        assert "encrypted again: 3." in both.right("rotate-secret")
        assert door.knows(made) == 200
    with Place(data, LAKEBED_AUTH_SECRET_KEY=new).serve() as door:
        assert [door.knows(what) for what in (made, pair, door.pair)] == [200] * 3
    with pytest.raises(AssertionError, match="restore the old one"), before.serve():
        pass


def test_short_chosen_secrets_are_refused(tmp_path: Path) -> None:
    short = {"LAKEBED_ADMIN_ACCESS_KEY_ID": "AKIAJ", "LAKEBED_ADMIN_SECRET_ACCESS_KEY": "x" * 15}
    for environment, said in [
        (short, "admin.secret_access_key is too short: it needs at least 16 characters"),
        ({"LAKEBED_AUTH_SECRET_KEY": "x" * 31}, "auth.previous_secret_key to the short one"),
    ]:
        with pytest.raises(AssertionError, match=said), Place(tmp_path / "data").serve(**environment):
            pass
    old = {"LAKEBED_AUTH_PREVIOUS_SECRET_KEY": "x" * 16}
    with Place(tmp_path / "data").serve(LAKEBED_AUTH_SECRET_KEY="y" * 32, **old) as door:
        assert door.knows(door.pair) == 200
        body = {"username": "admin", "key": {"access_key_id": "AKIAJ", "secret_access_key": "x" * 15}}
        answer = door.client.post("/api/v1/setup_lakefs", json=body)
        assert (answer.status_code, "at least 16 characters" in answer.json()["message"]) == (400, True)
