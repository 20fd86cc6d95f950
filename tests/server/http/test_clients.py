"""Whose address and scheme a request has: forwarded headers count only from trusted proxies."""

from __future__ import annotations

import base64
import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest
from lakebed._http import exchange
from lakebed_server.http.request import Call
from lakebed_server.network import clients
from lakebed_server.network.clients import Client, client_of, is_loopback, read_proxies
from lakebed_server.process.logs import LineFormatter
from lakebed_server.vocabulary import Scope, SettingError

from tests.server.s3.gatewaying import Bucket
from tests.server.support import (
    KEY_ID,
    LOGIN,
    OBJECTS,
    SECRET,
    FakeEngine,
    ask,
    basic,
    log_to_stream,
    make_app,
    services,
)
from tests.support.processes.server import clean_environment

PROXIES = "10.0.0.0/8, 127.0.0.1, 2001:db8:1::/48"


def scope(peer: str | None, *headers: tuple[str, str], scheme: str = "http") -> Scope:
    sent = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    return {"client": None if peer is None else (peer, 1), "scheme": scheme, "headers": sent}


@pytest.mark.parametrize(
    ("peer", "headers", "expected"),
    [
        # headers of a client that is not a trusted proxy are ignored
        ("192.0.2.1", [("x-forwarded-for", "203.0.113.9"), ("x-forwarded-proto", "https")], ("192.0.2.1", False)),
        ("192.0.2.1", [("forwarded", "for=203.0.113.9;proto=https")], ("192.0.2.1", False)),
        ("::1", [("x-forwarded-for", "203.0.113.9")], ("::1", False)),
        (None, [("x-forwarded-for", "203.0.113.9")], ("", False)),
        # a proxy is
        ("10.0.0.7", [("x-forwarded-for", "203.0.113.9"), ("x-forwarded-proto", "https")], ("203.0.113.9", True)),
        ("127.0.0.1", [("x-forwarded-for", "203.0.113.9:4711")], ("203.0.113.9", False)),
        ("::ffff:10.0.0.7", [("x-forwarded-for", "203.0.113.9")], ("203.0.113.9", False)),
        ("2001:db8:1::9", [("x-forwarded-for", "[2001:db8:9::1]:4711")], ("2001:db8:9::1", False)),
        ("10.0.0.7", [], ("10.0.0.7", False)),
        # what is before the last stranger, the stranger has made up
        ("10.0.0.7", [("x-forwarded-for", "127.0.0.1, 203.0.113.9")], ("203.0.113.9", False)),
        ("10.0.0.7", [("x-forwarded-for", "6.6.6.6, 203.0.113.9, 10.0.0.8")], ("203.0.113.9", False)),
        ("10.0.0.7", [("x-forwarded-for", "6.6.6.6"), ("x-forwarded-for", "203.0.113.9")], ("203.0.113.9", False)),
        ("10.0.0.7", [("x-forwarded-for", "10.0.0.9, 10.0.0.8")], ("10.0.0.9", False)),
        ("10.0.0.7", [("x-forwarded-proto", "https, http")], ("10.0.0.7", False)),
        # what is not an address ends the search
        ("10.0.0.7", [("x-forwarded-for", "6.6.6.6, unknown, 10.0.0.8")], ("10.0.0.8", False)),
        ("10.0.0.7", [("x-forwarded-for", "\n\x9b,,;")], ("10.0.0.7", False)),
        # Forwarded counts only alone: a proxy that writes the others may pass on the client's own
        ("10.0.0.7", [("forwarded", 'for="[2001:db8:9::17]:4711";proto=https;by=x')], ("2001:db8:9::17", True)),
        ("10.0.0.7", [("forwarded", "for=6.6.6.6, For=203.0.113.9;Proto=HTTPS")], ("203.0.113.9", True)),
        ("10.0.0.7", [("forwarded", "for=6.6.6.6;proto=https, for=203.0.113.9")], ("203.0.113.9", False)),
        ("10.0.0.7", [("forwarded", "for=_hidden")], ("10.0.0.7", False)),
        (
            "10.0.0.7",
            [("forwarded", "for=6.6.6.6;proto=https"), ("x-forwarded-for", "203.0.113.9")],
            ("203.0.113.9", False),
        ),
    ],
)
def test_the_client_of_a_request(peer: str | None, headers: list[tuple[str, str]], expected: tuple[str, bool]) -> None:
    assert client_of(scope(peer, *headers), read_proxies(PROXIES)) == Client(*expected)


def test_without_trusted_proxies_only_the_connection_counts() -> None:
    headers = (("x-forwarded-for", "203.0.113.9"), ("x-forwarded-proto", "https"), ("forwarded", "for=6.6.6.6"))
    assert client_of(scope("127.0.0.1", *headers), read_proxies("")) == Client("127.0.0.1", False)
    assert client_of(scope("127.0.0.1", *headers, scheme="https"), read_proxies("")) == Client("127.0.0.1", True)


def test_long_headers_are_read_from_their_end() -> None:
    long = "6.6.6.6, " * 100_000 + "203.0.113.9"
    assert client_of(scope("10.0.0.7", ("x-forwarded-for", long)), read_proxies(PROXIES)).address == "203.0.113.9"


@pytest.mark.parametrize("text", ["proxy.example", "10.0.0.1/8", "10.0.0.0/33", "*", "10.0.0.1 10.0.0.2"])
def test_wrong_proxies_are_one_sentence(text: str) -> None:
    with pytest.raises(SettingError, match=r"listen\.trusted_proxies: expected addresses or networks"):
        read_proxies(text)


def test_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1")))
    assert not any(map(is_loopback, ("", "10.0.0.1", "::", "fe80::1%eth0", "localhost.example")))


def shares(client: str, *headers: tuple[str, str], proxies: str = "") -> bool:
    given = {**scope(client, *headers), "method": "GET", "path": "/"}

    async def nothing() -> dict[str, object]:
        raise AssertionError

    return Call(given, nothing, services(FakeEngine(), proxies=proxies)).shares_directories


def test_directories_are_for_clients_that_prove_to_be_here() -> None:
    """SDK and server make the same proof. A proxy or a tunnel that adds no header has a loopback address, too."""
    [(name, proof)] = exchange.machine_headers("http://localhost:8000").items()
    mine = (name.lower(), proof)
    assert mine == (clients.MACHINE_HEADER.decode(), clients.machine_proof().decode())
    assert shares("127.0.0.1", mine)
    assert shares("::1", mine)
    assert not shares("127.0.0.1")
    assert not shares("127.0.0.1", (mine[0], ""))
    assert not shares("127.0.0.1", (mine[0], "0" * 64))
    assert not shares("192.0.2.1", mine)
    assert not shares("127.0.0.1", mine, ("x-forwarded-for", "203.0.113.9"), proxies="127.0.0.1")
    assert exchange.machine_headers("https://lake.example") == {}


@pytest.fixture(name="stream")
def _stream() -> Iterator[io.StringIO]:
    """What the server logs at level DEBUG, as JSON."""
    with log_to_stream("DEBUG", "json") as stream:
        yield stream


def lines_of(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_log_names_the_client_of_a_failed_login(stream: io.StringIO) -> None:
    app = make_app(proxies="192.0.2.1")
    body = {"access_key_id": KEY_ID, "secret_access_key": SECRET}
    token = ask(app, LOGIN, "POST", msgspec.json.encode(body), auth=False, x_forwarded_for="203.0.113.9").json["token"]
    ask(app, LOGIN, "POST", msgspec.json.encode({**body, "secret_access_key": "guess"}), auth=False)
    ask(app, OBJECTS, authorization=basic("AKIASTRANGER", "guess"), user_agent="x" * 500 + "\x9b2J")
    ask(app, OBJECTS, authorization=basic("AKIA\x9b\n" + "y" * 200, "guess"), user_agent="a\x9b2J\x7f")
    ask(app, OBJECTS, authorization="Bearer " + token)
    ask(app, OBJECTS, authorization="Basic " + base64.b64encode(b"a-secret-alone").decode())
    ask(app, OBJECTS, authorization="Basic !")
    rows = [(row["status"], row["user"], row["access_key_id"], row["address"]) for row in lines_of(stream)]
    assert rows[0] == (200, "admin", KEY_ID, "203.0.113.9")
    assert rows[1] == (401, "", KEY_ID, "192.0.2.1")
    assert rows[2] == (401, "", "AKIASTRANGER", "192.0.2.1")
    assert str(rows[3][2]).startswith("AKIA\\x9b\nyyy")  # JSON and the text log escape what is ASCII
    assert len(str(rows[3][2])) < 140
    assert rows[4][1:3] == ("admin", KEY_ID)
    assert rows[5][2] == rows[6][2] == ""
    assert lines_of(stream)[2]["user_agent"] == "x" * 200
    assert lines_of(stream)[3]["user_agent"] == "a\\xc2\\x9b2J\x7f"
    assert SECRET not in stream.getvalue()
    assert "a-secret" not in stream.getvalue()
    assert token not in stream.getvalue()


def test_log_names_the_user_of_a_signed_request(stream: io.StringIO) -> None:
    bucket = Bucket()
    try:
        bucket("GET", "/lake")
        scope = f"{KEY_ID}/20231114/us-east-1/s3/aws4_request"
        signature = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host;x-amz-date, Signature=0"
        bucket.send("GET", "/lake", {"host": "s3.test", "authorization": signature})
        bucket.send("GET", "/lake?AWSAccessKeyId=AKIAOLD&Signature=x&Expires=1", {"host": "s3.test"})
    finally:
        bucket.close()
    assert [(row["user"], row["access_key_id"]) for row in lines_of(stream)] == [
        ("admin", KEY_ID),
        ("", KEY_ID),
        ("", "AKIAOLD"),
    ]


def test_a_message_cannot_forge_a_line() -> None:
    said = "key \n2026-01-01 INFO  request user=admin\r\x1b[2J\x9b\u2028\ud800 é"
    record = logging.LogRecord("lakebed.test", logging.WARNING, "", 0, "store: %s", (said,), None)
    [line] = LineFormatter("text").format(record).splitlines()
    assert "store: key \\n2026-01-01 INFO  request user=admin\\r\\x1b[2J\\x9b\\u2028\\ud800 é logger=" in line


def test_a_field_cannot_forge_a_line() -> None:
    record = logging.makeLogRecord({"msg": "request", "fields": {"user": "a\n\x1b\x9b\u2028\ud800é"}})
    [line] = LineFormatter("text").format(record).splitlines()
    assert all(character.isprintable() for character in line)


@pytest.mark.slow
def test_the_command_warns_in_one_line() -> None:
    command = [sys.executable, "-m", "lakebed.cli", "--endpoint", "http://lake.invalid:1", "repo", "list"]
    environment = clean_environment(LAKEBED_ACCESS_KEY_ID="k", LAKEBED_SECRET_ACCESS_KEY="s")
    done = subprocess.run([*command, "--retries", "0"], env=environment, capture_output=True, text=True, check=False)
    first, *_ = done.stderr.splitlines()
    assert first.startswith("lakebed: warning: the access key is sent to http://lake.invalid:1 without TLS")
