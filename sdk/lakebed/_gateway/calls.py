"""What every operation of the gateway shares: a generated request as a `Call`, and its answer as a value. Pure.

A body is never trusted to be what the status promised.
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
    """Take over what the generated `_get_kwargs` made. Reading requests can always be repeated."""
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
    """Read JSON as a generated model, then as a value of ours."""
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
    """Parameters without the empty ones: an absent parameter is the server's default."""
    return {name: value for name, value in params.items() if value not in ("", None, (), [])}


def read(call: Call[T], answer: Answer) -> T:
    """The value of a successful answer. Raises the error of an answer that is not a success."""
    if answer.status not in call.success:
        raise error_of(call, answer)
    try:
        return call.parse(answer)
    except LakebedError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ProtocolError(
            f"cannot read the answer to {call.action!r} on {call.subject}: "
            f"{type(error).__name__}: {error}; it begins {clip(answer)!r}",
            **context(call, answer),
        ) from None


def json_of(answer: Answer) -> Mapping[str, Any]:
    """The JSON object in a body. Raises ValueError when there is none."""
    value = json.loads(answer.content)
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    return value


def parser(from_dict: Callable[[Mapping[str, Any]], T]) -> Callable[[Answer], T]:
    """Read the body as JSON, then as a value."""
    return lambda answer: from_dict(json_of(answer))


def nothing(answer: Answer) -> None:
    """Read nothing: the status says it all."""
