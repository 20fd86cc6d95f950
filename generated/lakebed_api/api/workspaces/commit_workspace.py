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
    from ...models.commit import Commit
    from ...models.error import Error
    from ...models.workspace_commit import WorkspaceCommit


def _get_kwargs(
    repository: str,
    workspace: str,
    *,
    body: WorkspaceCommit,
    conflicts_amount: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["conflicts_amount"] = conflicts_amount

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/workspaces/{workspace}/commit".format(
            repository=quote(str(repository), safe=""),
            workspace=quote(str(workspace), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Commit | Error | None:
    from ...models.commit import Commit
    from ...models.error import Error

    if response.status_code == 201:
        response_201 = Commit.from_dict(response.json())

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

    if response.status_code == 412:
        response_412 = Error.from_dict(response.json())

        return response_412

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Commit | Error]:
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
    body: WorkspaceCommit,
    conflicts_amount: int | Unset = UNSET,
) -> Response[Commit | Error]:
    """Commit a workspace, or a part of it, to its branch.

     Atomic: all changes become one commit on the current head of the branch, or nothing changes. The
    error lists conflicts: `concurrent_commit` if newer commits of the branch changed the same paths,
    `dirty_overlap` if the branch has uncommitted changes of the same paths. Committing everything
    closes the workspace. After a partial commit, the workspace stays open with the remaining changes,
    based on the new commit.

    Args:
        repository (str):
        workspace (str):
        conflicts_amount (int | Unset):
        body (WorkspaceCommit): How to commit a workspace.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Commit | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        workspace=workspace,
        body=body,
        conflicts_amount=conflicts_amount,
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
    body: WorkspaceCommit,
    conflicts_amount: int | Unset = UNSET,
) -> Commit | Error | None:
    """Commit a workspace, or a part of it, to its branch.

     Atomic: all changes become one commit on the current head of the branch, or nothing changes. The
    error lists conflicts: `concurrent_commit` if newer commits of the branch changed the same paths,
    `dirty_overlap` if the branch has uncommitted changes of the same paths. Committing everything
    closes the workspace. After a partial commit, the workspace stays open with the remaining changes,
    based on the new commit.

    Args:
        repository (str):
        workspace (str):
        conflicts_amount (int | Unset):
        body (WorkspaceCommit): How to commit a workspace.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Commit | Error
    """

    return sync_detailed(
        repository=repository,
        workspace=workspace,
        client=client,
        body=body,
        conflicts_amount=conflicts_amount,
    ).parsed


async def asyncio_detailed(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    body: WorkspaceCommit,
    conflicts_amount: int | Unset = UNSET,
) -> Response[Commit | Error]:
    """Commit a workspace, or a part of it, to its branch.

     Atomic: all changes become one commit on the current head of the branch, or nothing changes. The
    error lists conflicts: `concurrent_commit` if newer commits of the branch changed the same paths,
    `dirty_overlap` if the branch has uncommitted changes of the same paths. Committing everything
    closes the workspace. After a partial commit, the workspace stays open with the remaining changes,
    based on the new commit.

    Args:
        repository (str):
        workspace (str):
        conflicts_amount (int | Unset):
        body (WorkspaceCommit): How to commit a workspace.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Commit | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        workspace=workspace,
        body=body,
        conflicts_amount=conflicts_amount,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    body: WorkspaceCommit,
    conflicts_amount: int | Unset = UNSET,
) -> Commit | Error | None:
    """Commit a workspace, or a part of it, to its branch.

     Atomic: all changes become one commit on the current head of the branch, or nothing changes. The
    error lists conflicts: `concurrent_commit` if newer commits of the branch changed the same paths,
    `dirty_overlap` if the branch has uncommitted changes of the same paths. Committing everything
    closes the workspace. After a partial commit, the workspace stays open with the remaining changes,
    based on the new commit.

    Args:
        repository (str):
        workspace (str):
        conflicts_amount (int | Unset):
        body (WorkspaceCommit): How to commit a workspace.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Commit | Error
    """

    return (
        await asyncio_detailed(
            repository=repository,
            workspace=workspace,
            client=client,
            body=body,
            conflicts_amount=conflicts_amount,
        )
    ).parsed
