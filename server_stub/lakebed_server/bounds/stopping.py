"""The way of a server to its end, which all parts of it see.

It first drains: load balancers see it in `/_ready`, and every answer closes its connection, so that clients connect
again, to another server. Then it refuses new requests before it does anything for them.
"""

from __future__ import annotations

from typing import Final

from lakebed_server.vocabulary import Header, RequestError

CLOSE: Final[Header] = (b"connection", b"close")


class Stopping:
    """Where a server is. It never goes back."""

    def __init__(self) -> None:
        self.drains = False
        """It stops soon. It still answers all requests."""
        self.refuses = False
        """It refuses new requests, and answers those in progress."""

    def refuse(self) -> None:
        """Raises RequestError if the server refuses new requests."""
        if self.refuses:
            raise RequestError(
                "stopping",
                "this server is shutting down; nothing was done: send the request again, if possible to another server",
            )
