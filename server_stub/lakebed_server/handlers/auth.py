"""Login and the calling user. One function per operation (`handlers`)."""

from __future__ import annotations

import time

from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.auth.tokens import COOKIE
from lakebed_server.call import Call
from lakebed_server.reply import Reply, json
from lakebed_server.vocabulary import bad_request


async def login(call: Call, p: ops.LoginParams, body: models.LoginInformation | None) -> Reply:
    """login. The cookie carries the token too; scripts in a browser cannot read it."""
    if body is None:
        raise bad_request("body: required")
    now = int(time.time())
    credential = await call.services.authenticator.check_pair(body.access_key_id, body.secret_access_key)
    token = call.services.authenticator.issue(credential.user, now)
    secure = "; Secure" if call.https else ""
    cookie = f"{COOKIE}={token.text}; Path=/; Max-Age={token.expires - now}; HttpOnly; SameSite=Lax{secure}"
    return json(
        200,
        models.AuthenticationToken(token=token.text, token_expiration=token.expires),
        ((b"set-cookie", cookie.encode()),),
    )


async def get_current_user(call: Call, p: ops.GetCurrentUserParams) -> Reply:
    """getCurrentUser."""
    user = await call.services.authenticator.user(call.user)
    created = 0 if user is None else user.created
    return json(200, models.CurrentUser(user=models.User(id=call.user, creation_date=created, friendly_name=call.user)))
