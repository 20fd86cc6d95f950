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


def _get_kwargs(
    repository: str,
    branch: str,
    *,
    path: str,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    params: dict[str, Any] = {}

    params["path"] = path

    params["force"] = force

    params["no_tombstone"] = no_tombstone

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/repositories/{repository}/branches/{branch}/objects".format(
            repository=quote(str(repository), safe=""),
            branch=quote(str(branch), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
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

    if response.status_code == 404:
        response_404 = Error.from_dict(response.json())

        return response_404

    if response.status_code == 409:
        response_409 = Error.from_dict(response.json())

        return response_409

    if response.status_code == 412:
        response_412 = Error.from_dict(response.json())

        return response_412

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Any | Error]:
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
    path: str,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[Any | Error]:
    """Delete an object.

     The response is also 204 if no object exists at the path, unless If-Match is set.

    Args:
        repository (str):
        branch (str):
        path (str):
        force (bool | Unset):
        no_tombstone (bool | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        path=path,
        force=force,
        no_tombstone=no_tombstone,
        if_match=if_match,
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
    path: str,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Any | Error | None:
    """Delete an object.

     The response is also 204 if no object exists at the path, unless If-Match is set.

    Args:
        repository (str):
        branch (str):
        path (str):
        force (bool | Unset):
        no_tombstone (bool | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
    """

    return sync_detailed(
        repository=repository,
        branch=branch,
        client=client,
        path=path,
        force=force,
        no_tombstone=no_tombstone,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[Any | Error]:
    """Delete an object.

     The response is also 204 if no object exists at the path, unless If-Match is set.

    Args:
        repository (str):
        branch (str):
        path (str):
        force (bool | Unset):
        no_tombstone (bool | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        path=path,
        force=force,
        no_tombstone=no_tombstone,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Any | Error | None:
    """Delete an object.

     The response is also 204 if no object exists at the path, unless If-Match is set.

    Args:
        repository (str):
        branch (str):
        path (str):
        force (bool | Unset):
        no_tombstone (bool | Unset):
        if_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
    """

    return (
        await asyncio_detailed(
            repository=repository,
            branch=branch,
            client=client,
            path=path,
            force=force,
            no_tombstone=no_tombstone,
            if_match=if_match,
        )
    ).parsed
