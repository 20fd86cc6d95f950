# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ... import errors
from ...types import Response

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error
    from ...models.find_merge_base_result import FindMergeBaseResult


def _get_kwargs(
    repository: str,
    source_ref: str,
    destination_branch: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/refs/{source_ref}/merge/{destination_branch}".format(
            repository=quote(str(repository), safe=""),
            source_ref=quote(str(source_ref), safe=""),
            destination_branch=quote(str(destination_branch), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | FindMergeBaseResult | None:
    from ...models.error import Error
    from ...models.find_merge_base_result import FindMergeBaseResult

    if response.status_code == 200:
        response_200 = FindMergeBaseResult.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Error | FindMergeBaseResult]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    source_ref: str,
    destination_branch: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Error | FindMergeBaseResult]:
    """Find the nearest common ancestor of two references.

    Args:
        repository (str):
        source_ref (str):
        destination_branch (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | FindMergeBaseResult]
    """

    kwargs = _get_kwargs(
        repository=repository,
        source_ref=source_ref,
        destination_branch=destination_branch,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    source_ref: str,
    destination_branch: str,
    *,
    client: AuthenticatedClient | Client,
) -> Error | FindMergeBaseResult | None:
    """Find the nearest common ancestor of two references.

    Args:
        repository (str):
        source_ref (str):
        destination_branch (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | FindMergeBaseResult
    """

    return sync_detailed(
        repository=repository,
        source_ref=source_ref,
        destination_branch=destination_branch,
        client=client,
    ).parsed


async def asyncio_detailed(
    repository: str,
    source_ref: str,
    destination_branch: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Error | FindMergeBaseResult]:
    """Find the nearest common ancestor of two references.

    Args:
        repository (str):
        source_ref (str):
        destination_branch (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | FindMergeBaseResult]
    """

    kwargs = _get_kwargs(
        repository=repository,
        source_ref=source_ref,
        destination_branch=destination_branch,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    source_ref: str,
    destination_branch: str,
    *,
    client: AuthenticatedClient | Client,
) -> Error | FindMergeBaseResult | None:
    """Find the nearest common ancestor of two references.

    Args:
        repository (str):
        source_ref (str):
        destination_branch (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | FindMergeBaseResult
    """

    return (
        await asyncio_detailed(
            repository=repository,
            source_ref=source_ref,
            destination_branch=destination_branch,
            client=client,
        )
    ).parsed
