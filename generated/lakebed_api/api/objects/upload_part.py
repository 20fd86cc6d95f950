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
    from ...models.upload_part_from import UploadPartFrom
    from ...models.upload_to import UploadTo


def _get_kwargs(
    repository: str,
    branch: str,
    upload_id: str,
    part_number: int,
    *,
    body: UploadPartFrom,
    path: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["path"] = path

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/repositories/{repository}/branches/{branch}/staging/pmpu/{upload_id}/parts/{part_number}".format(
            repository=quote(str(repository), safe=""),
            branch=quote(str(branch), safe=""),
            upload_id=quote(str(upload_id), safe=""),
            part_number=quote(str(part_number), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | UploadTo | None:
    from ...models.error import Error
    from ...models.upload_to import UploadTo

    if response.status_code == 200:
        response_200 = UploadTo.from_dict(response.json())

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

    if response.status_code == 501:
        response_501 = Error.from_dict(response.json())

        return response_501

    if response.status_code == 503:
        response_503 = Error.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | UploadTo]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    branch: str,
    upload_id: str,
    part_number: int,
    *,
    client: AuthenticatedClient | Client,
    body: UploadPartFrom,
    path: str,
) -> Response[Error | UploadTo]:
    """Return an address where the caller can write one part.

    Args:
        repository (str):
        branch (str):
        upload_id (str):
        part_number (int):
        path (str):
        body (UploadPartFrom): The multipart upload that the part belongs to.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | UploadTo]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        upload_id=upload_id,
        part_number=part_number,
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
    upload_id: str,
    part_number: int,
    *,
    client: AuthenticatedClient | Client,
    body: UploadPartFrom,
    path: str,
) -> Error | UploadTo | None:
    """Return an address where the caller can write one part.

    Args:
        repository (str):
        branch (str):
        upload_id (str):
        part_number (int):
        path (str):
        body (UploadPartFrom): The multipart upload that the part belongs to.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | UploadTo
    """

    return sync_detailed(
        repository=repository,
        branch=branch,
        upload_id=upload_id,
        part_number=part_number,
        client=client,
        body=body,
        path=path,
    ).parsed


async def asyncio_detailed(
    repository: str,
    branch: str,
    upload_id: str,
    part_number: int,
    *,
    client: AuthenticatedClient | Client,
    body: UploadPartFrom,
    path: str,
) -> Response[Error | UploadTo]:
    """Return an address where the caller can write one part.

    Args:
        repository (str):
        branch (str):
        upload_id (str):
        part_number (int):
        path (str):
        body (UploadPartFrom): The multipart upload that the part belongs to.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | UploadTo]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        upload_id=upload_id,
        part_number=part_number,
        body=body,
        path=path,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    branch: str,
    upload_id: str,
    part_number: int,
    *,
    client: AuthenticatedClient | Client,
    body: UploadPartFrom,
    path: str,
) -> Error | UploadTo | None:
    """Return an address where the caller can write one part.

    Args:
        repository (str):
        branch (str):
        upload_id (str):
        part_number (int):
        path (str):
        body (UploadPartFrom): The multipart upload that the part belongs to.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | UploadTo
    """

    return (
        await asyncio_detailed(
            repository=repository,
            branch=branch,
            upload_id=upload_id,
            part_number=part_number,
            client=client,
            body=body,
            path=path,
        )
    ).parsed
