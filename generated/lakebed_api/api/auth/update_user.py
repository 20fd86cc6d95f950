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
    from ...models.user import User
    from ...models.user_update import UserUpdate


def _get_kwargs(
    user_id: str,
    *,
    body: UserUpdate,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/auth/users/{user_id}".format(
            user_id=quote(str(user_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | User | None:
    from ...models.error import Error
    from ...models.user import User

    if response.status_code == 200:
        response_200 = User.from_dict(response.json())

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

    if response.status_code == 501:
        response_501 = Error.from_dict(response.json())

        return response_501

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | User]:
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
    body: UserUpdate,
) -> Response[Error | User]:
    """Change the display name, the e-mail address or the state of a user.

     Absent fields keep their values. Every server refuses a disabled user (401) within a second. The
    user keeps its access keys, groups and policies. The response is 409 (`last_administrator`) if no
    user could manage users and policies after the change. Lakebed only.

    Args:
        user_id (str):
        body (UserUpdate): New values of some fields of a user. An empty string removes the name
            or the e-mail address.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | User]
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
    body: UserUpdate,
) -> Error | User | None:
    """Change the display name, the e-mail address or the state of a user.

     Absent fields keep their values. Every server refuses a disabled user (401) within a second. The
    user keeps its access keys, groups and policies. The response is 409 (`last_administrator`) if no
    user could manage users and policies after the change. Lakebed only.

    Args:
        user_id (str):
        body (UserUpdate): New values of some fields of a user. An empty string removes the name
            or the e-mail address.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | User
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
    body: UserUpdate,
) -> Response[Error | User]:
    """Change the display name, the e-mail address or the state of a user.

     Absent fields keep their values. Every server refuses a disabled user (401) within a second. The
    user keeps its access keys, groups and policies. The response is 409 (`last_administrator`) if no
    user could manage users and policies after the change. Lakebed only.

    Args:
        user_id (str):
        body (UserUpdate): New values of some fields of a user. An empty string removes the name
            or the e-mail address.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | User]
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
    body: UserUpdate,
) -> Error | User | None:
    """Change the display name, the e-mail address or the state of a user.

     Absent fields keep their values. Every server refuses a disabled user (401) within a second. The
    user keeps its access keys, groups and policies. The response is 409 (`last_administrator`) if no
    user could manage users and policies after the change. Lakebed only.

    Args:
        user_id (str):
        body (UserUpdate): New values of some fields of a user. An empty string removes the name
            or the e-mail address.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | User
    """

    return (
        await asyncio_detailed(
            user_id=user_id,
            client=client,
            body=body,
        )
    ).parsed
