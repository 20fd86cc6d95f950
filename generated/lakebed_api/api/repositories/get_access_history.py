# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ... import errors
from ...types import UNSET, File, Response, Unset

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error


def _get_kwargs(
    repository: str,
    *,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    user: str | Unset = UNSET,
    path: str | Unset = UNSET,
    operation: str | Unset = UNSET,
    refused: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params["user"] = user

    params["path"] = path

    params["operation"] = operation

    params["refused"] = refused

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/history".format(
            repository=quote(str(repository), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | File | None:
    from ...models.error import Error

    if response.status_code == 200:
        response_200 = File(payload=BytesIO(response.content))

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

    if response.status_code == 501:
        response_501 = Error.from_dict(response.json())

        return response_501

    if response.status_code == 503:
        response_503 = Error.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | File]:
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
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    user: str | Unset = UNSET,
    path: str | Unset = UNSET,
    operation: str | Unset = UNSET,
    refused: bool | Unset = UNSET,
) -> Response[Error | File]:
    """Read the access history of a repository.

     A row for each read, write, list and refusal: who, how the user signed in, from where, what, bytes
    and status. The columns are in docs/audit.md. A server writes its rows to the bucket every minute;
    this operation writes the waiting rows of the asked server first. Needs `audit:ReadEvents`. The
    server must record the history (`history.enabled`).

    Args:
        repository (str):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        user (str | Unset):
        path (str | Unset):
        operation (str | Unset):
        refused (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | File]
    """

    kwargs = _get_kwargs(
        repository=repository,
        since=since,
        until=until,
        user=user,
        path=path,
        operation=operation,
        refused=refused,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    user: str | Unset = UNSET,
    path: str | Unset = UNSET,
    operation: str | Unset = UNSET,
    refused: bool | Unset = UNSET,
) -> Error | File | None:
    """Read the access history of a repository.

     A row for each read, write, list and refusal: who, how the user signed in, from where, what, bytes
    and status. The columns are in docs/audit.md. A server writes its rows to the bucket every minute;
    this operation writes the waiting rows of the asked server first. Needs `audit:ReadEvents`. The
    server must record the history (`history.enabled`).

    Args:
        repository (str):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        user (str | Unset):
        path (str | Unset):
        operation (str | Unset):
        refused (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | File
    """

    return sync_detailed(
        repository=repository,
        client=client,
        since=since,
        until=until,
        user=user,
        path=path,
        operation=operation,
        refused=refused,
    ).parsed


async def asyncio_detailed(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    user: str | Unset = UNSET,
    path: str | Unset = UNSET,
    operation: str | Unset = UNSET,
    refused: bool | Unset = UNSET,
) -> Response[Error | File]:
    """Read the access history of a repository.

     A row for each read, write, list and refusal: who, how the user signed in, from where, what, bytes
    and status. The columns are in docs/audit.md. A server writes its rows to the bucket every minute;
    this operation writes the waiting rows of the asked server first. Needs `audit:ReadEvents`. The
    server must record the history (`history.enabled`).

    Args:
        repository (str):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        user (str | Unset):
        path (str | Unset):
        operation (str | Unset):
        refused (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | File]
    """

    kwargs = _get_kwargs(
        repository=repository,
        since=since,
        until=until,
        user=user,
        path=path,
        operation=operation,
        refused=refused,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    *,
    client: AuthenticatedClient | Client,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    user: str | Unset = UNSET,
    path: str | Unset = UNSET,
    operation: str | Unset = UNSET,
    refused: bool | Unset = UNSET,
) -> Error | File | None:
    """Read the access history of a repository.

     A row for each read, write, list and refusal: who, how the user signed in, from where, what, bytes
    and status. The columns are in docs/audit.md. A server writes its rows to the bucket every minute;
    this operation writes the waiting rows of the asked server first. Needs `audit:ReadEvents`. The
    server must record the history (`history.enabled`).

    Args:
        repository (str):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        user (str | Unset):
        path (str | Unset):
        operation (str | Unset):
        refused (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | File
    """

    return (
        await asyncio_detailed(
            repository=repository,
            client=client,
            since=since,
            until=until,
            user=user,
            path=path,
            operation=operation,
            refused=refused,
        )
    ).parsed
