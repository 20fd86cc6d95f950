"""The listening sockets: which ones the settings require, and which ones other machines can reach without TLS."""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Sequence

from lakebed_server.network.clients import is_loopback
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import SettingError, StartError

_LAST_PORT = 65535

Listeners = Sequence[socket.socket]
"""The server's listener, and after it the gateway's own, if any."""


def s3_port(listeners: Listeners) -> int | None:
    """The port on which all requests are S3, if there is one."""
    return listeners[1].getsockname()[1] if len(listeners) > 1 else None


def read_address(key: str, text: str) -> tuple[str, int] | None:
    """Parse the setting `key`: host and port, for example `0.0.0.0:9000` or `[::1]:9000`. None for an empty text.

    Raises SettingError.
    """
    if not text:
        return None
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= _LAST_PORT):
        raise SettingError(f"{key}: expected address:port, as 0.0.0.0:9000, got {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def listen_all(settings: Settings, s3: tuple[str, int] | None) -> Listeners:
    """The listening sockets: the server's, and at host and port `s3` the gateway's own. Raises StartError."""
    places = [(settings.listen.host, settings.listen.port, "--port")]
    if s3 is not None:
        if s3[1] and s3[1] == settings.listen.port:
            raise SettingError(f"gateway.s3.listen: port {s3[1]} is that of listen.port; choose another one")
        places.append((*s3, "gateway.s3.listen"))
    listeners: list[socket.socket] = []
    try:
        for host, port, setting in places:
            listeners.append(listen(host, port, setting))
    except StartError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def listen(host: str, port: int, setting: str) -> socket.socket:
    """A listening socket. Port 0 takes any free one. Raises StartError, which names the setting of a port in use."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror:
        raise StartError(f"cannot listen on {host}: no such address") from None
    listener = socket.socket(family, kind, proto)
    try:
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise StartError(
                f"port {port} on {host} is in use; stop what listens there or choose another {setting}"
            ) from None
        raise StartError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    listener.setblocking(False)
    return listener


def clear_text(listeners: Listeners) -> list[str]:
    """A sentence for each listener without TLS that other machines can reach."""
    places = [listener.getsockname()[:2] for listener in listeners]
    return [
        f"{host} port {port} is open to other machines without TLS: they send access keys and data in clear text; set "
        "listen.tls.certificate, or let only a proxy with TLS reach the port (docs/deployment.md)"
        for host, port in places
        if not is_loopback(host)
    ]


def endpoint_of(listener: socket.socket, scheme: str) -> str:
    """The URL of a listener, for a client on this machine."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"{scheme}://{shown}:{port}"
