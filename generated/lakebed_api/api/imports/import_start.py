# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ... import errors
from ...types import Response

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error
    from ...models.import_creation import ImportCreation
    from ...models.import_creation_response import ImportCreationResponse


def _get_kwargs(
    repository: str,
    branch: str,
    *,
    body: ImportCreation,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/branches/{branch}/import".format(
            repository=quote(str(repository), safe=""),
            branch=quote(str(branch), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Error | ImportCreationResponse | None:
    from ...models.error import Error
    from ...models.import_creation_response import ImportCreationResponse

    if response.status_code == 202:
        response_202 = ImportCreationResponse.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Error | ImportCreationResponse]:
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
    body: ImportCreation,
) -> Response[Error | ImportCreationResponse]:
    """Import objects of another store without copying them.

     Each source must be below a prefix of the server's setting `ingest.allow`, and outside the namespace
    of every repository. A source of type `common_prefix` replaces all objects of the branch below its
    destination. The import creates one commit, or none if nothing changed. The server responds
    immediately. Poll `importStatus` for the progress.

    Args:
        repository (str):
        branch (str):
        body (ImportCreation): What to import.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | ImportCreationResponse]
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
    body: ImportCreation,
) -> Error | ImportCreationResponse | None:
    """Import objects of another store without copying them.

     Each source must be below a prefix of the server's setting `ingest.allow`, and outside the namespace
    of every repository. A source of type `common_prefix` replaces all objects of the branch below its
    destination. The import creates one commit, or none if nothing changed. The server responds
    immediately. Poll `importStatus` for the progress.

    Args:
        repository (str):
        branch (str):
        body (ImportCreation): What to import.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | ImportCreationResponse
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
    body: ImportCreation,
) -> Response[Error | ImportCreationResponse]:
    """Import objects of another store without copying them.

     Each source must be below a prefix of the server's setting `ingest.allow`, and outside the namespace
    of every repository. A source of type `common_prefix` replaces all objects of the branch below its
    destination. The import creates one commit, or none if nothing changed. The server responds
    immediately. Poll `importStatus` for the progress.

    Args:
        repository (str):
        branch (str):
        body (ImportCreation): What to import.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | ImportCreationResponse]
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
    body: ImportCreation,
) -> Error | ImportCreationResponse | None:
    """Import objects of another store without copying them.

     Each source must be below a prefix of the server's setting `ingest.allow`, and outside the namespace
    of every repository. A source of type `common_prefix` replaces all objects of the branch below its
    destination. The import creates one commit, or none if nothing changed. The server responds
    immediately. Poll `importStatus` for the progress.

    Args:
        repository (str):
        branch (str):
        body (ImportCreation): What to import.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | ImportCreationResponse
    """

    return (
        await asyncio_detailed(
            repository=repository,
            branch=branch,
            client=client,
            body=body,
        )
    ).parsed
