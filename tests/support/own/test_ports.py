"""Only the server of a reserved port can listen on it."""

from __future__ import annotations

import socket

import pytest

from tests.support.processes.ports import reserved_ports

pytestmark = pytest.mark.medium  # real sockets


def test_server_can_listen_on_its_reserved_port() -> None:
    with reserved_ports(1) as (port,):
        for _ in range(2):  # and again when it is started again
            with (
                socket.create_server(("127.0.0.1", port)) as server,
                socket.create_connection(("127.0.0.1", port)),
                server.accept()[0] as peer,
            ):
                assert peer.getsockname()[1] == port


def test_kernel_never_assigns_a_reserved_port() -> None:
    """The kernel assigns each free port once or twice."""
    with reserved_ports(20) as ports:
        assert len(set(ports)) == 20
        for _ in range(20_000):
            with socket.socket() as other:
                other.bind(("127.0.0.1", 0))
                assert other.getsockname()[1] not in ports
