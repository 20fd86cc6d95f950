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
    from ...models.task import Task


def _get_kwargs(
    repository: str,
    task_id: str,
    *,
    wait: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["wait"] = wait

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/tasks/{task_id}".format(
            repository=quote(str(repository), safe=""),
            task_id=quote(str(task_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Task | None:
    from ...models.error import Error
    from ...models.task import Task

    if response.status_code == 200:
        response_200 = Task.from_dict(response.json())

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

    if response.status_code == 503:
        response_503 = Error.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Task]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    task_id: str,
    *,
    client: AuthenticatedClient | Client,
    wait: int | Unset = UNSET,
) -> Response[Error | Task]:
    """Report the progress of a task.

     The server keeps the status for seven days. If the task fails, `completed` is true and `error` is
    set. Lakebed only.

    Args:
        repository (str):
        task_id (str):
        wait (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Task]
    """

    kwargs = _get_kwargs(
        repository=repository,
        task_id=task_id,
        wait=wait,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    task_id: str,
    *,
    client: AuthenticatedClient | Client,
    wait: int | Unset = UNSET,
) -> Error | Task | None:
    """Report the progress of a task.

     The server keeps the status for seven days. If the task fails, `completed` is true and `error` is
    set. Lakebed only.

    Args:
        repository (str):
        task_id (str):
        wait (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Task
    """

    return sync_detailed(
        repository=repository,
        task_id=task_id,
        client=client,
        wait=wait,
    ).parsed


async def asyncio_detailed(
    repository: str,
    task_id: str,
    *,
    client: AuthenticatedClient | Client,
    wait: int | Unset = UNSET,
) -> Response[Error | Task]:
    """Report the progress of a task.

     The server keeps the status for seven days. If the task fails, `completed` is true and `error` is
    set. Lakebed only.

    Args:
        repository (str):
        task_id (str):
        wait (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Task]
    """

    kwargs = _get_kwargs(
        repository=repository,
        task_id=task_id,
        wait=wait,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    task_id: str,
    *,
    client: AuthenticatedClient | Client,
    wait: int | Unset = UNSET,
) -> Error | Task | None:
    """Report the progress of a task.

     The server keeps the status for seven days. If the task fails, `completed` is true and `error` is
    set. Lakebed only.

    Args:
        repository (str):
        task_id (str):
        wait (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Task
    """

    return (
        await asyncio_detailed(
            repository=repository,
            task_id=task_id,
            client=client,
            wait=wait,
        )
    ).parsed
