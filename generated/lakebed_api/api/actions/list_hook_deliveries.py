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
    from ...models.hook_delivery_list import HookDeliveryList


def _get_kwargs(
    repository: str,
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
        "url": "/repositories/{repository}/actions/deliveries".format(
            repository=quote(str(repository), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | HookDeliveryList | None:
    from ...models.error import Error
    from ...models.hook_delivery_list import HookDeliveryList

    if response.status_code == 200:
        response_200 = HookDeliveryList.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Error | HookDeliveryList]:
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
    amount: int | Unset = UNSET,
) -> Response[Error | HookDeliveryList]:
    """List the waiting and failed deliveries of actions.

     A delivery is a call of an action after a change. Waiting deliveries come first, ordered by due
    time, then failed deliveries. A page may be short or empty even if `has_more` is true. If the server
    attempts a delivery between two requests, both pages or neither page may contain it. Successful
    deliveries are not listed: see the runs. Needs `ci:ReadAction`. Lakebed only.

    Args:
        repository (str):
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | HookDeliveryList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        after=after,
        amount=amount,
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
    amount: int | Unset = UNSET,
) -> Error | HookDeliveryList | None:
    """List the waiting and failed deliveries of actions.

     A delivery is a call of an action after a change. Waiting deliveries come first, ordered by due
    time, then failed deliveries. A page may be short or empty even if `has_more` is true. If the server
    attempts a delivery between two requests, both pages or neither page may contain it. Successful
    deliveries are not listed: see the runs. Needs `ci:ReadAction`. Lakebed only.

    Args:
        repository (str):
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | HookDeliveryList
    """

    return sync_detailed(
        repository=repository,
        client=client,
        after=after,
        amount=amount,
    ).parsed


async def asyncio_detailed(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> Response[Error | HookDeliveryList]:
    """List the waiting and failed deliveries of actions.

     A delivery is a call of an action after a change. Waiting deliveries come first, ordered by due
    time, then failed deliveries. A page may be short or empty even if `has_more` is true. If the server
    attempts a delivery between two requests, both pages or neither page may contain it. Successful
    deliveries are not listed: see the runs. Needs `ci:ReadAction`. Lakebed only.

    Args:
        repository (str):
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | HookDeliveryList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        after=after,
        amount=amount,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
) -> Error | HookDeliveryList | None:
    """List the waiting and failed deliveries of actions.

     A delivery is a call of an action after a change. Waiting deliveries come first, ordered by due
    time, then failed deliveries. A page may be short or empty even if `has_more` is true. If the server
    attempts a delivery between two requests, both pages or neither page may contain it. Successful
    deliveries are not listed: see the runs. Needs `ci:ReadAction`. Lakebed only.

    Args:
        repository (str):
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | HookDeliveryList
    """

    return (
        await asyncio_detailed(
            repository=repository,
            client=client,
            after=after,
            amount=amount,
        )
    ).parsed
