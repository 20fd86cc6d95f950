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
    from ...models.repository_statistics import RepositoryStatistics


def _get_kwargs(
    repository: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/statistics".format(
            repository=quote(str(repository), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | RepositoryStatistics | None:
    from ...models.error import Error
    from ...models.repository_statistics import RepositoryStatistics

    if response.status_code == 200:
        response_200 = RepositoryStatistics.from_dict(response.json())

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
) -> Response[Error | RepositoryStatistics]:
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
) -> Response[Error | RepositoryStatistics]:
    """Return statistics of the head of the default branch.

     Uncommitted changes are not counted. A request reads for a limited time, so the first response after
    many changes may not contain `bytes`. The next request continues the count. Lakebed only.

    Args:
        repository (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | RepositoryStatistics]
    """

    kwargs = _get_kwargs(
        repository=repository,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
) -> Error | RepositoryStatistics | None:
    """Return statistics of the head of the default branch.

     Uncommitted changes are not counted. A request reads for a limited time, so the first response after
    many changes may not contain `bytes`. The next request continues the count. Lakebed only.

    Args:
        repository (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | RepositoryStatistics
    """

    return sync_detailed(
        repository=repository,
        client=client,
    ).parsed


async def asyncio_detailed(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Error | RepositoryStatistics]:
    """Return statistics of the head of the default branch.

     Uncommitted changes are not counted. A request reads for a limited time, so the first response after
    many changes may not contain `bytes`. The next request continues the count. Lakebed only.

    Args:
        repository (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | RepositoryStatistics]
    """

    kwargs = _get_kwargs(
        repository=repository,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
) -> Error | RepositoryStatistics | None:
    """Return statistics of the head of the default branch.

     Uncommitted changes are not counted. A request reads for a limited time, so the first response after
    many changes may not contain `bytes`. The next request continues the count. Lakebed only.

    Args:
        repository (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | RepositoryStatistics
    """

    return (
        await asyncio_detailed(
            repository=repository,
            client=client,
        )
    ).parsed
