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
    from ...models.merge import Merge
    from ...models.task import Task


def _get_kwargs(
    repository: str,
    source_ref: str,
    destination_branch: str,
    *,
    body: Merge | Unset = UNSET,
    wait: int | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["wait"] = wait

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/refs/{source_ref}/merge/{destination_branch}/async".format(
            repository=quote(str(repository), safe=""),
            source_ref=quote(str(source_ref), safe=""),
            destination_branch=quote(str(destination_branch), safe=""),
        ),
        "params": params,
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Task | None:
    from ...models.error import Error
    from ...models.task import Task

    if response.status_code == 202:
        response_202 = Task.from_dict(response.json())

        return response_202

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Task]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    source_ref: str,
    destination_branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: Merge | Unset = UNSET,
    wait: int | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Error | Task]:
    """Merge a reference into a branch as a task.

     Works like `commitAsync`. The error contains only the first conflicts. `mergeIntoBranch` lists all
    of them. Lakebed only.

    Args:
        repository (str):
        source_ref (str):
        destination_branch (str):
        wait (int | Unset):
        idempotency_key (str | Unset):
        body (Merge | Unset): How to merge.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Task]
    """

    kwargs = _get_kwargs(
        repository=repository,
        source_ref=source_ref,
        destination_branch=destination_branch,
        body=body,
        wait=wait,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    source_ref: str,
    destination_branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: Merge | Unset = UNSET,
    wait: int | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Error | Task | None:
    """Merge a reference into a branch as a task.

     Works like `commitAsync`. The error contains only the first conflicts. `mergeIntoBranch` lists all
    of them. Lakebed only.

    Args:
        repository (str):
        source_ref (str):
        destination_branch (str):
        wait (int | Unset):
        idempotency_key (str | Unset):
        body (Merge | Unset): How to merge.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Task
    """

    return sync_detailed(
        repository=repository,
        source_ref=source_ref,
        destination_branch=destination_branch,
        client=client,
        body=body,
        wait=wait,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    repository: str,
    source_ref: str,
    destination_branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: Merge | Unset = UNSET,
    wait: int | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Error | Task]:
    """Merge a reference into a branch as a task.

     Works like `commitAsync`. The error contains only the first conflicts. `mergeIntoBranch` lists all
    of them. Lakebed only.

    Args:
        repository (str):
        source_ref (str):
        destination_branch (str):
        wait (int | Unset):
        idempotency_key (str | Unset):
        body (Merge | Unset): How to merge.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Task]
    """

    kwargs = _get_kwargs(
        repository=repository,
        source_ref=source_ref,
        destination_branch=destination_branch,
        body=body,
        wait=wait,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    source_ref: str,
    destination_branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: Merge | Unset = UNSET,
    wait: int | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Error | Task | None:
    """Merge a reference into a branch as a task.

     Works like `commitAsync`. The error contains only the first conflicts. `mergeIntoBranch` lists all
    of them. Lakebed only.

    Args:
        repository (str):
        source_ref (str):
        destination_branch (str):
        wait (int | Unset):
        idempotency_key (str | Unset):
        body (Merge | Unset): How to merge.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Task
    """

    return (
        await asyncio_detailed(
            repository=repository,
            source_ref=source_ref,
            destination_branch=destination_branch,
            client=client,
            body=body,
            wait=wait,
            idempotency_key=idempotency_key,
        )
    ).parsed
