"""Shared by every operation of the gateway: a generated request as a `Call`, and its response as a value. Pure.

The body of a response may be anything, whatever its status says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from lakebed._gateway import convert
from lakebed._gateway.error_answers import clip, context, error_of
from lakebed._values.wire import Answer, Call, Repeat, Subject
from lakebed.errors import LakebedError, ProtocolError
from lakebed.model import Page

T = TypeVar("T")
W = TypeVar("W")


def call(
    operation: str,
    kwargs: Mapping[str, Any],
    parse: Callable[[Answer], T],
    subject: Subject,
    *,
    success: int = 200,
    repeat: Repeat = "unsent",
    slow: bool = False,
    races: bool = False,
) -> Call[T]:
    """Make a `Call` of the result of the generated `_get_kwargs`. Requests that only read can always be repeated."""
    method = str(kwargs["method"]).upper()
    return Call(
        operation=operation,
        method=method,
        url=kwargs["url"],
        parse=parse,
        success=(success,),
        repeat="safe" if method in ("GET", "HEAD") else repeat,
        subject=subject,
        params=kwargs.get("params") or {},
        json=kwargs.get("json"),
        headers=kwargs.get("headers") or {},
        slow=slow,
        races=races,
    )


def reads(from_dict: Callable[[Mapping[str, Any]], W], convert_to: Callable[[W], T]) -> Callable[[Answer], T]:
    """Read JSON as a generated model, then as a value of the SDK."""
    return lambda answer: convert_to(from_dict(json_of(answer)))


def reads_page(
    from_dict: Callable[[Mapping[str, Any]], Any], convert_row: Callable[[Any], T], after: str
) -> Callable[[Answer], Page[T]]:
    """Read one page."""
    return parser(convert.page(from_dict, convert_row, after))


def segment(text: str) -> str:
    """One segment of a URL."""
    return quote(text, safe="")


def clean(**params: object) -> dict[str, Any]:
    """The parameters without the empty ones. The server uses its default for an absent parameter."""
    return {name: value for name, value in params.items() if value not in ("", None, (), [])}


def read(call: Call[T], answer: Answer) -> T:
    """The value of a successful response. Raises the error of any other response."""
    if answer.status not in call.success:
        raise error_of(call, answer)
    try:
        return call.parse(answer)
    except LakebedError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ProtocolError(
            f"cannot read the response to {call.action!r} on {call.subject}: "
            f"{type(error).__name__}: {error}; the response begins with {clip(answer)!r}",
            **context(call, answer),
        ) from None


def json_of(answer: Answer) -> Mapping[str, Any]:
    """The JSON object in a body. Raises ValueError when there is none."""
    value = json.loads(answer.content)
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    return value


def parser(from_dict: Callable[[Mapping[str, Any]], T]) -> Callable[[Answer], T]:
    """Read the body as JSON, then as a value of the SDK."""
    return lambda answer: from_dict(json_of(answer))


def nothing(answer: Answer) -> None:
    """Ignore the body: the status is the whole result."""
