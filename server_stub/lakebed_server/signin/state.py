"""What the server must remember between the steps of a sign-in: texts that it signs, and that the client keeps."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Final, TypeVar

import msgspec

from lakebed_server.auth.secret_key import KeyRing

SECONDS: Final = 600
CODE_SECONDS: Final = 120
LONGEST: Final = 4096
STATE: Final = "sign-in state"
UNKNOWN: Final = "this sign-in was not started in this browser, or has expired: sign in again"

S = TypeVar("S", "State", "Code", "SentRequest")


class Program(msgspec.Struct, frozen=True):
    """A program on the user's machine that waits for the code of a sign-in: its port, PKCE challenge and state.

    Without a challenge there is no program. Without a port the program waits for the user to enter the code.
    """

    port: int = 0
    challenge: str = ""
    state: str = ""


class State(msgspec.Struct, frozen=True):
    """One sign-in. `next`: the path of this server to show afterwards. `ends` is in Unix seconds."""

    state: str
    nonce: str
    verifier: str
    redirect_uri: str
    ends: int
    next: str = "/"
    program: Program = Program()


class Code(msgspec.Struct, frozen=True):
    """Exchanged once, by the program that knows the verifier of `challenge`, for a token of a user."""

    id: str
    user: str
    challenge: str
    ends: int


class SentRequest(msgspec.Struct, frozen=True, array_like=True):
    """A request of SAML, in its id: the challenge of the verifier in the cookie. `ends` is in Unix seconds."""

    challenge: str
    ends: int


def begin(redirect_uri: str, now: int, *, next: str, program: Program) -> State:
    """A new sign-in, with random secrets."""
    return State(
        state=secrets.token_urlsafe(24),
        nonce=secrets.token_urlsafe(24),
        verifier=secrets.token_urlsafe(48),
        redirect_uri=redirect_uri,
        ends=now + SECONDS,
        next=local_path(next),
        program=program,
    )


def challenge_of(verifier: str) -> str:
    """The PKCE challenge S256 of a verifier."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def local_path(text: str) -> str:
    """A path of this server, or `/`: a redirect must never lead to another server."""
    is_local = text.startswith("/") and not text.startswith(("//", "/\\"))
    return text if is_local and text.isascii() and text.isprintable() and "\\" not in text and len(text) < 1024 else "/"


def sign(ring: KeyRing, value: State | Code | SentRequest, purpose: str) -> str:
    """A value that only this server can make, as text of letters, digits, `.`, `-` and `_`."""
    body = base64.urlsafe_b64encode(msgspec.json.encode(value)).rstrip(b"=")
    return f"{body.decode()}.{ring.newest.id}.{_mac(ring.newest.derive(purpose), body)}"


def verify(ring: KeyRing, text: str, purpose: str, now: int, type: type[S]) -> S | None:
    """The value of a signed text. None when it was altered, is of another purpose, or has ended."""
    body, _, rest = text.partition(".")
    key_id, _, mac = rest.partition(".")
    key = next((one for one in ring.keys if one.id == key_id), None)
    if key is None or len(text) > LONGEST or not text.isascii():
        return None
    if not hmac.compare_digest(_mac(key.derive(purpose), body.encode()), mac):
        return None
    try:
        value = msgspec.json.decode(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)), type=type)
    except (binascii.Error, msgspec.DecodeError, ValueError):
        return None
    return value if now <= value.ends else None


def _mac(key: bytes, body: bytes) -> str:
    return hmac.digest(key, body, "sha256").hex()
