# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from ... import errors
from ...types import UNSET, Response, Unset

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error
    from ...models.repository_purge import RepositoryPurge


def _get_kwargs(
    repository: str,
    *,
    force: bool | Unset = UNSET,
    purge: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["force"] = force

    params["purge"] = purge

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/repositories/{repository}".format(
            repository=quote(str(repository), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Error | RepositoryPurge | None:
    from ...models.error import Error
    from ...models.repository_purge import RepositoryPurge

    if response.status_code == 200:
        response_200 = RepositoryPurge.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = RepositoryPurge.from_dict(response.json())

        return response_202

    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

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
) -> Response[Any | Error | RepositoryPurge]:
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
    force: bool | Unset = UNSET,
    purge: bool | Unset = UNSET,
) -> Response[Any | Error | RepositoryPurge]:
    """Delete a repository.

     The name becomes available. The server keeps the objects in the storage namespace unless `purge` is
    set. With `purge`, the server deletes the files that it created there, and the namespace becomes
    available too. The response is 409 (`namespace_shared`) if another repository refers to objects in
    the namespace. During a purge, requests for the repository return 404 (`repository_deleting`), and
    its name is not available. The server continues an interrupted purge automatically. Repeating the
    request also continues it.

    Args:
        repository (str):
        force (bool | Unset):
        purge (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error | RepositoryPurge]
    """

    kwargs = _get_kwargs(
        repository=repository,
        force=force,
        purge=purge,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    force: bool | Unset = UNSET,
    purge: bool | Unset = UNSET,
) -> Any | Error | RepositoryPurge | None:
    """Delete a repository.

     The name becomes available. The server keeps the objects in the storage namespace unless `purge` is
    set. With `purge`, the server deletes the files that it created there, and the namespace becomes
    available too. The response is 409 (`namespace_shared`) if another repository refers to objects in
    the namespace. During a purge, requests for the repository return 404 (`repository_deleting`), and
    its name is not available. The server continues an interrupted purge automatically. Repeating the
    request also continues it.

    Args:
        repository (str):
        force (bool | Unset):
        purge (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error | RepositoryPurge
    """

    return sync_detailed(
        repository=repository,
        client=client,
        force=force,
        purge=purge,
    ).parsed


async def asyncio_detailed(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    force: bool | Unset = UNSET,
    purge: bool | Unset = UNSET,
) -> Response[Any | Error | RepositoryPurge]:
    """Delete a repository.

     The name becomes available. The server keeps the objects in the storage namespace unless `purge` is
    set. With `purge`, the server deletes the files that it created there, and the namespace becomes
    available too. The response is 409 (`namespace_shared`) if another repository refers to objects in
    the namespace. During a purge, requests for the repository return 404 (`repository_deleting`), and
    its name is not available. The server continues an interrupted purge automatically. Repeating the
    request also continues it.

    Args:
        repository (str):
        force (bool | Unset):
        purge (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error | RepositoryPurge]
    """

    kwargs = _get_kwargs(
        repository=repository,
        force=force,
        purge=purge,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    force: bool | Unset = UNSET,
    purge: bool | Unset = UNSET,
) -> Any | Error | RepositoryPurge | None:
    """Delete a repository.

     The name becomes available. The server keeps the objects in the storage namespace unless `purge` is
    set. With `purge`, the server deletes the files that it created there, and the namespace becomes
    available too. The response is 409 (`namespace_shared`) if another repository refers to objects in
    the namespace. During a purge, requests for the repository return 404 (`repository_deleting`), and
    its name is not available. The server continues an interrupted purge automatically. Repeating the
    request also continues it.

    Args:
        repository (str):
        force (bool | Unset):
        purge (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error | RepositoryPurge
    """

    return (
        await asyncio_detailed(
            repository=repository,
            client=client,
            force=force,
            purge=purge,
        )
    ).parsed
