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
    from ...models.read_table_format import ReadTableFormat
    from ...models.table_page import TablePage


def _get_kwargs(
    repository: str,
    ref: str,
    *,
    path: str,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    order: str | Unset = UNSET,
    descending: bool | Unset = UNSET,
    format_: ReadTableFormat | Unset = UNSET,
    statistics: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["path"] = path

    params["offset"] = offset

    params["limit"] = limit

    json_columns: list[str] | Unset = UNSET
    if not isinstance(columns, Unset):
        json_columns = columns

    params["columns"] = json_columns

    params["order"] = order

    params["descending"] = descending

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_.value

    params["format"] = json_format_

    params["statistics"] = statistics

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/refs/{ref}/objects/table".format(
            repository=quote(str(repository), safe=""),
            ref=quote(str(ref), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | TablePage | None:
    from ...models.error import Error
    from ...models.table_page import TablePage

    if response.status_code == 200:
        response_200 = TablePage.from_dict(response.json())

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

    if response.status_code == 410:
        response_410 = Error.from_dict(response.json())

        return response_410

    if response.status_code == 413:
        response_413 = Error.from_dict(response.json())

        return response_413

    if response.status_code == 422:
        response_422 = Error.from_dict(response.json())

        return response_422

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | TablePage]:
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
    path: str,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    order: str | Unset = UNSET,
    descending: bool | Unset = UNSET,
    format_: ReadTableFormat | Unset = UNSET,
    statistics: bool | Unset = UNSET,
) -> Response[Error | TablePage]:
    """Read rows of a table.

     A table is one object (Parquet, CSV, JSON lines or Arrow), or, if the path ends with `/`, all files
    of one format below it. For a Delta table, the server reads the files of the newest version. It
    ignores names that begin with `_` or `.`, and reads directories `name=value` as columns. The server
    limits the bytes and the time of a request. The response is 413 if a read exceeds a limit. From a
    CSV or JSON file that exceeds the limit, the server returns the first rows, and `complete` is false.
    Lakebed only.

    Args:
        repository (str):
        ref (str):
        path (str):
        offset (int | Unset):
        limit (int | Unset):
        columns (list[str] | Unset):
        order (str | Unset):
        descending (bool | Unset):
        format_ (ReadTableFormat | Unset):
        statistics (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | TablePage]
    """

    kwargs = _get_kwargs(
        repository=repository,
        ref=ref,
        path=path,
        offset=offset,
        limit=limit,
        columns=columns,
        order=order,
        descending=descending,
        format_=format_,
        statistics=statistics,
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
    path: str,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    order: str | Unset = UNSET,
    descending: bool | Unset = UNSET,
    format_: ReadTableFormat | Unset = UNSET,
    statistics: bool | Unset = UNSET,
) -> Error | TablePage | None:
    """Read rows of a table.

     A table is one object (Parquet, CSV, JSON lines or Arrow), or, if the path ends with `/`, all files
    of one format below it. For a Delta table, the server reads the files of the newest version. It
    ignores names that begin with `_` or `.`, and reads directories `name=value` as columns. The server
    limits the bytes and the time of a request. The response is 413 if a read exceeds a limit. From a
    CSV or JSON file that exceeds the limit, the server returns the first rows, and `complete` is false.
    Lakebed only.

    Args:
        repository (str):
        ref (str):
        path (str):
        offset (int | Unset):
        limit (int | Unset):
        columns (list[str] | Unset):
        order (str | Unset):
        descending (bool | Unset):
        format_ (ReadTableFormat | Unset):
        statistics (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | TablePage
    """

    return sync_detailed(
        repository=repository,
        ref=ref,
        client=client,
        path=path,
        offset=offset,
        limit=limit,
        columns=columns,
        order=order,
        descending=descending,
        format_=format_,
        statistics=statistics,
    ).parsed


async def asyncio_detailed(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    order: str | Unset = UNSET,
    descending: bool | Unset = UNSET,
    format_: ReadTableFormat | Unset = UNSET,
    statistics: bool | Unset = UNSET,
) -> Response[Error | TablePage]:
    """Read rows of a table.

     A table is one object (Parquet, CSV, JSON lines or Arrow), or, if the path ends with `/`, all files
    of one format below it. For a Delta table, the server reads the files of the newest version. It
    ignores names that begin with `_` or `.`, and reads directories `name=value` as columns. The server
    limits the bytes and the time of a request. The response is 413 if a read exceeds a limit. From a
    CSV or JSON file that exceeds the limit, the server returns the first rows, and `complete` is false.
    Lakebed only.

    Args:
        repository (str):
        ref (str):
        path (str):
        offset (int | Unset):
        limit (int | Unset):
        columns (list[str] | Unset):
        order (str | Unset):
        descending (bool | Unset):
        format_ (ReadTableFormat | Unset):
        statistics (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | TablePage]
    """

    kwargs = _get_kwargs(
        repository=repository,
        ref=ref,
        path=path,
        offset=offset,
        limit=limit,
        columns=columns,
        order=order,
        descending=descending,
        format_=format_,
        statistics=statistics,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    order: str | Unset = UNSET,
    descending: bool | Unset = UNSET,
    format_: ReadTableFormat | Unset = UNSET,
    statistics: bool | Unset = UNSET,
) -> Error | TablePage | None:
    """Read rows of a table.

     A table is one object (Parquet, CSV, JSON lines or Arrow), or, if the path ends with `/`, all files
    of one format below it. For a Delta table, the server reads the files of the newest version. It
    ignores names that begin with `_` or `.`, and reads directories `name=value` as columns. The server
    limits the bytes and the time of a request. The response is 413 if a read exceeds a limit. From a
    CSV or JSON file that exceeds the limit, the server returns the first rows, and `complete` is false.
    Lakebed only.

    Args:
        repository (str):
        ref (str):
        path (str):
        offset (int | Unset):
        limit (int | Unset):
        columns (list[str] | Unset):
        order (str | Unset):
        descending (bool | Unset):
        format_ (ReadTableFormat | Unset):
        statistics (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | TablePage
    """

    return (
        await asyncio_detailed(
            repository=repository,
            ref=ref,
            client=client,
            path=path,
            offset=offset,
            limit=limit,
            columns=columns,
            order=order,
            descending=descending,
            format_=format_,
            statistics=statistics,
        )
    ).parsed
