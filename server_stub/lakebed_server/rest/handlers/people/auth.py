"""Login, the calling user, and access keys. One function per operation (`handlers`)."""

from __future__ import annotations

import time

import msgspec
from lakebed_engine.vocabulary.records import Page
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.auth.authenticate import Caller
from lakebed_server.auth.credentials import Listed
from lakebed_server.auth.records import SHORTEST_SECRET, Credential, User
from lakebed_server.auth.temporary_keys import DEFAULT_SECONDS, MOST_POLICY_BYTES, TemporaryKeys
from lakebed_server.auth.tokens import cookie_name
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.rights import identities
from lakebed_server.vocabulary import Header, RequestError, bad_request, not_implemented


async def login(call: Call, p: ops.LoginParams, body: models.LoginInformation | None) -> Reply:
    """login. The cookie has the token too. Scripts in a browser cannot read it."""
    if body is None:
        raise bad_request("body: required")
    now = int(time.time())
    call.claimed_key_id = body.access_key_id
    authenticator, check_password = call.services.authenticator, call.services.check_password
    pair = (body.access_key_id, body.secret_access_key)
    if check_password is not None and await authenticator.find(body.access_key_id) is None:
        token = await check_password(*pair, call.client)
        call.source = token.source
    else:
        token = await authenticator.log_in(*pair, now, call.client)
    call.user = token.user
    given = models.AuthenticationToken(token=token.text, token_expiration=token.expires)
    return json(200, given, (_cookie(call, token.text, token.expires - now),))


async def exchange_sign_in_code(call: Call, p: ops.ExchangeSignInCodeParams, body: models.SignInCode) -> Reply:
    """exchangeSignInCode."""
    exchange = call.services.exchange_code
    if exchange is None:
        raise not_implemented("this server has no sign-in provider (auth.oidc or auth.saml): use an access key")
    token = await exchange(body.code, body.verifier, call.client)
    call.user, call.source = token.user, token.source
    return json(200, models.AuthenticationToken(token=token.text, token_expiration=token.expires))


async def renew_session(call: Call, p: ops.RenewSessionParams) -> Reply:
    """renewSession."""
    token = await call.services.authenticator.renew(call.headers, int(time.time()))
    return json(200, models.AuthenticationToken(token=token.text, token_expiration=token.expires))


async def logout(call: Call, p: ops.LogoutParams) -> Reply:
    """logout."""
    authenticator, now = call.services.authenticator, int(time.time())
    if p.everywhere is True:
        if call.limits.policies:
            raise RequestError("permission_denied", "a key with a policy does not end the tokens of other keys")
        await authenticator.log_out_everywhere(call.user, now)
    else:
        await authenticator.log_out(call.headers, now, https=call.https)
    return empty(204, (_cookie(call, "", 0),))


async def list_user_sessions(call: Call, p: ops.ListUserSessionsParams) -> Reply:
    """listUserSessions."""
    user, amount = await _user(call, p.user_id), serializers.amount(p.amount)
    sessions = call.services.authenticator.sessions
    found = await sessions.page(user, serializers.text(p.after), amount, int(time.time()))
    return identities.listed(found, identities.session)


async def end_user_session(call: Call, p: ops.EndUserSessionParams) -> Reply:
    """endUserSession."""
    user = await _user(call, p.user_id)
    await call.services.authenticator.end_session(user, p.session_id, int(time.time()))
    return empty()


async def get_current_user(call: Call, p: ops.GetCurrentUserParams) -> Reply:
    """getCurrentUser."""
    permissions = call.services.permissions
    if permissions is None:
        user = await call.services.authenticator.user(call.user) or User(call.user, 0)
    else:
        user = (await permissions.of(call.user)).user
    shown = msgspec.structs.replace(user, friendly_name=user.friendly_name or user.id)
    return json(200, models.CurrentUser(user=identities.user(shown)))


async def get_auth_capabilities(call: Call, p: ops.GetAuthCapabilitiesParams) -> Reply:
    """getAuthCapabilities."""
    return json(200, models.AuthCapabilities(invite_user=False, forgot_password=False))


async def setup(call: Call, p: ops.SetupParams, body: models.Setup) -> Reply:
    """setup. The first start makes the administrator, so this is refused unless there is none."""
    wanted = (body.key.access_key_id, body.key.secret_access_key) if body.key else ("", "")
    if body.key and len(wanted[1]) < SHORTEST_SECRET:
        raise bad_request(f"body key.secret_access_key: at least {SHORTEST_SECRET} characters")
    made = await call.services.authenticator.store.make_first_admin(int(time.time()), *wanted)
    if made is None:
        raise RequestError("already_set_up", "an administrator already exists: log in with an access key")
    return json(200, _with_secret(made))


async def setup_comm_prefs(call: Call, p: ops.SetupCommPrefsParams, body: models.CommPrefsInput) -> Reply:
    """setupCommPrefs."""
    raise RequestError("already_set_up", "this server sends no e-mails: there is nothing to set up")


async def list_user_credentials(call: Call, p: ops.ListUserCredentialsParams) -> Reply:
    """listUserCredentials."""
    user = await _user(call, p.user_id)
    found, more = await call.services.authenticator.store.list_of(user, *identities.page_of(p))
    pagination = serializers.pagination(Page(found, more), lambda one: one.key.access_key_id)
    return json(200, {"pagination": pagination, "results": [identities.access_key(one) for one in found]})


async def create_credentials(
    call: Call, p: ops.CreateCredentialsParams, body: models.CredentialsCreation | None
) -> Reply:
    """createCredentials."""
    _refuse_cookie(call)
    sent, now = body or models.CredentialsCreation(), int(time.time())
    statement, limits = _statement_of_key(call, p.user_id, sent), call.limits
    ends = [limits.expires] if limits.expires else []
    if sent.expires_in is not UNSET:
        ends.append(now + sent.expires_in)
    made = await call.services.authenticator.store.add(
        await _user(call, p.user_id),
        now,
        name=serializers.text(sent.name),
        expires=min(ends, default=0),
        statement=statement,
    )
    return json(201, {"secret_access_key": made.secret_access_key, **identities.described(made)})


def _statement_of_key(call: Call, user: str, sent: models.CredentialsCreation) -> str:
    """The policy of a new access key. A key with a policy makes only keys of its own user with the same policy."""
    statement = "" if sent.statement is UNSET else identities.sent_statement_of_key(call)
    own = call.limits.policies
    if not own:
        return statement
    if statement or user != call.user or len(own) > 1:
        raise RequestError(
            "permission_denied",
            "an access key with a policy makes only keys of its own user with the same policy: send no statement",
        )
    return own[0]


async def create_temporary_key(
    call: Call, p: ops.CreateTemporaryKeyParams, body: models.TemporaryKeyCreation | None
) -> Reply:
    """createTemporaryKey."""
    _refuse_cookie(call)
    sent = body or models.TemporaryKeyCreation()
    statement = "" if sent.statement is UNSET else identities.sent_statement_of_key(call, MOST_POLICY_BYTES)
    duration = DEFAULT_SECONDS if sent.duration is UNSET else sent.duration
    caller = Caller(call.user, call.claimed_key_id, call.source, call.limits)
    made = await TemporaryKeys(call.services.authenticator).issue(caller, duration, statement, int(time.time()))
    given = models.TemporaryKey(
        access_key_id=made.access_key_id,
        secret_access_key=made.secret_access_key,
        session_token=made.token,
        expiration=made.expires,
    )
    return json(201, given)


async def get_credentials(call: Call, p: ops.GetCredentialsParams) -> Reply:
    """getCredentials."""
    return json(200, identities.access_key(await _found(call, p.user_id, p.access_key_id)))


async def delete_credentials(call: Call, p: ops.DeleteCredentialsParams) -> Reply:
    """deleteCredentials."""
    _refuse_cookie(call)
    found = (await _found(call, p.user_id, p.access_key_id)).key
    if found.access_key_id == call.access_key_id:
        raise bad_request(
            f"access key {found.access_key_id!r} is the key of this request: use another key to remove it"
        )
    own = found.user == call.user
    await call.services.authenticator.remove(found.access_key_id, found.user, keep_one=own)
    return empty()


def _cookie(call: Call, token: str, seconds: int) -> Header:
    secure = "; Secure" if call.https else ""
    name = cookie_name(https=call.https)
    return b"set-cookie", f"{name}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}".encode()


def _refuse_cookie(call: Call) -> None:
    """Refuse a cookie: a browser sends it automatically, so it does not prove that the user wants this."""
    if b"authorization" not in call.headers:
        raise RequestError(
            "key_required",
            "a cookie does not authorize making or deleting access keys: send an access key pair (HTTP Basic) or a "
            "token of login (Bearer)",
        )


async def _user(call: Call, user: str) -> str:
    """The user whose keys or sessions a request concerns. The permissions of the operation decide about others.

    With `auth.mode: single` it must be the caller. That response does not reveal whether others exist.
    """
    if call.services.permissions is not None:
        await call.services.permissions.directory.user(user)
    elif user != call.user:
        raise RequestError("permission_denied", f"only what belongs to {call.user!r}, the caller, can be managed here")
    return user


async def _found(call: Call, user: str, access_key_id: str) -> Listed:
    await _user(call, user)
    found = await call.services.authenticator.store.describe(access_key_id, user)
    if found is None:
        raise RequestError("credentials_not_found", f"access key {access_key_id[:80]!r} of {user!r} not found")
    return found


def _with_secret(made: Credential) -> models.CredentialsWithSecret:
    return models.CredentialsWithSecret(
        access_key_id=made.access_key_id, secret_access_key=made.secret_access_key, creation_date=made.created
    )
