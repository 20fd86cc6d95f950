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
    from ...models.rights_change_list import RightsChangeList


def _get_kwargs(
    *,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["after"] = after

    params["amount"] = amount

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/auth/changes",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | RightsChangeList | None:
    from ...models.error import Error
    from ...models.rights_change_list import RightsChangeList

    if response.status_code == 200:
        response_200 = RightsChangeList.from_dict(response.json())

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

    if response.status_code == 501:
        response_501 = Error.from_dict(response.json())

        return response_501

    if response.status_code == 503:
        response_503 = Error.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Error | RightsChangeList]:
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
    amount: int | Unset = UNSET,
) -> Response[Error | RightsChangeList]:
    """List the changes of users, groups and policies, oldest first.

     The server stores each record atomically with its change. Needs `audit:ReadEvents` on all resources.

    Args:
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | RightsChangeList]
    """

    kwargs = _get_kwargs(
        after=after,
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
    amount: int | Unset = UNSET,
) -> Error | RightsChangeList | None:
    """List the changes of users, groups and policies, oldest first.

     The server stores each record atomically with its change. Needs `audit:ReadEvents` on all resources.

    Args:
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | RightsChangeList
    """

    return sync_detailed(
        client=client,
        after=after,
        amount=amount,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> Response[Error | RightsChangeList]:
    """List the changes of users, groups and policies, oldest first.

     The server stores each record atomically with its change. Needs `audit:ReadEvents` on all resources.

    Args:
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | RightsChangeList]
    """

    kwargs = _get_kwargs(
        after=after,
        amount=amount,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> Error | RightsChangeList | None:
    """List the changes of users, groups and policies, oldest first.

     The server stores each record atomically with its change. Needs `audit:ReadEvents` on all resources.

    Args:
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | RightsChangeList
    """

    return (
        await asyncio_detailed(
            client=client,
            after=after,
            amount=amount,
        )
    ).parsed
