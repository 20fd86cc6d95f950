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
    from ...models.commit_statistics import CommitStatistics
    from ...models.error import Error


def _get_kwargs(
    repository: str,
    commit_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/commits/{commit_id}/statistics".format(
            repository=quote(str(repository), safe=""),
            commit_id=quote(str(commit_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CommitStatistics | Error | None:
    from ...models.commit_statistics import CommitStatistics
    from ...models.error import Error

    if response.status_code == 200:
        response_200 = CommitStatistics.from_dict(response.json())

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
) -> Response[CommitStatistics | Error]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    commit_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[CommitStatistics | Error]:
    """Count the paths and bytes that a commit changed.

     Compares the commit with its first parent, or the first commit with an empty repository. The server
    counts a limited number of changed paths. If there are more, `complete` is false. Lakebed only.

    Args:
        repository (str):
        commit_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommitStatistics | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        commit_id=commit_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    commit_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> CommitStatistics | Error | None:
    """Count the paths and bytes that a commit changed.

     Compares the commit with its first parent, or the first commit with an empty repository. The server
    counts a limited number of changed paths. If there are more, `complete` is false. Lakebed only.

    Args:
        repository (str):
        commit_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommitStatistics | Error
    """

    return sync_detailed(
        repository=repository,
        commit_id=commit_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    repository: str,
    commit_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[CommitStatistics | Error]:
    """Count the paths and bytes that a commit changed.

     Compares the commit with its first parent, or the first commit with an empty repository. The server
    counts a limited number of changed paths. If there are more, `complete` is false. Lakebed only.

    Args:
        repository (str):
        commit_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommitStatistics | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        commit_id=commit_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    commit_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> CommitStatistics | Error | None:
    """Count the paths and bytes that a commit changed.

     Compares the commit with its first parent, or the first commit with an empty repository. The server
    counts a limited number of changed paths. If there are more, `complete` is false. Lakebed only.

    Args:
        repository (str):
        commit_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommitStatistics | Error
    """

    return (
        await asyncio_detailed(
            repository=repository,
            commit_id=commit_id,
            client=client,
        )
    ).parsed
