# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ... import errors
from ...types import UNSET, Response, Unset

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error
    from ...models.event_list import EventList


def _get_kwargs(
    *,
    after: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["after"] = after

    params["type"] = type_

    params["amount"] = amount

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/events",
        "params": params,
    }

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
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> Response[Error | EventList]:
    """List the events of all repositories, and changes of rights.

     Returns the events of every repository on which the caller has `audit:ReadEvents`, in the order of
    their logical timestamps. A caller with this permission on all resources also gets the types
    `auth.*`: changes of users, groups, policies, memberships, attachments and access keys
    (docs/events.md). The last page ends with the events of the last minute. Their order is not final,
    so a later page repeats them with the same `id`. Covers at most 1,000 repositories. Lakebed only.

    Args:
        after (str | Unset):
        type_ (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | EventList]
    """

    kwargs = _get_kwargs(
        after=after,
        type_=type_,
        amount=amount,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> Error | EventList | None:
    """List the events of all repositories, and changes of rights.

     Returns the events of every repository on which the caller has `audit:ReadEvents`, in the order of
    their logical timestamps. A caller with this permission on all resources also gets the types
    `auth.*`: changes of users, groups, policies, memberships, attachments and access keys
    (docs/events.md). The last page ends with the events of the last minute. Their order is not final,
    so a later page repeats them with the same `id`. Covers at most 1,000 repositories. Lakebed only.

    Args:
        after (str | Unset):
        type_ (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | EventList
    """

    return sync_detailed(
        client=client,
        after=after,
        type_=type_,
        amount=amount,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> Response[Error | EventList]:
    """List the events of all repositories, and changes of rights.

     Returns the events of every repository on which the caller has `audit:ReadEvents`, in the order of
    their logical timestamps. A caller with this permission on all resources also gets the types
    `auth.*`: changes of users, groups, policies, memberships, attachments and access keys
    (docs/events.md). The last page ends with the events of the last minute. Their order is not final,
    so a later page repeats them with the same `id`. Covers at most 1,000 repositories. Lakebed only.

    Args:
        after (str | Unset):
        type_ (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | EventList]
    """

    kwargs = _get_kwargs(
        after=after,
        type_=type_,
        amount=amount,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    type_: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> Error | EventList | None:
    """List the events of all repositories, and changes of rights.

     Returns the events of every repository on which the caller has `audit:ReadEvents`, in the order of
    their logical timestamps. A caller with this permission on all resources also gets the types
    `auth.*`: changes of users, groups, policies, memberships, attachments and access keys
    (docs/events.md). The last page ends with the events of the last minute. Their order is not final,
    so a later page repeats them with the same `id`. Covers at most 1,000 repositories. Lakebed only.

    Args:
        after (str | Unset):
        type_ (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | EventList
    """

    return (
        await asyncio_detailed(
            client=client,
            after=after,
            type_=type_,
            amount=amount,
        )
    ).parsed
