"""A server in this process, and tokens of sign-ins to it, fresh or old, made with its secret key."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import lakebed_testing
from lakebed_server.auth import tokens
from lakebed_server.auth.records import User
from lakebed_server.auth.secret_key import SecretKey
from lakebed_server.auth.tokens import Session
from lakebed_testing import LakebedServer

SECRET_KEY = "the secret key of a server of the tests"
HOUR = 3600


@contextmanager
def signing_server(settings: Mapping[str, object] | None = None) -> Iterator[LakebedServer]:
    """Run a server with users, whose secret key the tests know."""
    with lakebed_testing.server({"auth.mode": "rbac", "auth.secret_key": SECRET_KEY, **(settings or {})}) as server:
        yield server


def new_session(user: str = "admin", *, age: int = 0, limit: int = 30 * 24 * HOUR, generation: int = 0) -> Session:
    """A session that began `age` seconds ago. The generation of users that the API creates is their creation time."""
    return tokens.begin_session(User(user, 0, generation=generation), "oidc", int(time.time()) - age, limit)


def token_of(session: Session, *, age: int = 0, duration: int = 12 * HOUR) -> str:
    """A token of a session that was made `age` seconds ago, for `duration` seconds."""
    return tokens.issue_signed_in(SecretKey(SECRET_KEY), session, int(time.time()) - age, duration).text
