"""Requests of hooks over real sockets: which are sent, to where, and what bad answers cost."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import ssl
from collections.abc import Iterator, Sequence
from pathlib import Path

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from lakebed_server.outbound import Answer, ForbiddenDestination, NoAnswer, OutboundError, Receivers
from lakebed_server.outbound.connector import CheckedConnector, Refused, SystemResolver

from tests.support.certificates import make_pair
from tests.support.services.receiver import Receiver, running_receiver
from tests.support.waiting import PATIENCE, until

SHORT = 0.3
NO_ROUTE = "2a00:ffff:ffff::1"
"""A public address that no machine has."""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


class Names(AbstractResolver):
    """A DNS that gives one list of addresses after the other, and the last one again and again."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = [list(one) for one in answers]
        self.asked = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked += 1
        found = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [ResolveResult(hostname=host, host=one, port=port, family=family, proto=0, flags=0) for one in found]

    async def close(self) -> None:
        pass


async def get(url: str, allow: Sequence[str] = (), names: AbstractResolver | None = None, **more: object) -> Answer:
    async with Receivers(allow, resolver=names) as receivers:
        return await receivers.request("GET", url, **{"seconds": PATIENCE, **more})  # type: ignore[arg-type]


LOOPBACK = (
    "127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0x7F.0.0.1", "017700000001",
    "0177.0.0.1", "127.0.0.1.", "localhost", "LOCALHOST", "localhost.", "localhost..", "0.0.0.0", "0", "[::1]", "[::]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::1%25lo]", "①②⑦.⓪.⓪.①", "127。0。0。1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "127.0.0.1%2f",
    "169.254.169.254", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "[fe80::1%25lo]", "10.0.0.1", "192.168.0.1",
    "100.64.0.1", "224.0.0.1", "255.255.255.255", "[ff02::1]",
)  # fmt: skip


@pytest.mark.parametrize("host", LOOPBACK)
async def test_no_form_of_a_private_address_is_connected_to(receiver: Receiver, host: str) -> None:
    before = receiver.connections
    with pytest.raises(OutboundError) as caught:
        await get(f"http://{host}:{receiver.port}/echo", seconds=SHORT)
    # A name that does not exist has no answer. All else is refused before a packet is sent.
    assert isinstance(caught.value, ForbiddenDestination) or "has no address" in str(caught.value)
    assert receiver.connections == before


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "0.0.0.0", "10.0.0.1"])
async def test_names_with_private_addresses_are_refused(receiver: Receiver, address: str) -> None:
    before = receiver.connections
    with pytest.raises(ForbiddenDestination, match=r"does not connect to .* because this address is"):
        await get(f"http://hooks.example.com:{receiver.port}/echo", names=Names([address]), seconds=SHORT)
    assert receiver.connections == before


async def test_dns_answers_that_change(receiver: Receiver) -> None:
    """A DNS that first gives a public address and then a private one gets no request to the private one."""
    before = receiver.connections
    names = Names([NO_ROUTE], ["127.0.0.1"], [NO_ROUTE, "127.0.0.1"], ["127.0.0.1", "10.0.0.1"])
    async with Receivers(resolver=names) as receivers:
        outcomes: list[str] = []
        for _ in range(4):
            with pytest.raises(OutboundError) as caught:
                await receivers.request("GET", f"http://hooks.example.com:{receiver.port}/echo", seconds=SHORT)
            outcomes.append(type(caught.value).__name__)
    assert outcomes == ["NoAnswer", "ForbiddenDestination", "NoAnswer", "ForbiddenDestination"]
    assert names.asked == 4
    assert receiver.connections == before


async def test_a_name_without_addresses() -> None:
    with pytest.raises(NoAnswer, match="the name of the host has no address"):
        await get("http://hooks.example.com/", names=Names([]))
    with pytest.raises(NoAnswer, match="the name of the host has no address"):
        await get("http://does-not-exist.invalid/")


async def test_the_peer_is_checked_too(receiver: Receiver) -> None:
    """Even if the check before the connection were missing, the request would not be sent."""

    class Careless(CheckedConnector):
        def _socket(self, address: aiohttp.AddrInfoType) -> socket.socket:
            return socket.socket(*address[:3])

    requests = len(receiver.requests)
    resolver = SystemResolver()
    connector = Careless((), resolver)
    async with aiohttp.ClientSession(connector=connector) as session:
        with pytest.raises(Refused, match=r"127\.0\.0\.1"):
            await session.get(f"{receiver.url}/echo")
    await resolver.close()
    assert len(receiver.requests) == requests


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://example.com/", "must be an http or https URL"),
        ("file:///etc/passwd", "must be an http or https URL"),
        ("gopher://example.com/", "must be an http or https URL"),
        ("http:///x", "must be an http or https URL"),
        ("//example.com/x", "must be an http or https URL"),
        ("example.com", "must be an http or https URL"),
        ("", "must be an http or https URL"),
        ("http://example.com:99999/", "must be an http or https URL"),
        ("http://example.com:0/", "must be an http or https URL"),
        ("http://[::1/", "must be an http or https URL"),
        ("http://" + "a" * 9000, "must be an http or https URL"),
        ("http://hooks.example.com\\@127.0.0.1/", "must be an http or https URL"),
        ("http://kim:pa55word@example.com/", "remove the user name and password"),
        ("http://kim@example.com/", "remove the user name and password"),
        ("http://:pa55word@example.com/", "remove the user name and password"),
        ("http://2130706433/", "is a number"),
        ("http://example.com/\udcff", "must be an http or https URL"),
    ],
)
async def test_urls_that_are_refused(url: str, words: str) -> None:
    with pytest.raises(ForbiddenDestination, match=words) as caught:
        await get(url)
    assert "pa55word" not in str(caught.value)


async def test_only_hosts_of_the_allow_list(receiver: Receiver) -> None:
    url = f"http://hooks.internal:{receiver.port}/echo"
    names = Names(["127.0.0.1"])
    assert (await get(url, ["*.internal"], names)).status == 200
    assert (await get(url.replace("hooks.internal", "HOOKS.Internal."), ["*.internal"], names)).status == 200
    assert (await get(f"{receiver.url}/echo", [f"127.0.0.1:{receiver.port}"])).status == 200
    for other in (url, url.replace("hooks.internal", "1.1.1.1"), url.replace("hooks.internal", "x.internal.evil.net")):
        with pytest.raises(ForbiddenDestination, match=r"is not in `hooks\.webhook\.allow`"):
            await get(other, ["*.other", "x.internal", "hooks.internal:1"], names)


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254", "0.0.0.0", "::ffff:169.254.169.254"])
async def test_the_allow_list_gives_no_metadata_address(address: str) -> None:
    with pytest.raises(ForbiddenDestination, match=r"metadata|unspecified"):
        await get("http://hooks.internal/", ["hooks.internal"], Names([address]), seconds=SHORT)


async def test_redirects_are_not_followed(receiver: Receiver) -> None:
    before = len(receiver.requests)
    for status in (301, 302, 303, 307, 308):
        answer = await get(f"{receiver.url}/redirect/{status}?to={receiver.url}/echo", ["127.0.0.1"])
        assert (answer.status, answer.headers["location"]) == (status, f"{receiver.url}/echo")
    assert [one.path for one in receiver.requests[before:]] == [f"/redirect/{one}" for one in (301, 302, 303, 307, 308)]


async def test_proxies_of_the_environment_are_not_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, receiver.url)
    before = receiver.connections
    with pytest.raises(NoAnswer):
        await get("http://hooks.example.com/", names=Names([NO_ROUTE]), seconds=SHORT)
    assert receiver.connections == before


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Connection", "Upgrade", "TE"])
async def test_headers_of_the_connection_are_refused(receiver: Receiver, name: str) -> None:
    with pytest.raises(ForbiddenDestination, match=f"cannot set the header '{name.lower()}'"):
        await get(f"{receiver.url}/echo", ["127.0.0.1"], headers={name: "x"})


async def test_headers_with_line_breaks_are_refused(receiver: Receiver) -> None:
    before = len(receiver.requests)
    for value in ("s3cret\r\nx-more: 1", "s3cret\n", "s3cret\0", "s3cret\udcff"):
        with pytest.raises(ForbiddenDestination, match="characters that HTTP does not allow") as caught:
            await get(f"{receiver.url}/echo", ["127.0.0.1"], headers={"x-key": value})
        assert "s3cret" not in str(caught.value)
    with pytest.raises(ForbiddenDestination, match="characters that HTTP does not allow"):
        await get(f"{receiver.url}/echo", ["127.0.0.1"], params=[("key", "s3cret\udcff")])
    assert len(receiver.requests) == before


@pytest.mark.parametrize("path", ["/flood", "/flood/chunked"])
async def test_an_answer_of_ten_gibibytes(receiver: Receiver, path: str) -> None:
    receiver.sent = 0
    answer = await get(receiver.url + path, ["127.0.0.1"])
    assert (answer.status, answer.whole, answer.body) == (200, False, b"x" * (1 << 20))
    assert receiver.sent < 64 << 20  # the buffers of sockets; not ten gibibytes


async def test_a_bomb_of_gzip_is_not_unpacked(receiver: Receiver) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = await get(f"{receiver.url}/bomb", ["127.0.0.1"])
    assert answer.whole
    assert answer.body[:2] == b"\x1f\x8b"
    assert len(answer.body) < 1 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256 << 10  # KiB: not 896 MiB
    assert receiver.requests[-1].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("path", ["/hang", "/drip", "/slow/60"])
async def test_receivers_that_do_not_end(receiver: Receiver, path: str) -> None:
    began = asyncio.get_running_loop().time()
    with pytest.raises(NoAnswer, match=r"no complete answer within 0\.3 s"):
        await get(receiver.url + path, ["127.0.0.1"], seconds=SHORT)
    assert asyncio.get_running_loop().time() - began < 30


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/close", "closed the connection before the answer was complete"),
        ("/half", "closed the connection before the answer was complete"),
        ("/garbage", "the answer is not HTTP"),
        ("/headers", "the answer is not HTTP"),
    ],
)
async def test_answers_that_are_not_complete(receiver: Receiver, path: str, words: str) -> None:
    with pytest.raises(NoAnswer, match=words) as caught:
        await get(f"{receiver.url}{path}?key=s3cret#part", ["127.0.0.1"], params=[("more", "s3cret")])
    assert "s3cret" not in str(caught.value)
    assert f"GET {receiver.url}{path}" in str(caught.value)


@pytest.mark.medium
async def test_a_port_where_no_server_listens() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(NoAnswer, match=f"the connection failed: {os.strerror(111)}"):
            await get(f"http://127.0.0.1:{bound.getsockname()[1]}/", ["127.0.0.1"])


@pytest.mark.medium
async def test_certificates_are_checked(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, "self-signed")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)
    with running_receiver(context) as secure:
        with pytest.raises(NoAnswer, match="the certificate of the receiver is not valid"):
            await get(f"https://127.0.0.1:{secure.port}/echo", ["127.0.0.1"])
        assert secure.requests == []


@pytest.mark.medium
async def test_a_receiver_without_tls() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(NoAnswer, match="the TLS handshake with the receiver failed"):
            await get(f"https://127.0.0.1:{port}/echo", ["127.0.0.1"])


async def test_connections_are_used_again(receiver: Receiver) -> None:
    before = receiver.connections
    async with Receivers(["127.0.0.1"]) as receivers:
        for _ in range(5):
            await receivers.request("POST", f"{receiver.url}/echo", seconds=PATIENCE, body=b"{}")
    assert receiver.connections == before + 1


async def test_cookies_are_not_kept(receiver: Receiver) -> None:
    async with Receivers(["127.0.0.1"]) as receivers:
        for _ in range(2):
            await receivers.request("GET", f"{receiver.url}/status/200?header=set-cookie:a=b", seconds=PATIENCE)
    assert "cookie" not in receiver.requests[-1].headers


async def test_closing_ends_requests(receiver: Receiver) -> None:
    receivers = Receivers(["127.0.0.1"])
    before = len(receiver.requests)
    asked = asyncio.create_task(receivers.request("POST", f"{receiver.url}/hang", seconds=PATIENCE))
    await until(lambda: len(receiver.requests) > before)
    await receivers.close()
    with pytest.raises(NoAnswer):
        await asked
