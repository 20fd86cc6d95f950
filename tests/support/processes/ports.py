"""Ports for servers that need a port number: reserved from the choice until the server has ended.

    with reserved_ports(2) as (first, second):
        process = subprocess.Popen([..., "--port", str(first)])

Another process may take a port that was found and released. Here a socket of ours stays bound to it,
without listening: the kernel gives it to no caller that asks for any port, nor to a connection, and a server that sets
SO_REUSEADDR, as all do that are started here, listens on it none the less.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def reserved_ports(count: int) -> Iterator[list[int]]:
    """`count` ports of 127.0.0.1."""
    with ExitStack() as stack:
        ports = []
        for _ in range(count):
            holder = stack.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("127.0.0.1", 0))
            ports.append(int(holder.getsockname()[1]))
        yield ports
