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
    from ...models.ingest_page import IngestPage
    from ...models.ingest_request import IngestRequest


def _get_kwargs(
    repository: str,
    workspace: str,
    *,
    body: IngestRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/workspaces/{workspace}/ingest".format(
            repository=quote(str(repository), safe=""),
            workspace=quote(str(workspace), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | IngestPage | None:
    from ...models.error import Error
    from ...models.ingest_page import IngestPage

    if response.status_code == 200:
        response_200 = IngestPage.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | IngestPage]:
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
    body: IngestRequest,
) -> Response[Error | IngestPage]:
    """Add objects of another store to a workspace without copying them.

     Processes one page: compares the objects below `source` with the paths of the workspace below
    `prefix`, in path order after `after`, and adds the differences as one layer. Repeat with
    `next_offset` while `has_more` is true, then commit the workspace. Repeating a page changes nothing.
    The server reads only prefixes of its setting `ingest.allow`.

    Args:
        repository (str):
        workspace (str):
        body (IngestRequest): Objects of another store, and the folder where they appear.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | IngestPage]
    """

    kwargs = _get_kwargs(
        repository=repository,
        workspace=workspace,
        body=body,
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
    body: IngestRequest,
) -> Error | IngestPage | None:
    """Add objects of another store to a workspace without copying them.

     Processes one page: compares the objects below `source` with the paths of the workspace below
    `prefix`, in path order after `after`, and adds the differences as one layer. Repeat with
    `next_offset` while `has_more` is true, then commit the workspace. Repeating a page changes nothing.
    The server reads only prefixes of its setting `ingest.allow`.

    Args:
        repository (str):
        workspace (str):
        body (IngestRequest): Objects of another store, and the folder where they appear.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | IngestPage
    """

    return sync_detailed(
        repository=repository,
        workspace=workspace,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    body: IngestRequest,
) -> Response[Error | IngestPage]:
    """Add objects of another store to a workspace without copying them.

     Processes one page: compares the objects below `source` with the paths of the workspace below
    `prefix`, in path order after `after`, and adds the differences as one layer. Repeat with
    `next_offset` while `has_more` is true, then commit the workspace. Repeating a page changes nothing.
    The server reads only prefixes of its setting `ingest.allow`.

    Args:
        repository (str):
        workspace (str):
        body (IngestRequest): Objects of another store, and the folder where they appear.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | IngestPage]
    """

    kwargs = _get_kwargs(
        repository=repository,
        workspace=workspace,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    workspace: str,
    *,
    client: AuthenticatedClient | Client,
    body: IngestRequest,
) -> Error | IngestPage | None:
    """Add objects of another store to a workspace without copying them.

     Processes one page: compares the objects below `source` with the paths of the workspace below
    `prefix`, in path order after `after`, and adds the differences as one layer. Repeat with
    `next_offset` while `has_more` is true, then commit the workspace. Repeating a page changes nothing.
    The server reads only prefixes of its setting `ingest.allow`.

    Args:
        repository (str):
        workspace (str):
        body (IngestRequest): Objects of another store, and the folder where they appear.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | IngestPage
    """

    return (
        await asyncio_detailed(
            repository=repository,
            workspace=workspace,
            client=client,
            body=body,
        )
    ).parsed
