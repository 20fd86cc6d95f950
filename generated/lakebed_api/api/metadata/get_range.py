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
    from ...models.storage_uri import StorageURI


def _get_kwargs(
    repository: str,
    range_: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/metadata/range/{range_}".format(
            repository=quote(str(repository), safe=""),
            range_=quote(str(range_), safe=""),
        ),
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | StorageURI | None:
    from ...models.error import Error
    from ...models.storage_uri import StorageURI

    if response.status_code == 200:
        response_200 = StorageURI.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | StorageURI]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    range_: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Error | StorageURI]:
    """Return the address of a range file.

     A range is a Parquet file of entries, sorted by path.

    Args:
        repository (str):
        range_ (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | StorageURI]
    """

    kwargs = _get_kwargs(
        repository=repository,
        range_=range_,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    range_: str,
    *,
    client: AuthenticatedClient | Client,
) -> Error | StorageURI | None:
    """Return the address of a range file.

     A range is a Parquet file of entries, sorted by path.

    Args:
        repository (str):
        range_ (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | StorageURI
    """

    return sync_detailed(
        repository=repository,
        range_=range_,
        client=client,
    ).parsed


async def asyncio_detailed(
    repository: str,
    range_: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Error | StorageURI]:
    """Return the address of a range file.

     A range is a Parquet file of entries, sorted by path.

    Args:
        repository (str):
        range_ (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | StorageURI]
    """

    kwargs = _get_kwargs(
        repository=repository,
        range_=range_,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    range_: str,
    *,
    client: AuthenticatedClient | Client,
) -> Error | StorageURI | None:
    """Return the address of a range file.

     A range is a Parquet file of entries, sorted by path.

    Args:
        repository (str):
        range_ (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | StorageURI
    """

    return (
        await asyncio_detailed(
            repository=repository,
            range_=range_,
            client=client,
        )
    ).parsed
