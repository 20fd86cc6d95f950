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
    from ...models.list_pull_requests_status import ListPullRequestsStatus
    from ...models.pull_requests_list import PullRequestsList


def _get_kwargs(
    repository: str,
    *,
    prefix: str | Unset = UNSET,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    status: ListPullRequestsStatus | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["prefix"] = prefix

    params["after"] = after

    params["amount"] = amount

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/pulls".format(
            repository=quote(str(repository), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | PullRequestsList | None:
    from ...models.error import Error
    from ...models.pull_requests_list import PullRequestsList

    if response.status_code == 200:
        response_200 = PullRequestsList.from_dict(response.json())

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
) -> Response[Error | PullRequestsList]:
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
    prefix: str | Unset = UNSET,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    status: ListPullRequestsStatus | Unset = UNSET,
) -> Response[Error | PullRequestsList]:
    """List pull requests, newest first.

    Args:
        repository (str):
        prefix (str | Unset):
        after (str | Unset):
        amount (int | Unset):
        status (ListPullRequestsStatus | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | PullRequestsList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        prefix=prefix,
        after=after,
        amount=amount,
        status=status,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    prefix: str | Unset = UNSET,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    status: ListPullRequestsStatus | Unset = UNSET,
) -> Error | PullRequestsList | None:
    """List pull requests, newest first.

    Args:
        repository (str):
        prefix (str | Unset):
        after (str | Unset):
        amount (int | Unset):
        status (ListPullRequestsStatus | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | PullRequestsList
    """

    return sync_detailed(
        repository=repository,
        client=client,
        prefix=prefix,
        after=after,
        amount=amount,
        status=status,
    ).parsed


async def asyncio_detailed(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    prefix: str | Unset = UNSET,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    status: ListPullRequestsStatus | Unset = UNSET,
) -> Response[Error | PullRequestsList]:
    """List pull requests, newest first.

    Args:
        repository (str):
        prefix (str | Unset):
        after (str | Unset):
        amount (int | Unset):
        status (ListPullRequestsStatus | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | PullRequestsList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        prefix=prefix,
        after=after,
        amount=amount,
        status=status,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    prefix: str | Unset = UNSET,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    status: ListPullRequestsStatus | Unset = UNSET,
) -> Error | PullRequestsList | None:
    """List pull requests, newest first.

    Args:
        repository (str):
        prefix (str | Unset):
        after (str | Unset):
        amount (int | Unset):
        status (ListPullRequestsStatus | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | PullRequestsList
    """

    return (
        await asyncio_detailed(
            repository=repository,
            client=client,
            prefix=prefix,
            after=after,
            amount=amount,
            status=status,
        )
    ).parsed
