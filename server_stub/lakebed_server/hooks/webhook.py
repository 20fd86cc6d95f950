"""Webhooks: the event as JSON in a POST. The answer decides whether the change may land."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from lakebed_hooks import Outcome, payload, signatures
from lakebed_hooks.vocabulary import HookError

from lakebed_server.hooks.calls import NO_RETRY, Call, message_of
from lakebed_server.outbound import Answer, OutboundError

LONGEST_TEXT: Final = 2000
"""A longer text is a page, not a message for a user."""


async def call(attempt: Call) -> Outcome:
    """Send the event and read the answer. Raises nothing for what a receiver or a hook does wrong."""
    properties = attempt.hook.properties
    try:
        body = _body(attempt)
        headers = _headers(attempt, body)
        params = _query(attempt)
    except HookError as error:
        attempt.note(error.message)
        return Outcome("error", error.message, retry_after=NO_RETRY)
    attempt.note(f"POST {properties['url'].partition('?')[0]} with {len(body)} bytes, webhook-id {attempt.id}")
    try:
        answer = await attempt.receivers.request(
            "POST", properties["url"], seconds=attempt.timeout, headers=headers, params=params, body=body
        )
    except OutboundError as error:
        return attempt.failed(error)
    attempt.show(answer)
    return _outcome(attempt, answer)


def _body(attempt: Call) -> bytes:
    if attempt.hook.properties.get("format") == "cloudevents":
        return payload.cloudevents(attempt.event, delivery=attempt.id, source=attempt.source)
    return payload.encode(attempt.event)


def _headers(attempt: Call, body: bytes) -> dict[str, str]:
    """The headers of the hook and of the server. Raises HookError."""
    properties = attempt.hook.properties
    is_cloudevent = properties.get("format") == "cloudevents"
    headers = {name.lower(): attempt.secrets.fill(text) for name, text in properties.get("headers", {}).items()}
    headers["content-type"] = payload.CLOUDEVENTS_TYPE if is_cloudevent else payload.JSON_TYPE
    headers["webhook-id"] = attempt.id
    if "secret" in properties:
        key = attempt.secrets.fill(properties["secret"])
        headers |= signatures.sign(key, delivery=attempt.id, timestamp=int(attempt.now), body=body)
    return headers


def _query(attempt: Call) -> list[tuple[str, str]]:
    """`{"a": ["1", "2"]}` -> `a=1&a=2`. Raises HookError."""
    return [
        (name, attempt.secrets.fill(text))
        for name, texts in attempt.hook.properties.get("query_params", {}).items()
        for text in ([texts] if isinstance(texts, str) else texts)
    ]


def _outcome(attempt: Call, answer: Answer) -> Outcome:
    status = answer.status
    if not answer.whole:
        return Outcome("error", "the receiver sent more than 1 MiB", retry_after=NO_RETRY, status=status)
    if status == 202 and (document := _document(answer)) is not None and "check" in document:
        return _pending(attempt, document["check"])
    if 200 <= status < 300:
        return Outcome("passed", status=status)
    if 300 <= status < 400:
        return attempt.not_usable(
            f"the receiver redirects (status {status}), and hooks do not follow redirects. Use the final address "
            "in the hook",
            answer,
        )
    if status >= 500 or status in (408, 425, 429):
        return attempt.not_usable(f"the receiver could not check the change: status {status} {answer.reason}", answer)
    message = attempt.secrets.mask(_message(answer)) or f"the receiver refused the change with status {status}"
    return Outcome("refused", message, retry_after=NO_RETRY, status=status)


def _pending(attempt: Call, check: Any) -> Outcome:
    name = message_of(check) if isinstance(check, str) else ""
    if not name:
        message = 'the receiver answered 202, but "check" is not the name of a check'
        return Outcome("error", message, retry_after=NO_RETRY, status=202)
    return Outcome("pending", f"the check {attempt.secrets.mask(name)!r} is not finished", check=name, status=202)


def _message(answer: Answer) -> str:
    """The words of a receiver for the user: the `message` of a JSON document, or a short text."""
    if (document := _document(answer)) is not None:
        message = document.get("message")
        return message_of(message) if isinstance(message, str) else ""
    kind = answer.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()
    if kind != "text/plain" or len(answer.body) > LONGEST_TEXT or "content-encoding" in answer.headers:
        return ""
    return message_of(answer.body.decode("utf-8", "replace"))


def _document(answer: Answer) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
