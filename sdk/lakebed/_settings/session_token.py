"""What the token of a sign-in says about itself. The SDK does not verify it: the server does."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import NamedTuple


class Lifetime(NamedTuple):
    """When a token was made and when it ends, and when its session ends, in Unix seconds."""

    begins: float
    ends: float
    session_ends: float


def lifetime_of(token: str) -> Lifetime | None:
    """The lifetime of a token that can be renewed. None for other tokens."""
    claims = _claims(token)
    times = [claims.get(name) for name in ("iat", "exp", "session_end")]
    numbers = [float(one) for one in times if isinstance(one, int | float)]
    return Lifetime(*numbers) if len(numbers) == len(times) else None


def session_of(token: str) -> str:
    """The session that a token belongs to. For a token that cannot be read, a hash of it."""
    session = _claims(token).get("jti")
    return session if isinstance(session, str) else hashlib.sha256(token.encode()).hexdigest()


def _claims(token: str) -> dict[str, object]:
    parts = token.split(".")
    try:
        found = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (IndexError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
