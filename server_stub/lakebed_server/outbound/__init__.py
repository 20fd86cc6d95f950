"""The HTTP requests of the server to other servers. No other package of the server makes any."""

from lakebed_server.outbound.providers import check_url, get_bytes, get_json, is_loopback, post_form
from lakebed_server.outbound.receivers import Receivers
from lakebed_server.outbound.vocabulary import Answer, ForbiddenDestination, NoAnswer, OutboundError

__all__ = [
    "Answer",
    "ForbiddenDestination",
    "NoAnswer",
    "OutboundError",
    "Receivers",
    "check_url",
    "get_bytes",
    "get_json",
    "is_loopback",
    "post_form",
]
