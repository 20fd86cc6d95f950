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
    from ...models.credentials_creation import CredentialsCreation
    from ...models.credentials_with_secret import CredentialsWithSecret
    from ...models.error import Error


def _get_kwargs(
    user_id: str,
    *,
    body: CredentialsCreation | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/auth/users/{user_id}/credentials".format(
            user_id=quote(str(user_id), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CredentialsWithSecret | Error | None:
    from ...models.credentials_with_secret import CredentialsWithSecret
    from ...models.error import Error

    if response.status_code == 201:
        response_201 = CredentialsWithSecret.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CredentialsWithSecret | Error]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    user_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CredentialsCreation | Unset = UNSET,
) -> Response[CredentialsWithSecret | Error]:
    """Create another access key for a user.

     Without a body, the key has all rights of the user and does not expire. A key never has more rights
    than the key that creates it, and never expires later. A key with a policy can create keys only for
    the same user and with the same policy.

    Args:
        user_id (str):
        body (CredentialsCreation | Unset): An access key to create. Lakebed only.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CredentialsWithSecret | Error]
    """

    kwargs = _get_kwargs(
        user_id=user_id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    user_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CredentialsCreation | Unset = UNSET,
) -> CredentialsWithSecret | Error | None:
    """Create another access key for a user.

     Without a body, the key has all rights of the user and does not expire. A key never has more rights
    than the key that creates it, and never expires later. A key with a policy can create keys only for
    the same user and with the same policy.

    Args:
        user_id (str):
        body (CredentialsCreation | Unset): An access key to create. Lakebed only.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CredentialsWithSecret | Error
    """

    return sync_detailed(
        user_id=user_id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    user_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CredentialsCreation | Unset = UNSET,
) -> Response[CredentialsWithSecret | Error]:
    """Create another access key for a user.

     Without a body, the key has all rights of the user and does not expire. A key never has more rights
    than the key that creates it, and never expires later. A key with a policy can create keys only for
    the same user and with the same policy.

    Args:
        user_id (str):
        body (CredentialsCreation | Unset): An access key to create. Lakebed only.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CredentialsWithSecret | Error]
    """

    kwargs = _get_kwargs(
        user_id=user_id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    user_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CredentialsCreation | Unset = UNSET,
) -> CredentialsWithSecret | Error | None:
    """Create another access key for a user.

     Without a body, the key has all rights of the user and does not expire. A key never has more rights
    than the key that creates it, and never expires later. A key with a policy can create keys only for
    the same user and with the same policy.

    Args:
        user_id (str):
        body (CredentialsCreation | Unset): An access key to create. Lakebed only.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CredentialsWithSecret | Error
    """

    return (
        await asyncio_detailed(
            user_id=user_id,
            client=client,
            body=body,
        )
    ).parsed
