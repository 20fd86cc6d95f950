"""To which addresses the server sends requests of hooks: a table of addresses, of hosts in URLs, and of patterns."""

from __future__ import annotations

import pytest
from lakebed_server.outbound.destinations import is_listed, is_odd_number, refusal

PUBLIC = (
    *("1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.167.1.1"),
    *("2606:4700::1111", "2a00::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"),
)
PRIVATE = {
    "127.0.0.1": "loopback",
    "127.255.255.255": "loopback",
    "::1": "loopback",
    "0:0:0:0:0:0:0:1": "loopback",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:7f00:1": "loopback",
    "64:ff9b::7f00:1": "loopback",
    "::1%lo": "loopback",
    "10.0.0.1": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "fc00::1": "private",
    "fdff::1": "private",
    "::ffff:10.1.2.3": "private",
    "64:ff9b::192.168.0.1": "private",
    "100.64.0.1": "shared by a provider (CGNAT)",
    "100.127.255.255": "shared by a provider (CGNAT)",
    "192.0.2.1": "for documentation",
    "2001:db8::1": "for documentation",
    "198.18.0.1": "reserved",
    "240.0.0.1": "reserved",
    "64:ff9b:1::1": "reserved",
    "100::1": "reserved",
    "fec0::1": "reserved",
    "2001:10::1": "reserved",
    "4000::1": "reserved",
    "5f00::1": "reserved",
}
NEVER = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "::": "unspecified",
    "::ffff:0.0.0.0": "unspecified",
    "169.254.169.254": "link-local or cloud metadata",
    "169.254.170.2": "link-local or cloud metadata",
    "::ffff:169.254.169.254": "link-local or cloud metadata",
    "::ffff:a9fe:a9fe": "link-local or cloud metadata",
    "64:ff9b::a9fe:a9fe": "link-local or cloud metadata",
    "fe80::1": "link-local or cloud metadata",
    "fe80::1%eth0": "link-local or cloud metadata",
    "fd00:ec2::254": "cloud metadata",
    "fd20:ce::254": "cloud metadata",
    "168.63.129.16": "cloud metadata",
    "100.100.100.200": "cloud metadata",
    "192.0.0.192": "cloud metadata",
    "224.0.0.1": "multicast",
    "239.255.255.255": "multicast",
    "ff02::1": "multicast",
    "255.255.255.255": "broadcast",
    "2002:7f00:1::": "a Teredo or 6to4 tunnel",
    "2002:a9fe:a9fe::1": "a Teredo or 6to4 tunnel",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2": "a Teredo or 6to4 tunnel",
    "::127.0.0.1": "an old form of an IPv4 address",
    "::a9fe:a9fe": "an old form of an IPv4 address",
}
NO_ADDRESS = ("", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.01", "1.2.3.4 ", "１.1.1.1")


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert refusal(address) == ""


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_need_the_allow_list(address: str) -> None:
    assert refusal(address) == PRIVATE[address]
    assert refusal(address, private=True) == ""


@pytest.mark.parametrize("address", NEVER)
def test_some_addresses_are_refused_in_any_case(address: str) -> None:
    assert (refusal(address), refusal(address, private=True)) == (NEVER[address], NEVER[address])


@pytest.mark.parametrize("address", NO_ADDRESS)
def test_text_that_is_no_plain_address_is_refused(address: str) -> None:
    assert refusal(address) == refusal(address, private=True) == "not written as an IP address"


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "127.1", "127.0.0.1.", "a.0x1", "a.1"]
)
def test_hosts_that_are_numbers(host: str) -> None:
    assert is_odd_number(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::ffff:7f00:1", "example.com", "1.example.com", "0xdead.beef"])
def test_hosts_that_are_no_numbers(host: str) -> None:
    assert not is_odd_number(host)


@pytest.mark.parametrize(
    ("host", "patterns", "expected"),
    [
        ("hooks.example.com", ["hooks.example.com"], True),
        ("HOOKS.Example.com.", ["hooks.example.com"], True),
        ("hooks.example.com", ["*.EXAMPLE.com."], True),
        ("a.b.example.com", ["*.example.com"], True),
        ("example.com", ["*.example.com"], False),
        ("badexample.com", ["*.example.com"], False),
        ("hooks.example.com.evil.net", ["hooks.example.com"], False),
        ("evilhooks.example.com", ["hooks.example.com"], False),
        ("10.0.0.7", ["10.0.0.*"], True),
        ("::1", ["[::1]"], True),
        ("hooks.example.com", ["other", "hooks.*"], True),
        ("hooks.example.com", [], False),
        ("hooks.example.com", [""], False),
        ("", ["", "."], False),
        ("localhost", ["localhost:8080"], True),
        ("localhost", ["localhost:80"], False),
        ("localhost", ["localhost:"], True),
        ("::1", ["[::1]:8080"], True),
        ("::1", ["[::1]:80"], False),
        ("::1", ["::1"], True),
    ],
)
def test_patterns_of_the_allow_list(host: str, patterns: list[str], expected: bool) -> None:
    assert is_listed(host, 8080, patterns) is expected
