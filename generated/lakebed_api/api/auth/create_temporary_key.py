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
    from ...models.temporary_key import TemporaryKey
    from ...models.temporary_key_creation import TemporaryKeyCreation


def _get_kwargs(
    *,
    body: TemporaryKeyCreation | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/auth/session",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | TemporaryKey | None:
    from ...models.error import Error
    from ...models.temporary_key import TemporaryKey

    if response.status_code == 201:
        response_201 = TemporaryKey.from_dict(response.json())

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
) -> Response[Error | TemporaryKey]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: TemporaryKeyCreation | Unset = UNSET,
) -> Response[Error | TemporaryKey]:
    """Create a temporary access key for S3 clients.

     The key has the rights of the caller. A `statement` can restrict them. The key expires after
    `duration`. It stops working earlier if the caller's access key or the user is removed, or if the
    user revokes all tokens. Use the key with its session token to sign requests to the S3 gateway.
    Other operations do not accept it. Lakebed only.

    Args:
        body (TemporaryKeyCreation | Unset): A temporary access key to create.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | TemporaryKey]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: TemporaryKeyCreation | Unset = UNSET,
) -> Error | TemporaryKey | None:
    """Create a temporary access key for S3 clients.

     The key has the rights of the caller. A `statement` can restrict them. The key expires after
    `duration`. It stops working earlier if the caller's access key or the user is removed, or if the
    user revokes all tokens. Use the key with its session token to sign requests to the S3 gateway.
    Other operations do not accept it. Lakebed only.

    Args:
        body (TemporaryKeyCreation | Unset): A temporary access key to create.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | TemporaryKey
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: TemporaryKeyCreation | Unset = UNSET,
) -> Response[Error | TemporaryKey]:
    """Create a temporary access key for S3 clients.

     The key has the rights of the caller. A `statement` can restrict them. The key expires after
    `duration`. It stops working earlier if the caller's access key or the user is removed, or if the
    user revokes all tokens. Use the key with its session token to sign requests to the S3 gateway.
    Other operations do not accept it. Lakebed only.

    Args:
        body (TemporaryKeyCreation | Unset): A temporary access key to create.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | TemporaryKey]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: TemporaryKeyCreation | Unset = UNSET,
) -> Error | TemporaryKey | None:
    """Create a temporary access key for S3 clients.

     The key has the rights of the caller. A `statement` can restrict them. The key expires after
    `duration`. It stops working earlier if the caller's access key or the user is removed, or if the
    user revokes all tokens. Use the key with its session token to sign requests to the S3 gateway.
    Other operations do not accept it. Lakebed only.

    Args:
        body (TemporaryKeyCreation | Unset): A temporary access key to create.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | TemporaryKey
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
