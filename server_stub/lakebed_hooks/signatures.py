"""Signatures of webhooks, as Standard Webhooks defines them (https://www.standardwebhooks.com).

The signature covers the id of the delivery, the time, and the body. A receiver refuses old messages, so a recorded
request cannot be sent again later.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

from lakebed_hooks.vocabulary import HookError

PREFIX: Final = "whsec_"
"""The beginning of a secret. The key follows, in base64."""
TOLERANCE: Final = 300
"""Seconds between the time of a message and the receiver's clock."""
KEY_BYTES: Final = (24, 64)
"""Minimum and maximum bytes of a key, by the specification."""
_VERSION = "v1,"
_MOST_SIGNATURES = 16
_MOST_DIGITS = 20


class SignatureError(HookError):
    """A secret is malformed, or the sender of a message does not have the secret."""


def sign(secret: str, *, delivery: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers that sign a body. `timestamp`: Unix seconds. Raises SignatureError."""
    return {
        "webhook-id": delivery,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": _VERSION + _signature(_key(secret), delivery, str(timestamp), body),
    }


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, now: int, tolerance: int = TOLERANCE) -> str:
    """Check the headers of a message, and return the id of its delivery. Raises SignatureError."""
    key = _key(secret)
    given = {name.lower(): text for name, text in headers.items()}
    try:
        delivery, timestamp, signatures = (given[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as error:
        raise SignatureError(f"the message has no header {error.args[0]}") from None
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > _MOST_DIGITS:
        raise SignatureError("the header webhook-timestamp must be Unix seconds")
    if abs(now - int(timestamp)) > tolerance:
        raise SignatureError(f"the message is more than {tolerance} seconds older or newer than this clock")
    expected = (_VERSION + _signature(key, delivery, timestamp, body)).encode()
    found = [hmac.compare_digest(one.encode(), expected) for one in signatures.split(" ")[:_MOST_SIGNATURES]]
    if not any(found):
        raise SignatureError("no signature of the message is valid: check that both sides have the same secret")
    return delivery


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise SignatureError(f"the secret of the webhook must be {PREFIX} and base64") from None
    least, most = KEY_BYTES
    if not least <= len(key) <= most:
        raise SignatureError(f"the secret of the webhook has {len(key)} bytes, but it needs {least} to {most}")
    return key


def _signature(key: bytes, delivery: str, timestamp: str, body: bytes) -> str:
    signed = f"{delivery}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
