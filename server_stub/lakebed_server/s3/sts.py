"""The part of Amazon's Security Token Service that S3 clients use: temporary access keys by `POST /` with a form.

`GetSessionToken` gives keys to the owner of an access key, and `AssumeRoleWithWebIdentity` to a workload
with a token of its platform. Answers and errors have the XML of that service.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qsl

from lakebed_engine.vocabulary.errors import EngineError

from lakebed_server.auth import temporary_keys
from lakebed_server.auth.authenticate import Caller
from lakebed_server.auth.temporary_keys import TemporaryKey
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.responses.errors import as_s3
from lakebed_server.s3.responses.xml import DECLARATION, XML, iso_date, tag
from lakebed_server.s3.signatures import v4
from lakebed_server.s3.signatures.authenticate import Clock
from lakebed_server.s3.signatures.keys import Keys
from lakebed_server.s3.vocabulary import S3Error
from lakebed_server.vocabulary import Header, RequestError

NAMESPACE: Final = "https://sts.amazonaws.com/doc/2011-06-15/"
FORM: Final = b"application/x-www-form-urlencoded"
_LONGEST_BODY: Final = 64 << 10
_CODES: Final = {
    "InvalidAccessKeyId": "InvalidClientTokenId",
    "InvalidToken": "InvalidClientTokenId",
    "InvalidArgument": "ValidationError",
    "SlowDown": "Throttling",
    "InternalError": "InternalFailure",
}
"""The code of this service for a code of S3. Others are the same."""


def is_for(method: str, path: bytes, headers: Mapping[bytes, bytes] | list[Header]) -> bool:
    """Whether a request is for this service: no operation of S3 posts a form to the root."""
    return method == "POST" and path in (b"/", b"") and dict(headers).get(b"content-type", b"").startswith(FORM)


async def answer(call: S3Call, keys: Keys, clock: Clock, admit: Callable[[Caller], None]) -> Reply:
    """Answer a request. `admit` is called with the caller before the work."""
    try:
        return await _answer(call, keys, clock, admit)
    except (S3Error, RequestError, EngineError) as error:
        return _error(as_s3(error, call.base), call.base)


async def _answer(call: S3Call, keys: Keys, clock: Clock, admit: Callable[[Caller], None]) -> Reply:
    body = await call.base.body.whole(_LONGEST_BODY)
    form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=100))
    action = form.get("Action", "")
    call.base.operation = f"sts:{action[:64]}"
    if action == "AssumeRoleWithWebIdentity":
        return await _assume_role(call, keys, form, admit)
    caller = await v4.by_header_of_form(call, keys, _authorization(call), body, "sts", clock())
    admit(caller)
    if call.base.services.permissions is not None:
        await call.base.services.permissions.of(caller.user)  # refuses a user who is deleted or disabled
    if action != "GetSessionToken":
        raise S3Error("InvalidArgument", f"Could not find operation {action[:64]!r}: this server has GetSessionToken.")
    if b"x-amz-security-token" in call.headers:
        raise S3Error("AccessDenied", "Cannot call GetSessionToken with temporary keys: use an access key.")
    made = await keys.temporary.issue(caller, _seconds(form), "", int(time.time()))
    return _answered(call, action, _credentials(made))


async def _assume_role(call: S3Call, keys: Keys, form: dict[str, str], admit: Callable[[Caller], None]) -> Reply:
    """Temporary keys for the token of a CI system or cluster. The rules choose the user, not the role."""
    identify = call.base.services.identify_workload
    if identify is None:
        raise S3Error("NotImplemented", "This server has no auth.workloads.rules: it accepts no web identity tokens.")
    if "Policy" in form:
        raise S3Error("NotImplemented", "A Policy is not supported here: limit the user of the rule instead.")
    try:
        user = await identify(form.get("WebIdentityToken", ""), call.base.client_address)
    except RequestError as error:
        if error.kind == "login_throttled":
            raise
        code = "IDPCommunicationError" if error.kind == "store_unavailable" else "InvalidIdentityToken"
        raise S3Error(code, error.message) from None
    caller = Caller(user.id, "", "workload")
    admit(caller)
    made = await keys.temporary.issue(caller, _seconds(form), "", int(time.time()))
    role = tag("Arn", f"arn:aws:sts:::assumed-role/{user.id}") + tag("AssumedRoleId", user.id)
    inner = _credentials(made) + f"<AssumedRoleUser>{role}</AssumedRoleUser>"
    return _answered(call, "AssumeRoleWithWebIdentity", inner)


def _credentials(made: TemporaryKey) -> str:
    inner = (
        tag("AccessKeyId", made.access_key_id)
        + tag("SecretAccessKey", made.secret_access_key)
        + tag("SessionToken", made.token)
        + tag("Expiration", iso_date(made.expires))
    )
    return f"<Credentials>{inner}</Credentials>"


def _answered(call: S3Call, action: str, inner: str) -> Reply:
    metadata = f"<ResponseMetadata>{tag('RequestId', call.base.request_id)}</ResponseMetadata>"
    return _xml(200, f"{action}Response", f"<{action}Result>{inner}</{action}Result>{metadata}")


def _authorization(call: S3Call) -> bytes:
    authorization = call.headers.get(b"authorization", b"")
    if not authorization.startswith(v4.ALGORITHM + b" "):
        raise S3Error("AccessDenied", "Sign the request with an access key of this server (AWS4-HMAC-SHA256).")
    return authorization


def _seconds(form: dict[str, str]) -> int:
    text = form.get("DurationSeconds") or str(temporary_keys.DEFAULT_SECONDS)
    least, most = temporary_keys.SHORTEST_SECONDS, temporary_keys.LONGEST_SECONDS
    if not (text.isascii() and text.isdigit() and len(text) < 8 and least <= int(text) <= most):
        raise S3Error("InvalidArgument", f"DurationSeconds must be a number between {least} and {most}.")
    return int(text)


def _error(error: S3Error, call: Call) -> Reply:
    kind = "Sender" if error.status < 500 else "Receiver"
    code = _CODES.get(error.code, error.code)
    inner = f"<Error>{tag('Type', kind)}{tag('Code', code)}{tag('Message', error.message)}</Error>"
    return _xml(error.status, "ErrorResponse", inner + tag("RequestId", call.request_id), error.headers)


def _xml(status: int, root: str, inner: str, headers: tuple[Header, ...] = ()) -> Reply:
    body = f'{DECLARATION}<{root} xmlns="{NAMESPACE}">{inner}</{root}>'
    return Reply(status, body.encode(), (XML, *headers))
