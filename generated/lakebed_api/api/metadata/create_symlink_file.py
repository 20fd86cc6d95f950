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
    from ...models.storage_uri import StorageURI


def _get_kwargs(
    repository: str,
    branch: str,
    *,
    location: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["location"] = location

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/refs/{branch}/symlink".format(
            repository=quote(str(repository), safe=""),
            branch=quote(str(branch), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | StorageURI | None:
    from ...models.error import Error
    from ...models.storage_uri import StorageURI

    if response.status_code == 201:
        response_201 = StorageURI.from_dict(response.json())

        return response_201

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

    if response.status_code == 507:
        response_507 = Error.from_dict(response.json())

        return response_507

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | StorageURI]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    location: str | Unset = UNSET,
) -> Response[Error | StorageURI]:
    """Write symlink files for Hive.

     Writes one file per directory, with the addresses of its objects. The server writes the files to the
    storage namespace, at `symlinks/REPOSITORY/BRANCH/DIRECTORY/symlink.txt`, and removes the files of
    directories without objects.

    Args:
        repository (str):
        branch (str):
        location (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | StorageURI]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        location=location,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    location: str | Unset = UNSET,
) -> Error | StorageURI | None:
    """Write symlink files for Hive.

     Writes one file per directory, with the addresses of its objects. The server writes the files to the
    storage namespace, at `symlinks/REPOSITORY/BRANCH/DIRECTORY/symlink.txt`, and removes the files of
    directories without objects.

    Args:
        repository (str):
        branch (str):
        location (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | StorageURI
    """

    return sync_detailed(
        repository=repository,
        branch=branch,
        client=client,
        location=location,
    ).parsed


async def asyncio_detailed(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    location: str | Unset = UNSET,
) -> Response[Error | StorageURI]:
    """Write symlink files for Hive.

     Writes one file per directory, with the addresses of its objects. The server writes the files to the
    storage namespace, at `symlinks/REPOSITORY/BRANCH/DIRECTORY/symlink.txt`, and removes the files of
    directories without objects.

    Args:
        repository (str):
        branch (str):
        location (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | StorageURI]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        location=location,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    location: str | Unset = UNSET,
) -> Error | StorageURI | None:
    """Write symlink files for Hive.

     Writes one file per directory, with the addresses of its objects. The server writes the files to the
    storage namespace, at `symlinks/REPOSITORY/BRANCH/DIRECTORY/symlink.txt`, and removes the files of
    directories without objects.

    Args:
        repository (str):
        branch (str):
        location (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | StorageURI
    """

    return (
        await asyncio_detailed(
            repository=repository,
            branch=branch,
            client=client,
            location=location,
        )
    ).parsed
