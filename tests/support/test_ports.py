"""A reserved port is the server's that it was reserved for, and nobody else's."""

from __future__ import annotations

import socket

from tests.support.ports import reserved_ports


def test_whoever_was_told_the_port_listens_on_it() -> None:
    with reserved_ports(1) as (port,):
        for _ in range(2):  # and again when it is started again
            with (
                socket.create_server(("127.0.0.1", port)) as server,
                socket.create_connection(("127.0.0.1", port)),
                server.accept()[0] as peer,
            ):
                assert peer.getsockname()[1] == port


def test_nobody_gets_it_by_chance() -> None:
    """Each port that the kernel has to give comes once or twice, if it is nobody's."""
    with reserved_ports(20) as ports:
        assert len(set(ports)) == 20
        for _ in range(20_000):
            with socket.socket() as other:
                other.bind(("127.0.0.1", 0))
                assert other.getsockname()[1] not in ports
