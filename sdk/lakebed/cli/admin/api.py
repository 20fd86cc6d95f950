"""`lakebed api`: any operation of the REST API as it is, for what no verb is for."""

from __future__ import annotations

import json
import sys
from typing import IO, TYPE_CHECKING, Any

import click

from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app

if TYPE_CHECKING:
    from lakebed import Answer


@click.command(cls=Verb)
@click.argument("method", type=click.Choice(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], case_sensitive=False))
@click.argument("path", metavar="PATH")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="Query parameter; may be repeated.")
@click.option("--body", type=click.File("rb"), metavar="FILE", help="JSON to send; - reads it from standard input.")
@pass_app
def api(app: App, method: str, path: str, params: tuple[str, ...], body: IO[bytes] | None) -> None:
    """Send one request of the REST API and print the response.

    PATH is the part after /api/v1. --json also prints the status and the headers.

    \b
    Example: lakebed api GET /repositories --param amount=5
    """
    query = _query(params)
    sent = None if body is None else _json(body.read())
    with app.lake() as lake:
        answer = lake.request(method.upper(), path, query, sent)
    if app.as_json:
        said = {"status": answer.status, "headers": dict(answer.headers), "body": _body(answer)}
        sys.stdout.write(output.dumps(said) + "\n")
    elif not answer.content:
        rows = ((name, output.shown(value)) for name, value in answer.headers.items())
        sys.stdout.write(f"HTTP {answer.status}\n{output.table(rows)}\n")
    elif _is_json(answer):
        sys.stdout.write(output.dumps(answer.json()) + "\n")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(answer.content)


def _query(params: tuple[str, ...]) -> dict[str, list[str]]:
    query: dict[str, list[str]] = {}
    for text in params:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint="--param")
        query.setdefault(key, []).append(value)
    return query


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"it is not JSON: {error}", param_hint="--body") from None


def _is_json(answer: Answer) -> bool:
    return "json" in answer.headers.get("content-type", "")


def _body(answer: Answer) -> Any:
    return answer.json() if _is_json(answer) else answer.content.decode("utf-8", "replace")
