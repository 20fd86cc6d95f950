"""Wrong secrets at a real server: the probe M11 of the security review, and its answer; and the counting by itself."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from botocore import auth as botocore_auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from lakebed_server.auth import guesses
from lakebed_server.auth.guesses import FREE, FREE_PROVEN, Guesses
from lakebed_server.vocabulary import RequestError

from tests.support.processes.server import RunningServer, running_server

USER = "/api/v1/user"
LOGIN = "/api/v1/auth/login"
Asked = Callable[[httpx.Client, str], httpx.Response]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with running_server(tmp_path / "data") as started:
        yield started


def client_of(server: RunningServer, address: str) -> httpx.Client:
    """A client whose connections come from this address."""
    return httpx.Client(base_url=server.endpoint, timeout=60, transport=httpx.HTTPTransport(local_address=address))


def by_basic(server: RunningServer) -> Asked:
    return lambda client, secret: client.get(USER, auth=(server.access_key_id, secret))


def by_login(server: RunningServer) -> Asked:
    def ask(client: httpx.Client, secret: str) -> httpx.Response:
        return client.post(LOGIN, json={"access_key_id": server.access_key_id, "secret_access_key": secret})

    return ask


def by_signature(server: RunningServer) -> Asked:
    def ask(client: httpx.Client, secret: str) -> httpx.Response:
        request = AWSRequest("GET", server.endpoint + "/")
        botocore_auth.S3SigV4Auth(Credentials(server.access_key_id, secret), "s3", "us-east-1").add_auth(request)
        return client.get("/", headers=dict(request.headers.items()))

    return ask


def by_old_signature(server: RunningServer) -> Asked:
    def ask(client: httpx.Client, secret: str) -> httpx.Response:
        request = AWSRequest("GET", server.endpoint + "/")
        botocore_auth.HmacV1Auth(Credentials(server.access_key_id, secret)).add_auth(request)
        return client.get("/", headers=dict(request.headers.items()))

    return ask


@pytest.mark.parametrize(
    ("way", "wrong", "slowed"),
    [(by_basic, 401, 429), (by_login, 401, 429), (by_signature, 403, 503), (by_old_signature, 403, 503)],
)
def test_guessing_client_is_slowed_down_and_the_owner_is_not(
    server: RunningServer, way: Callable[[RunningServer], Asked], wrong: int, slowed: int
) -> None:
    ask, right = way(server), server.secret_access_key
    with client_of(server, "127.0.0.1") as guesser, client_of(server, "127.0.0.2") as owner:
        answers = [ask(guesser, f"guess {number}") for number in range(200)]
        statuses = [answer.status_code for answer in answers]
        assert statuses[:FREE] == [wrong] * FREE
        assert statuses.count(wrong) < FREE + 5  # as many more as seconds have passed
        assert set(statuses) == {wrong, slowed}
        reported = ask(guesser, right)
        assert reported.status_code == slowed  # also when the guess is right
        assert 1 <= int(reported.headers["retry-after"]) <= 60
        assert "too many wrong secrets" in reported.text
        assert [ask(owner, right).status_code for _ in range(3)] == [200] * 3
    lines = [line for line in server.log.splitlines() if "login failed" in line]
    assert all(re.search(rf"WARN .*'{server.access_key_id}' from address 127.0.0.1", line) for line in lines)
    assert 1 <= len(lines) <= 5
    assert "guess 1" not in server.log


def test_guesses_of_an_unknown_key_are_throttled_too(server: RunningServer) -> None:
    with client_of(server, "127.0.0.1") as guesser:
        answers = [guesser.get(USER, auth=("AKIAJNOBODY", f"guess {number}")) for number in range(30)]
        statuses = [answer.status_code for answer in answers]
        assert statuses[:FREE] == [401] * FREE
        assert answers[statuses.index(429)].json()["kind"] == "login_throttled"
        # another key of the same address is not affected
        assert guesser.get(USER, auth=(server.access_key_id, server.secret_access_key)).status_code == 200


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def waits(found: Guesses, address: str, key_id: str) -> int:
    """Seconds, as the answer says; 0 when the client may try."""
    try:
        found.check(address, key_id)
    except RequestError as error:
        return int(dict(error.headers)[b"retry-after"])
    return 0


def fail(found: Guesses, address: str, key_id: str, count: int = 1) -> int:
    for _ in range(count):
        found.failed(address, key_id)
    return waits(found, address, key_id)


def test_the_wait_doubles_to_a_minute_and_is_forgotten() -> None:
    clock = Clock()
    found = Guesses(clock)
    assert waits(found, "a", "k") == 0
    assert fail(found, "a", "k", FREE - 1) == 0
    seen = []
    for _ in range(9):
        seen.append(fail(found, "a", "k"))
        clock.now += seen[-1]
        assert waits(found, "a", "k") == 0
    assert seen == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    clock.now += guesses.FORGET + 1
    assert fail(found, "a", "k", FREE - 1) == 0


def test_only_the_guessing_address_and_key_wait() -> None:
    found = Guesses(Clock())
    assert fail(found, "a", "k", FREE) == 1
    assert waits(found, "a", "other") == waits(found, "b", "k") == 0


def test_after_many_failures_of_an_address_or_a_key_new_pairs_have_one_for_free() -> None:
    found = Guesses(Clock())
    for number in range(guesses.MANY):
        assert fail(found, "a", f"k{number}") == 0
        assert fail(found, f"a{number}", "k") == 0
    assert fail(found, "a", "new") == 1
    assert fail(found, "new", "k") == 1
    assert fail(found, "new", "new") == 0
    assert waits(found, "newer", "k") == 0  # its owner, from an address that has not failed


def test_failing_client_does_not_lock_out_a_proven_client() -> None:
    clock = Clock()
    found = Guesses(clock)
    found.passed("a", "k")
    assert fail(found, "a", "k", FREE - 1) == 0
    found.passed("a", "k")
    assert fail(found, "a", "k", FREE_PROVEN - FREE) == 0
    assert fail(found, "a", "k") == 1


def test_the_memory_is_bounded() -> None:
    found = Guesses(Clock())
    for number in range(guesses.MOST + 100):
        found.failed(f"a{number}", "k" * (3 << 20) if number % 1000 == 0 else f"k{number}")
    for table in (found._pairs, found._addresses, found._keys):
        assert len(table) <= guesses.MOST
    assert all(len(str(key)) < 400 for key in found._pairs)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("no:address", "no:other", False),
    ],
)
def test_an_address_of_ipv6_is_its_network(one: str, other: str, same: bool) -> None:
    found = Guesses(Clock())
    fail(found, one, "k", FREE)
    assert (waits(found, other, "k") > 0) is same


def test_the_log_has_a_line_a_second(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    found = Guesses(clock)
    with caplog.at_level(logging.WARNING, "lakebed.auth"):
        fail(found, "10.0.0.1", "k\nFORGED", 50)
        clock.now += 1.5
        fail(found, "10.0.0.2", "k")
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        "login failed for access key 'k\\nFORGED' from address 10.0.0.1",
        "login failed for access key 'k' from address 10.0.0.2; 49 more since the last such line",
    ]
