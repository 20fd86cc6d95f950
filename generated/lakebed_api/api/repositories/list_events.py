# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ... import errors
from ...types import UNSET, Response, Unset

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error
    from ...models.event_list import EventList


def _get_kwargs(
    repository: str,
    *,
    after: str | Unset = UNSET,
    branch: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(last_event_id, Unset):
        headers["Last-Event-ID"] = last_event_id

    params: dict[str, Any] = {}

    params["after"] = after

    params["branch"] = branch

    params["type"] = type_

    params["amount"] = amount

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/events".format(
            repository=quote(str(repository), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | EventList | None:
    from ...models.error import Error
    from ...models.event_list import EventList

    if response.status_code == 200:
        response_200 = EventList.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | EventList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    branch: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Response[Error | EventList]:
    """List the events of a repository, or follow them live.

     Returns an event for each change of a branch, a tag, a protection rule or the repository, oldest
    first (docs/events.md). Needs `audit:ReadEvents`. With `branch`, `fs:ReadBranch` on the branch is
    also sufficient. The last page ends with the events of the last few seconds. They have no
    `logical_timestamp` yet, so a later page repeats them with the same `id`. A filtered page may be
    empty even if `has_more` is true.

    With `Accept: text/event-stream` the response is a live feed of server-sent events. `id` is the
    `logical_timestamp`, `event` is the type, and `data` is the event as one line of JSON. The feed
    starts after `Last-Event-ID` or `after`, or with the next event if neither is given. The event
    `reset` means that events since that position were deleted. The server sends a comment every 15
    seconds. The feed ends when the token of the request expires.

    Args:
        repository (str):
        after (str | Unset):
        branch (str | Unset):
        type_ (str | Unset):
        amount (int | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | EventList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        after=after,
        branch=branch,
        type_=type_,
        amount=amount,
        last_event_id=last_event_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    branch: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Error | EventList | None:
    """List the events of a repository, or follow them live.

     Returns an event for each change of a branch, a tag, a protection rule or the repository, oldest
    first (docs/events.md). Needs `audit:ReadEvents`. With `branch`, `fs:ReadBranch` on the branch is
    also sufficient. The last page ends with the events of the last few seconds. They have no
    `logical_timestamp` yet, so a later page repeats them with the same `id`. A filtered page may be
    empty even if `has_more` is true.

    With `Accept: text/event-stream` the response is a live feed of server-sent events. `id` is the
    `logical_timestamp`, `event` is the type, and `data` is the event as one line of JSON. The feed
    starts after `Last-Event-ID` or `after`, or with the next event if neither is given. The event
    `reset` means that events since that position were deleted. The server sends a comment every 15
    seconds. The feed ends when the token of the request expires.

    Args:
        repository (str):
        after (str | Unset):
        branch (str | Unset):
        type_ (str | Unset):
        amount (int | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | EventList
    """

    return sync_detailed(
        repository=repository,
        client=client,
        after=after,
        branch=branch,
        type_=type_,
        amount=amount,
        last_event_id=last_event_id,
    ).parsed


async def asyncio_detailed(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    branch: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Response[Error | EventList]:
    """List the events of a repository, or follow them live.

     Returns an event for each change of a branch, a tag, a protection rule or the repository, oldest
    first (docs/events.md). Needs `audit:ReadEvents`. With `branch`, `fs:ReadBranch` on the branch is
    also sufficient. The last page ends with the events of the last few seconds. They have no
    `logical_timestamp` yet, so a later page repeats them with the same `id`. A filtered page may be
    empty even if `has_more` is true.

    With `Accept: text/event-stream` the response is a live feed of server-sent events. `id` is the
    `logical_timestamp`, `event` is the type, and `data` is the event as one line of JSON. The feed
    starts after `Last-Event-ID` or `after`, or with the next event if neither is given. The event
    `reset` means that events since that position were deleted. The server sends a comment every 15
    seconds. The feed ends when the token of the request expires.

    Args:
        repository (str):
        after (str | Unset):
        branch (str | Unset):
        type_ (str | Unset):
        amount (int | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | EventList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        after=after,
        branch=branch,
        type_=type_,
        amount=amount,
        last_event_id=last_event_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    branch: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Error | EventList | None:
    """List the events of a repository, or follow them live.

     Returns an event for each change of a branch, a tag, a protection rule or the repository, oldest
    first (docs/events.md). Needs `audit:ReadEvents`. With `branch`, `fs:ReadBranch` on the branch is
    also sufficient. The last page ends with the events of the last few seconds. They have no
    `logical_timestamp` yet, so a later page repeats them with the same `id`. A filtered page may be
    empty even if `has_more` is true.

    With `Accept: text/event-stream` the response is a live feed of server-sent events. `id` is the
    `logical_timestamp`, `event` is the type, and `data` is the event as one line of JSON. The feed
    starts after `Last-Event-ID` or `after`, or with the next event if neither is given. The event
    `reset` means that events since that position were deleted. The server sends a comment every 15
    seconds. The feed ends when the token of the request expires.

    Args:
        repository (str):
        after (str | Unset):
        branch (str | Unset):
        type_ (str | Unset):
        amount (int | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | EventList
    """

    return (
        await asyncio_detailed(
            repository=repository,
            client=client,
            after=after,
            branch=branch,
            type_=type_,
            amount=amount,
            last_event_id=last_event_id,
        )
    ).parsed
