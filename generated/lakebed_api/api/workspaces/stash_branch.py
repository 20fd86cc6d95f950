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
    from ...models.stash_creation import StashCreation
    from ...models.workspace import Workspace


def _get_kwargs(
    repository: str,
    branch: str,
    *,
    body: StashCreation | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/branches/{branch}/stash".format(
            repository=quote(str(repository), safe=""),
            branch=quote(str(branch), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Workspace | None:
    from ...models.error import Error
    from ...models.workspace import Workspace

    if response.status_code == 201:
        response_201 = Workspace.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Workspace]:
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
    body: StashCreation | Unset = UNSET,
) -> Response[Error | Workspace]:
    """Move the uncommitted changes of a branch into a new workspace.

     The branch then has no uncommitted changes. No data is copied.

    Args:
        repository (str):
        branch (str):
        body (StashCreation | Unset): The workspace to create from the changes of a branch.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Workspace]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        body=body,
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
    body: StashCreation | Unset = UNSET,
) -> Error | Workspace | None:
    """Move the uncommitted changes of a branch into a new workspace.

     The branch then has no uncommitted changes. No data is copied.

    Args:
        repository (str):
        branch (str):
        body (StashCreation | Unset): The workspace to create from the changes of a branch.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Workspace
    """

    return sync_detailed(
        repository=repository,
        branch=branch,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: StashCreation | Unset = UNSET,
) -> Response[Error | Workspace]:
    """Move the uncommitted changes of a branch into a new workspace.

     The branch then has no uncommitted changes. No data is copied.

    Args:
        repository (str):
        branch (str):
        body (StashCreation | Unset): The workspace to create from the changes of a branch.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Workspace]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: StashCreation | Unset = UNSET,
) -> Error | Workspace | None:
    """Move the uncommitted changes of a branch into a new workspace.

     The branch then has no uncommitted changes. No data is copied.

    Args:
        repository (str):
        branch (str):
        body (StashCreation | Unset): The workspace to create from the changes of a branch.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Workspace
    """

    return (
        await asyncio_detailed(
            repository=repository,
            branch=branch,
            client=client,
            body=body,
        )
    ).parsed
