# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ... import errors
from ...types import UNSET, Response, Unset

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.commit_list import CommitList
    from ...models.error import Error


def _get_kwargs(
    repository: str,
    ref: str,
    *,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    objects: list[str] | Unset = UNSET,
    prefixes: list[str] | Unset = UNSET,
    limit: bool | Unset = UNSET,
    first_parent: bool | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    author: str | Unset = UNSET,
    author_contains: str | Unset = UNSET,
    stop_at: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["after"] = after

    params["amount"] = amount

    json_objects: list[str] | Unset = UNSET
    if not isinstance(objects, Unset):
        json_objects = objects

    params["objects"] = json_objects

    json_prefixes: list[str] | Unset = UNSET
    if not isinstance(prefixes, Unset):
        json_prefixes = prefixes

    params["prefixes"] = json_prefixes

    params["limit"] = limit

    params["first_parent"] = first_parent

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params["author"] = author

    params["author_contains"] = author_contains

    params["stop_at"] = stop_at

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/refs/{ref}/commits".format(
            repository=quote(str(repository), safe=""),
            ref=quote(str(ref), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> CommitList | Error | None:
    from ...models.commit_list import CommitList
    from ...models.error import Error

    if response.status_code == 200:
        response_200 = CommitList.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Error.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Error.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Error.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Error.from_dict(response.json())

        return response_404

    if response.status_code == 409:
        response_409 = Error.from_dict(response.json())

        return response_409

    if response.status_code == 429:
        response_429 = Error.from_dict(response.json())

        return response_429

    if response.status_code == 500:
        response_500 = Error.from_dict(response.json())

        return response_500

    if response.status_code == 503:
        response_503 = Error.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[CommitList | Error]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    objects: list[str] | Unset = UNSET,
    prefixes: list[str] | Unset = UNSET,
    limit: bool | Unset = UNSET,
    first_parent: bool | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    author: str | Unset = UNSET,
    author_contains: str | Unset = UNSET,
    stop_at: str | Unset = UNSET,
) -> Response[CommitList | Error]:
    """List the commits that are reachable from a reference.

     Commits are ordered by creation time, newest first, then by id in descending order. A parent never
    comes before its child. With `objects` or `prefixes`, the log contains only commits that have
    exactly one parent and change one of the given paths. With `author`, `author_contains` or `until`, a
    request reads a limited number of commits, so a page may be short or empty even if `has_more` is
    true. The next request with `after` continues there.

    Args:
        repository (str):
        ref (str):
        after (str | Unset):
        amount (int | Unset):
        objects (list[str] | Unset):
        prefixes (list[str] | Unset):
        limit (bool | Unset):
        first_parent (bool | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        author (str | Unset):
        author_contains (str | Unset):
        stop_at (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommitList | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        ref=ref,
        after=after,
        amount=amount,
        objects=objects,
        prefixes=prefixes,
        limit=limit,
        first_parent=first_parent,
        since=since,
        until=until,
        author=author,
        author_contains=author_contains,
        stop_at=stop_at,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    objects: list[str] | Unset = UNSET,
    prefixes: list[str] | Unset = UNSET,
    limit: bool | Unset = UNSET,
    first_parent: bool | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    author: str | Unset = UNSET,
    author_contains: str | Unset = UNSET,
    stop_at: str | Unset = UNSET,
) -> CommitList | Error | None:
    """List the commits that are reachable from a reference.

     Commits are ordered by creation time, newest first, then by id in descending order. A parent never
    comes before its child. With `objects` or `prefixes`, the log contains only commits that have
    exactly one parent and change one of the given paths. With `author`, `author_contains` or `until`, a
    request reads a limited number of commits, so a page may be short or empty even if `has_more` is
    true. The next request with `after` continues there.

    Args:
        repository (str):
        ref (str):
        after (str | Unset):
        amount (int | Unset):
        objects (list[str] | Unset):
        prefixes (list[str] | Unset):
        limit (bool | Unset):
        first_parent (bool | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        author (str | Unset):
        author_contains (str | Unset):
        stop_at (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommitList | Error
    """

    return sync_detailed(
        repository=repository,
        ref=ref,
        client=client,
        after=after,
        amount=amount,
        objects=objects,
        prefixes=prefixes,
        limit=limit,
        first_parent=first_parent,
        since=since,
        until=until,
        author=author,
        author_contains=author_contains,
        stop_at=stop_at,
    ).parsed


async def asyncio_detailed(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    objects: list[str] | Unset = UNSET,
    prefixes: list[str] | Unset = UNSET,
    limit: bool | Unset = UNSET,
    first_parent: bool | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    author: str | Unset = UNSET,
    author_contains: str | Unset = UNSET,
    stop_at: str | Unset = UNSET,
) -> Response[CommitList | Error]:
    """List the commits that are reachable from a reference.

     Commits are ordered by creation time, newest first, then by id in descending order. A parent never
    comes before its child. With `objects` or `prefixes`, the log contains only commits that have
    exactly one parent and change one of the given paths. With `author`, `author_contains` or `until`, a
    request reads a limited number of commits, so a page may be short or empty even if `has_more` is
    true. The next request with `after` continues there.

    Args:
        repository (str):
        ref (str):
        after (str | Unset):
        amount (int | Unset):
        objects (list[str] | Unset):
        prefixes (list[str] | Unset):
        limit (bool | Unset):
        first_parent (bool | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        author (str | Unset):
        author_contains (str | Unset):
        stop_at (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommitList | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        ref=ref,
        after=after,
        amount=amount,
        objects=objects,
        prefixes=prefixes,
        limit=limit,
        first_parent=first_parent,
        since=since,
        until=until,
        author=author,
        author_contains=author_contains,
        stop_at=stop_at,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    objects: list[str] | Unset = UNSET,
    prefixes: list[str] | Unset = UNSET,
    limit: bool | Unset = UNSET,
    first_parent: bool | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    author: str | Unset = UNSET,
    author_contains: str | Unset = UNSET,
    stop_at: str | Unset = UNSET,
) -> CommitList | Error | None:
    """List the commits that are reachable from a reference.

     Commits are ordered by creation time, newest first, then by id in descending order. A parent never
    comes before its child. With `objects` or `prefixes`, the log contains only commits that have
    exactly one parent and change one of the given paths. With `author`, `author_contains` or `until`, a
    request reads a limited number of commits, so a page may be short or empty even if `has_more` is
    true. The next request with `after` continues there.

    Args:
        repository (str):
        ref (str):
        after (str | Unset):
        amount (int | Unset):
        objects (list[str] | Unset):
        prefixes (list[str] | Unset):
        limit (bool | Unset):
        first_parent (bool | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        author (str | Unset):
        author_contains (str | Unset):
        stop_at (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommitList | Error
    """

    return (
        await asyncio_detailed(
            repository=repository,
            ref=ref,
            client=client,
            after=after,
            amount=amount,
            objects=objects,
            prefixes=prefixes,
            limit=limit,
            first_parent=first_parent,
            since=since,
            until=until,
            author=author,
            author_contains=author_contains,
            stop_at=stop_at,
        )
    ).parsed
