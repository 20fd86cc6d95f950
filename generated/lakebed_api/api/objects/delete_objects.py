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
    from ...models.object_error_list import ObjectErrorList
    from ...models.path_list import PathList


def _get_kwargs(
    repository: str,
    branch: str,
    *,
    body: PathList,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["force"] = force

    params["no_tombstone"] = no_tombstone

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/branches/{branch}/objects/delete".format(
            repository=quote(str(repository), safe=""),
            branch=quote(str(branch), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | ObjectErrorList | None:
    from ...models.error import Error
    from ...models.object_error_list import ObjectErrorList

    if response.status_code == 200:
        response_200 = ObjectErrorList.from_dict(response.json())

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
) -> Response[Error | ObjectErrorList]:
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
    body: PathList,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
) -> Response[Error | ObjectErrorList]:
    """Delete up to 1000 objects.

     Not atomic: the server deletes each path separately. The response lists the paths that the server
    could not delete. A path without an object is not an error.

    Args:
        repository (str):
        branch (str):
        force (bool | Unset):
        no_tombstone (bool | Unset):
        body (PathList): Paths to delete.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | ObjectErrorList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        body=body,
        force=force,
        no_tombstone=no_tombstone,
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
    body: PathList,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
) -> Error | ObjectErrorList | None:
    """Delete up to 1000 objects.

     Not atomic: the server deletes each path separately. The response lists the paths that the server
    could not delete. A path without an object is not an error.

    Args:
        repository (str):
        branch (str):
        force (bool | Unset):
        no_tombstone (bool | Unset):
        body (PathList): Paths to delete.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | ObjectErrorList
    """

    return sync_detailed(
        repository=repository,
        branch=branch,
        client=client,
        body=body,
        force=force,
        no_tombstone=no_tombstone,
    ).parsed


async def asyncio_detailed(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: PathList,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
) -> Response[Error | ObjectErrorList]:
    """Delete up to 1000 objects.

     Not atomic: the server deletes each path separately. The response lists the paths that the server
    could not delete. A path without an object is not an error.

    Args:
        repository (str):
        branch (str):
        force (bool | Unset):
        no_tombstone (bool | Unset):
        body (PathList): Paths to delete.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | ObjectErrorList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        body=body,
        force=force,
        no_tombstone=no_tombstone,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: PathList,
    force: bool | Unset = UNSET,
    no_tombstone: bool | Unset = UNSET,
) -> Error | ObjectErrorList | None:
    """Delete up to 1000 objects.

     Not atomic: the server deletes each path separately. The response lists the paths that the server
    could not delete. A path without an object is not an error.

    Args:
        repository (str):
        branch (str):
        force (bool | Unset):
        no_tombstone (bool | Unset):
        body (PathList): Paths to delete.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | ObjectErrorList
    """

    return (
        await asyncio_detailed(
            repository=repository,
            branch=branch,
            client=client,
            body=body,
            force=force,
            no_tombstone=no_tombstone,
        )
    ).parsed
