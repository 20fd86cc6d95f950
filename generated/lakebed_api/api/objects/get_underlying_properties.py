# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ... import errors
from ...types import UNSET, Response

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error
    from ...models.underlying_object_properties import UnderlyingObjectProperties


def _get_kwargs(
    repository: str,
    ref: str,
    *,
    path: str,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["path"] = path

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/refs/{ref}/objects/underlyingProperties".format(
            repository=quote(str(repository), safe=""),
            ref=quote(str(ref), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | UnderlyingObjectProperties | None:
    from ...models.error import Error
    from ...models.underlying_object_properties import UnderlyingObjectProperties

    if response.status_code == 200:
        response_200 = UnderlyingObjectProperties.from_dict(response.json())

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

    if response.status_code == 410:
        response_410 = Error.from_dict(response.json())

        return response_410

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
) -> Response[Error | UnderlyingObjectProperties]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
) -> Response[Error | UnderlyingObjectProperties]:
    """Return the properties of an object in the object store.

    Args:
        repository (str):
        ref (str):
        path (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | UnderlyingObjectProperties]
    """

    kwargs = _get_kwargs(
        repository=repository,
        ref=ref,
        path=path,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
) -> Error | UnderlyingObjectProperties | None:
    """Return the properties of an object in the object store.

    Args:
        repository (str):
        ref (str):
        path (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | UnderlyingObjectProperties
    """

    return sync_detailed(
        repository=repository,
        ref=ref,
        client=client,
        path=path,
    ).parsed


async def asyncio_detailed(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
) -> Response[Error | UnderlyingObjectProperties]:
    """Return the properties of an object in the object store.

    Args:
        repository (str):
        ref (str):
        path (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | UnderlyingObjectProperties]
    """

    kwargs = _get_kwargs(
        repository=repository,
        ref=ref,
        path=path,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
) -> Error | UnderlyingObjectProperties | None:
    """Return the properties of an object in the object store.

    Args:
        repository (str):
        ref (str):
        path (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | UnderlyingObjectProperties
    """

    return (
        await asyncio_detailed(
            repository=repository,
            ref=ref,
            client=client,
            path=path,
        )
    ).parsed
