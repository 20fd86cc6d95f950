# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from ... import errors
from ...types import UNSET, Response, Unset

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error


def _get_kwargs(
    *,
    everywhere: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["everywhere"] = everywhere

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/auth/logout",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Any | Error | None:
    from ...models.error import Error

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Any | Error]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    everywhere: bool | Unset = UNSET,
) -> Response[Any | Error]:
    """End the session of a token, or all sessions of the calling user.

     Revokes the token of the request, or with `everywhere` every token of the user, on all servers
    within a second. Access keys remain valid. The response is 400 if the request is signed with an
    access key and `everywhere` is not set, because an access key has no session.

    Args:
        everywhere (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
    """

    kwargs = _get_kwargs(
        everywhere=everywhere,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    everywhere: bool | Unset = UNSET,
) -> Any | Error | None:
    """End the session of a token, or all sessions of the calling user.

     Revokes the token of the request, or with `everywhere` every token of the user, on all servers
    within a second. Access keys remain valid. The response is 400 if the request is signed with an
    access key and `everywhere` is not set, because an access key has no session.

    Args:
        everywhere (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
    """

    return sync_detailed(
        client=client,
        everywhere=everywhere,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    everywhere: bool | Unset = UNSET,
) -> Response[Any | Error]:
    """End the session of a token, or all sessions of the calling user.

     Revokes the token of the request, or with `everywhere` every token of the user, on all servers
    within a second. Access keys remain valid. The response is 400 if the request is signed with an
    access key and `everywhere` is not set, because an access key has no session.

    Args:
        everywhere (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
    """

    kwargs = _get_kwargs(
        everywhere=everywhere,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    everywhere: bool | Unset = UNSET,
) -> Any | Error | None:
    """End the session of a token, or all sessions of the calling user.

     Revokes the token of the request, or with `everywhere` every token of the user, on all servers
    within a second. Access keys remain valid. The response is 400 if the request is signed with an
    access key and `everywhere` is not set, because an access key has no session.

    Args:
        everywhere (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
    """

    return (
        await asyncio_detailed(
            client=client,
            everywhere=everywhere,
        )
    ).parsed
