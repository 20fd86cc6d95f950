"""Calls about access keys and tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, parser, reads, segment
from lakebed._values.wire import Call, Subject
from lakebed.model import AccessKey, Page, SessionToken, TemporaryKey

if TYPE_CHECKING:
    from lakebed_api.models import AuthenticationToken


def list_page(user: str, *, after: str, amount: int) -> Call[Page[AccessKey]]:
    """One page of keys, without their secrets."""
    from lakebed_api.api.auth import list_user_credentials

    kwargs = list_user_credentials._get_kwargs(user, **clean(after=after, amount=amount))
    return call("listUserCredentials", kwargs, parser(lambda body: convert.listing(body, _key, after)), Subject())


def create(
    user: str, name: str = "", expires_in: int | None = None, policy: Sequence[Mapping[str, Any]] | None = None
) -> Call[AccessKey]:
    """Create a key. Only this response contains its secret."""
    body: dict[str, Any] = clean(name=name)
    if expires_in is not None:
        body["expires_in"] = expires_in
    if policy is not None:
        body["statement"] = [dict(statement) for statement in policy]
    kwargs: dict[str, Any] = {"method": "post", "url": f"/auth/users/{segment(user)}/credentials"}
    if body:
        kwargs["json"] = body
    return call("createCredentials", kwargs, parser(_key), Subject(), success=201)


def create_temporary(duration: int | None, policy: Sequence[Mapping[str, Any]] | None) -> Call[TemporaryKey]:
    """Create a temporary key. The server keeps none, so a repeat does no harm."""
    body: dict[str, Any] = {}
    if duration is not None:
        body["duration"] = duration
    if policy is not None:
        body["statement"] = [dict(statement) for statement in policy]

    def read(row: Mapping[str, Any]) -> TemporaryKey:
        return TemporaryKey(
            convert.text(row["access_key_id"]),
            convert.moment(row["expiration"]),
            convert.text(row["secret_access_key"]),
            convert.text(row["session_token"]),
        )

    kwargs = {"method": "post", "url": "/auth/session", "json": body}
    return call("createTemporaryKey", kwargs, parser(read), Subject(), success=201, repeat="safe")


def read_only(repository: str) -> list[dict[str, Any]]:
    """The policy of a key that may only read one repository."""
    own = f"arn:lakefs:fs:::repository/{repository}"
    resources = json.dumps([own, f"{own}/*"])  # a text, because older clients cannot read an array
    return [
        {"effect": "allow", "action": ["fs:List*", "fs:Read*"], "resource": resources},
        {"effect": "allow", "action": ["fs:ReadConfig"], "resource": "*"},
    ]


def login(key_id: str, secret: str) -> Call[SessionToken]:
    """Get a token for a key. Each call makes a new token and the server keeps none, so a repeat does no harm."""
    from lakebed_api.api.auth import login as login_
    from lakebed_api.models import AuthenticationToken, LoginInformation

    kwargs = login_._get_kwargs(body=LoginInformation(access_key_id=key_id, secret_access_key=secret))
    return call("login", kwargs, reads(AuthenticationToken.from_dict, _token), Subject(), repeat="safe")


def renew() -> Call[SessionToken]:
    """Get a new token of the same session. The server keeps none, so a repeat does no harm."""
    from lakebed_api.api.auth import renew_session
    from lakebed_api.models import AuthenticationToken

    kwargs = renew_session._get_kwargs()
    return call("renewSession", kwargs, reads(AuthenticationToken.from_dict, _token), Subject(), repeat="safe")


def logout_everywhere() -> Call[None]:
    """End all tokens of the user. Not repeated: a second call would end tokens that were made in between."""
    from lakebed_api.api.auth import logout

    return call("logout", logout._get_kwargs(everywhere=True), calls.nothing, Subject(), success=204)


def get(user: str, key_id: str) -> Call[AccessKey]:
    """Describe a key."""
    from lakebed_api.api.auth import get_credentials

    kwargs = get_credentials._get_kwargs(user, key_id)
    return call("getCredentials", kwargs, parser(_key), Subject())


def delete(user: str, key_id: str) -> Call[None]:
    """Remove a key."""
    from lakebed_api.api.auth import delete_credentials

    return call(
        "deleteCredentials", delete_credentials._get_kwargs(user, key_id), calls.nothing, Subject(), success=204
    )


def _token(given: AuthenticationToken) -> SessionToken:
    return SessionToken(convert.text(given.token), convert.moment(given.token_expiration))


def _key(row: Mapping[str, Any]) -> AccessKey:
    """From JSON, because a generated model changes the statements."""
    policy = row.get("statement")
    return AccessKey(
        convert.text(row["access_key_id"]),
        convert.moment(row["creation_date"]),
        convert.text(row.get("secret_access_key"), ""),
        convert.text(row.get("name"), ""),
        expires=convert.moment(row["expiration"]) if "expiration" in row else None,
        last_used=convert.moment(row["last_used"]) if "last_used" in row else None,
        policy=None if policy is None else tuple(dict(statement) for statement in policy),
    )
