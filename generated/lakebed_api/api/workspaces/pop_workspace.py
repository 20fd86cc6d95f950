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
    from ...models.workspace_pop import WorkspacePop


def _get_kwargs(
    repository: str,
    workspace: str,
    *,
    body: WorkspacePop | Unset = UNSET,
    force: bool | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["force"] = force

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/workspaces/{workspace}/pop".format(
            repository=quote(str(repository), safe=""),
            workspace=quote(str(workspace), safe=""),
        ),
        "params": params,
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

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
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    body: WorkspacePop | Unset = UNSET,
    force: bool | Unset = UNSET,
) -> Response[Any | Error]:
    """Move the changes of a workspace to a branch, as uncommitted changes.

     Adds all changes to the branch atomically, and closes the workspace.

    Args:
        repository (str):
        workspace (str):
        force (bool | Unset):
        body (WorkspacePop | Unset): The branch that gets the changes.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        workspace=workspace,
        body=body,
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
    body: WorkspacePop | Unset = UNSET,
    force: bool | Unset = UNSET,
) -> Any | Error | None:
    """Move the changes of a workspace to a branch, as uncommitted changes.

     Adds all changes to the branch atomically, and closes the workspace.

    Args:
        repository (str):
        workspace (str):
        force (bool | Unset):
        body (WorkspacePop | Unset): The branch that gets the changes.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
    """

    return sync_detailed(
        repository=repository,
        workspace=workspace,
        client=client,
        body=body,
        force=force,
    ).parsed


async def asyncio_detailed(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    body: WorkspacePop | Unset = UNSET,
    force: bool | Unset = UNSET,
) -> Response[Any | Error]:
    """Move the changes of a workspace to a branch, as uncommitted changes.

     Adds all changes to the branch atomically, and closes the workspace.

    Args:
        repository (str):
        workspace (str):
        force (bool | Unset):
        body (WorkspacePop | Unset): The branch that gets the changes.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        workspace=workspace,
        body=body,
        force=force,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    body: WorkspacePop | Unset = UNSET,
    force: bool | Unset = UNSET,
) -> Any | Error | None:
    """Move the changes of a workspace to a branch, as uncommitted changes.

     Adds all changes to the branch atomically, and closes the workspace.

    Args:
        repository (str):
        workspace (str):
        force (bool | Unset):
        body (WorkspacePop | Unset): The branch that gets the changes.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
    """

    return (
        await asyncio_detailed(
            repository=repository,
            workspace=workspace,
            client=client,
            body=body,
            force=force,
        )
    ).parsed
