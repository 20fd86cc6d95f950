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
    from ...models.own_pull_request_list import OwnPullRequestList


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
        "url": "/pulls",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | OwnPullRequestList | None:
    from ...models.error import Error
    from ...models.own_pull_request_list import OwnPullRequestList

    if response.status_code == 200:
        response_200 = OwnPullRequestList.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Error | OwnPullRequestList]:
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
) -> Response[Error | OwnPullRequestList]:
    """List the open pull requests that concern the calling user.

     Returns pull requests that the user opened, that the user should review (directly or as a member of
    a group), or that mention the user with `@`. They are ordered by repository, then newest first. The
    server skips repositories in which the user may not list pull requests. Lakebed only.

    Args:
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | OwnPullRequestList]
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
) -> Error | OwnPullRequestList | None:
    """List the open pull requests that concern the calling user.

     Returns pull requests that the user opened, that the user should review (directly or as a member of
    a group), or that mention the user with `@`. They are ordered by repository, then newest first. The
    server skips repositories in which the user may not list pull requests. Lakebed only.

    Args:
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | OwnPullRequestList
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
) -> Response[Error | OwnPullRequestList]:
    """List the open pull requests that concern the calling user.

     Returns pull requests that the user opened, that the user should review (directly or as a member of
    a group), or that mention the user with `@`. They are ordered by repository, then newest first. The
    server skips repositories in which the user may not list pull requests. Lakebed only.

    Args:
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | OwnPullRequestList]
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
) -> Error | OwnPullRequestList | None:
    """List the open pull requests that concern the calling user.

     Returns pull requests that the user opened, that the user should review (directly or as a member of
    a group), or that mention the user with `@`. They are ordered by repository, then newest first. The
    server skips repositories in which the user may not list pull requests. Lakebed only.

    Args:
        after (str | Unset):
        amount (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | OwnPullRequestList
    """

    return (
        await asyncio_detailed(
            client=client,
            after=after,
            amount=amount,
        )
    ).parsed
