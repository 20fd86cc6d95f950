# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ... import errors
from ...types import UNSET, Response

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error
    from ...models.object_stage_creation import ObjectStageCreation
    from ...models.object_stats import ObjectStats


def _get_kwargs(
    repository: str,
    branch: str,
    *,
    body: ObjectStageCreation,
    path: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["path"] = path

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/repositories/{repository}/branches/{branch}/objects".format(
            repository=quote(str(repository), safe=""),
            branch=quote(str(branch), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | ObjectStats | None:
    from ...models.error import Error
    from ...models.object_stats import ObjectStats

    if response.status_code == 201:
        response_201 = ObjectStats.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | ObjectStats]:
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
    body: ObjectStageCreation,
    path: str,
) -> Response[Error | ObjectStats]:
    """Add an object that is already in a store.

     Works like `linkPhysicalAddress`. Use `linkPhysicalAddress` instead. An address in another store
    must be below a prefix of the server's setting `ingest.allow`. An address in the namespace of the
    repository must have been issued for this path.

    Args:
        repository (str):
        branch (str):
        path (str):
        body (ObjectStageCreation): An object that already exists in a store.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | ObjectStats]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        body=body,
        path=path,
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
    body: ObjectStageCreation,
    path: str,
) -> Error | ObjectStats | None:
    """Add an object that is already in a store.

     Works like `linkPhysicalAddress`. Use `linkPhysicalAddress` instead. An address in another store
    must be below a prefix of the server's setting `ingest.allow`. An address in the namespace of the
    repository must have been issued for this path.

    Args:
        repository (str):
        branch (str):
        path (str):
        body (ObjectStageCreation): An object that already exists in a store.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | ObjectStats
    """

    return sync_detailed(
        repository=repository,
        branch=branch,
        client=client,
        body=body,
        path=path,
    ).parsed


async def asyncio_detailed(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: ObjectStageCreation,
    path: str,
) -> Response[Error | ObjectStats]:
    """Add an object that is already in a store.

     Works like `linkPhysicalAddress`. Use `linkPhysicalAddress` instead. An address in another store
    must be below a prefix of the server's setting `ingest.allow`. An address in the namespace of the
    repository must have been issued for this path.

    Args:
        repository (str):
        branch (str):
        path (str):
        body (ObjectStageCreation): An object that already exists in a store.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | ObjectStats]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        body=body,
        path=path,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: ObjectStageCreation,
    path: str,
) -> Error | ObjectStats | None:
    """Add an object that is already in a store.

     Works like `linkPhysicalAddress`. Use `linkPhysicalAddress` instead. An address in another store
    must be below a prefix of the server's setting `ingest.allow`. An address in the namespace of the
    repository must have been issued for this path.

    Args:
        repository (str):
        branch (str):
        path (str):
        body (ObjectStageCreation): An object that already exists in a store.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | ObjectStats
    """

    return (
        await asyncio_detailed(
            repository=repository,
            branch=branch,
            client=client,
            body=body,
            path=path,
        )
    ).parsed
