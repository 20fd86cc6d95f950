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
    ref: str,
    *,
    body: IngestRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/refs/{ref}/ingest".format(
            repository=quote(str(repository), safe=""),
            ref=quote(str(ref), safe=""),
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
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    body: IngestRequest,
) -> Response[Error | IngestPage]:
    """Show the changes that an ingest would make.

     Returns one page of the comparison with the commit of the reference, and writes nothing. Use
    `base_commit_id` as the reference for the next page, because a branch may move between two pages.

    Args:
        repository (str):
        ref (str):
        body (IngestRequest): Objects of another store, and the folder where they appear.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | IngestPage]
    """

    kwargs = _get_kwargs(
        repository=repository,
        ref=ref,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    body: IngestRequest,
) -> Error | IngestPage | None:
    """Show the changes that an ingest would make.

     Returns one page of the comparison with the commit of the reference, and writes nothing. Use
    `base_commit_id` as the reference for the next page, because a branch may move between two pages.

    Args:
        repository (str):
        ref (str):
        body (IngestRequest): Objects of another store, and the folder where they appear.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | IngestPage
    """

    return sync_detailed(
        repository=repository,
        ref=ref,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    body: IngestRequest,
) -> Response[Error | IngestPage]:
    """Show the changes that an ingest would make.

     Returns one page of the comparison with the commit of the reference, and writes nothing. Use
    `base_commit_id` as the reference for the next page, because a branch may move between two pages.

    Args:
        repository (str):
        ref (str):
        body (IngestRequest): Objects of another store, and the folder where they appear.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | IngestPage]
    """

    kwargs = _get_kwargs(
        repository=repository,
        ref=ref,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    body: IngestRequest,
) -> Error | IngestPage | None:
    """Show the changes that an ingest would make.

     Returns one page of the comparison with the commit of the reference, and writes nothing. Use
    `base_commit_id` as the reference for the next page, because a branch may move between two pages.

    Args:
        repository (str):
        ref (str):
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
            ref=ref,
            client=client,
            body=body,
        )
    ).parsed
