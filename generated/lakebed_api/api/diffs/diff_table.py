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
    from ...models.diff_table_change import DiffTableChange
    from ...models.diff_table_format import DiffTableFormat
    from ...models.diff_table_type import DiffTableType
    from ...models.error import Error
    from ...models.table_diff_page import TableDiffPage


def _get_kwargs(
    repository: str,
    left_ref: str,
    right_ref: str,
    *,
    path: str,
    key: list[str],
    change: DiffTableChange | Unset = UNSET,
    type_: DiffTableType | Unset = UNSET,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    format_: DiffTableFormat | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["path"] = path

    json_key = key

    params["key"] = json_key

    json_change: str | Unset = UNSET
    if not isinstance(change, Unset):
        json_change = change.value

    params["change"] = json_change

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_.value

    params["type"] = json_type_

    params["offset"] = offset

    params["limit"] = limit

    json_columns: list[str] | Unset = UNSET
    if not isinstance(columns, Unset):
        json_columns = columns

    params["columns"] = json_columns

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_.value

    params["format"] = json_format_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/refs/{left_ref}/diff/{right_ref}/table".format(
            repository=quote(str(repository), safe=""),
            left_ref=quote(str(left_ref), safe=""),
            right_ref=quote(str(right_ref), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | TableDiffPage | None:
    from ...models.error import Error
    from ...models.table_diff_page import TableDiffPage

    if response.status_code == 200:
        response_200 = TableDiffPage.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Error | TableDiffPage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    left_ref: str,
    right_ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
    key: list[str],
    change: DiffTableChange | Unset = UNSET,
    type_: DiffTableType | Unset = UNSET,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    format_: DiffTableFormat | Unset = UNSET,
) -> Response[Error | TableDiffPage]:
    """List the rows of a table that differ between two references.

     The columns of `key` identify a row. The server reads only the files that differ, within the bounds
    of `readTable`. Changed rows come first, then added and removed ones, each in the order of the key.
    The comparison covers the columns that have the same type in both states. Lakebed only.

    Args:
        repository (str):
        left_ref (str):
        right_ref (str):
        path (str):
        key (list[str]):
        change (DiffTableChange | Unset):
        type_ (DiffTableType | Unset):
        offset (int | Unset):
        limit (int | Unset):
        columns (list[str] | Unset):
        format_ (DiffTableFormat | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | TableDiffPage]
    """

    kwargs = _get_kwargs(
        repository=repository,
        left_ref=left_ref,
        right_ref=right_ref,
        path=path,
        key=key,
        change=change,
        type_=type_,
        offset=offset,
        limit=limit,
        columns=columns,
        format_=format_,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    left_ref: str,
    right_ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
    key: list[str],
    change: DiffTableChange | Unset = UNSET,
    type_: DiffTableType | Unset = UNSET,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    format_: DiffTableFormat | Unset = UNSET,
) -> Error | TableDiffPage | None:
    """List the rows of a table that differ between two references.

     The columns of `key` identify a row. The server reads only the files that differ, within the bounds
    of `readTable`. Changed rows come first, then added and removed ones, each in the order of the key.
    The comparison covers the columns that have the same type in both states. Lakebed only.

    Args:
        repository (str):
        left_ref (str):
        right_ref (str):
        path (str):
        key (list[str]):
        change (DiffTableChange | Unset):
        type_ (DiffTableType | Unset):
        offset (int | Unset):
        limit (int | Unset):
        columns (list[str] | Unset):
        format_ (DiffTableFormat | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | TableDiffPage
    """

    return sync_detailed(
        repository=repository,
        left_ref=left_ref,
        right_ref=right_ref,
        client=client,
        path=path,
        key=key,
        change=change,
        type_=type_,
        offset=offset,
        limit=limit,
        columns=columns,
        format_=format_,
    ).parsed


async def asyncio_detailed(
    repository: str,
    left_ref: str,
    right_ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
    key: list[str],
    change: DiffTableChange | Unset = UNSET,
    type_: DiffTableType | Unset = UNSET,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    format_: DiffTableFormat | Unset = UNSET,
) -> Response[Error | TableDiffPage]:
    """List the rows of a table that differ between two references.

     The columns of `key` identify a row. The server reads only the files that differ, within the bounds
    of `readTable`. Changed rows come first, then added and removed ones, each in the order of the key.
    The comparison covers the columns that have the same type in both states. Lakebed only.

    Args:
        repository (str):
        left_ref (str):
        right_ref (str):
        path (str):
        key (list[str]):
        change (DiffTableChange | Unset):
        type_ (DiffTableType | Unset):
        offset (int | Unset):
        limit (int | Unset):
        columns (list[str] | Unset):
        format_ (DiffTableFormat | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | TableDiffPage]
    """

    kwargs = _get_kwargs(
        repository=repository,
        left_ref=left_ref,
        right_ref=right_ref,
        path=path,
        key=key,
        change=change,
        type_=type_,
        offset=offset,
        limit=limit,
        columns=columns,
        format_=format_,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    left_ref: str,
    right_ref: str,
    *,
    client: AuthenticatedClient | Client,
    path: str,
    key: list[str],
    change: DiffTableChange | Unset = UNSET,
    type_: DiffTableType | Unset = UNSET,
    offset: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    columns: list[str] | Unset = UNSET,
    format_: DiffTableFormat | Unset = UNSET,
) -> Error | TableDiffPage | None:
    """List the rows of a table that differ between two references.

     The columns of `key` identify a row. The server reads only the files that differ, within the bounds
    of `readTable`. Changed rows come first, then added and removed ones, each in the order of the key.
    The comparison covers the columns that have the same type in both states. Lakebed only.

    Args:
        repository (str):
        left_ref (str):
        right_ref (str):
        path (str):
        key (list[str]):
        change (DiffTableChange | Unset):
        type_ (DiffTableType | Unset):
        offset (int | Unset):
        limit (int | Unset):
        columns (list[str] | Unset):
        format_ (DiffTableFormat | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | TableDiffPage
    """

    return (
        await asyncio_detailed(
            repository=repository,
            left_ref=left_ref,
            right_ref=right_ref,
            client=client,
            path=path,
            key=key,
            change=change,
            type_=type_,
            offset=offset,
            limit=limit,
            columns=columns,
            format_=format_,
        )
    ).parsed
