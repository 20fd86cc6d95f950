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
    from ...models.workspace_scan import WorkspaceScan


def _get_kwargs(
    repository: str,
    workspace: str,
    *,
    force: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["force"] = force

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/workspaces/{workspace}/scan".format(
            repository=quote(str(repository), safe=""),
            workspace=quote(str(workspace), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | WorkspaceScan | None:
    from ...models.error import Error
    from ...models.workspace_scan import WorkspaceScan

    if response.status_code == 200:
        response_200 = WorkspaceScan.from_dict(response.json())

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
) -> Response[Error | WorkspaceScan]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    force: bool | Unset = UNSET,
) -> Response[Error | WorkspaceScan]:
    """Register objects that other tools wrote below the prefix of a workspace.

     The server registers objects that are new or changed since the last scan, and deletes paths whose
    objects are missing. In a local directory, it refuses and reports symbolic links, and files of other
    accounts that have several hard links. The request can be repeated or interrupted safely.

    Args:
        repository (str):
        workspace (str):
        force (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | WorkspaceScan]
    """

    kwargs = _get_kwargs(
        repository=repository,
        workspace=workspace,
        force=force,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    force: bool | Unset = UNSET,
) -> Error | WorkspaceScan | None:
    """Register objects that other tools wrote below the prefix of a workspace.

     The server registers objects that are new or changed since the last scan, and deletes paths whose
    objects are missing. In a local directory, it refuses and reports symbolic links, and files of other
    accounts that have several hard links. The request can be repeated or interrupted safely.

    Args:
        repository (str):
        workspace (str):
        force (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | WorkspaceScan
    """

    return sync_detailed(
        repository=repository,
        workspace=workspace,
        client=client,
        force=force,
    ).parsed


async def asyncio_detailed(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    force: bool | Unset = UNSET,
) -> Response[Error | WorkspaceScan]:
    """Register objects that other tools wrote below the prefix of a workspace.

     The server registers objects that are new or changed since the last scan, and deletes paths whose
    objects are missing. In a local directory, it refuses and reports symbolic links, and files of other
    accounts that have several hard links. The request can be repeated or interrupted safely.

    Args:
        repository (str):
        workspace (str):
        force (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | WorkspaceScan]
    """

    kwargs = _get_kwargs(
        repository=repository,
        workspace=workspace,
        force=force,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    force: bool | Unset = UNSET,
) -> Error | WorkspaceScan | None:
    """Register objects that other tools wrote below the prefix of a workspace.

     The server registers objects that are new or changed since the last scan, and deletes paths whose
    objects are missing. In a local directory, it refuses and reports symbolic links, and files of other
    accounts that have several hard links. The request can be repeated or interrupted safely.

    Args:
        repository (str):
        workspace (str):
        force (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | WorkspaceScan
    """

    return (
        await asyncio_detailed(
            repository=repository,
            workspace=workspace,
            client=client,
            force=force,
        )
    ).parsed
