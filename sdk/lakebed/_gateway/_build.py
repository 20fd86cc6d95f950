"""What every operation of the gateway shares: a generated request as a `Call`, and readers of its answer. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from lakebed._gateway import convert, responses
from lakebed._values.wire import Answer, Call, Repeat, Subject
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
    return lambda answer: convert_to(from_dict(responses.json_of(answer)))


def reads_page(
    from_dict: Callable[[Mapping[str, Any]], Any], convert_row: Callable[[Any], T], after: str
) -> Callable[[Answer], Page[T]]:
    """Read one page."""
    return responses.parser(convert.page(from_dict, convert_row, after))


def segment(text: str) -> str:
    """One segment of a URL."""
    return quote(text, safe="")


def clean(**params: object) -> dict[str, Any]:
    """Parameters without the empty ones: an absent parameter is the server's default."""
    return {name: value for name, value in params.items() if value not in ("", None, (), [])}
