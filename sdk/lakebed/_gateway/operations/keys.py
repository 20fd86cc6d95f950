"""Calls about the access keys of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, reads, reads_page
from lakebed._values.wire import Call, Subject
from lakebed.model import AccessKey, Page, SessionToken

if TYPE_CHECKING:
    from lakebed_api.models import Credentials


def list_page(user: str, *, after: str, amount: int) -> Call[Page[AccessKey]]:
    """One page of keys, without their secrets."""
    from lakebed_api.api.auth import list_user_credentials
    from lakebed_api.models import CredentialsList

    kwargs = list_user_credentials._get_kwargs(user, **clean(after=after, amount=amount))
    return call("listUserCredentials", kwargs, reads_page(CredentialsList.from_dict, _key, after), Subject())


def create(user: str) -> Call[AccessKey]:
    """Create a key. Only this answer contains its secret."""
    from lakebed_api.api.auth import create_credentials
    from lakebed_api.models import CredentialsWithSecret

    def read(made: CredentialsWithSecret) -> AccessKey:
        created = convert.moment(made.creation_date)
        return AccessKey(convert.text(made.access_key_id), created, convert.text(made.secret_access_key))

    kwargs = create_credentials._get_kwargs(user)
    return call("createCredentials", kwargs, reads(CredentialsWithSecret.from_dict, read), Subject(), success=201)


def login(key_id: str, secret: str) -> Call[SessionToken]:
    """Get a token for a key. Each call makes a new token and the server keeps none, so a repeat does no harm."""
    from lakebed_api.api.auth import login as login_
    from lakebed_api.models import AuthenticationToken, LoginInformation

    def read(given: AuthenticationToken) -> SessionToken:
        return SessionToken(convert.text(given.token), convert.moment(given.token_expiration))

    kwargs = login_._get_kwargs(body=LoginInformation(access_key_id=key_id, secret_access_key=secret))
    return call("login", kwargs, reads(AuthenticationToken.from_dict, read), Subject(), repeat="safe")


def logout_everywhere() -> Call[None]:
    """End all tokens of the user. Not repeated: a second call would end tokens that were made in between."""
    from lakebed_api.api.auth import logout

    return call("logout", logout._get_kwargs(everywhere=True), calls.nothing, Subject(), success=204)


def get(user: str, key_id: str) -> Call[AccessKey]:
    """Describe a key."""
    from lakebed_api.api.auth import get_credentials
    from lakebed_api.models import Credentials

    kwargs = get_credentials._get_kwargs(user, key_id)
    return call("getCredentials", kwargs, reads(Credentials.from_dict, _key), Subject())


def delete(user: str, key_id: str) -> Call[None]:
    """Remove a key."""
    from lakebed_api.api.auth import delete_credentials

    return call(
        "deleteCredentials", delete_credentials._get_kwargs(user, key_id), calls.nothing, Subject(), success=204
    )


def _key(row: Credentials) -> AccessKey:
    return AccessKey(convert.text(row.access_key_id), convert.moment(row.creation_date))
