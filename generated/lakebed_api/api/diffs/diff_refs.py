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
    from ...models.diff_list import DiffList
    from ...models.diff_refs_type import DiffRefsType
    from ...models.error import Error


def _get_kwargs(
    repository: str,
    left_ref: str,
    right_ref: str,
    *,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    prefix: str | Unset = UNSET,
    delimiter: str | Unset = UNSET,
    type_: DiffRefsType | Unset = UNSET,
    include_right_stats: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["after"] = after

    params["amount"] = amount

    params["prefix"] = prefix

    params["delimiter"] = delimiter

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_.value

    params["type"] = json_type_

    params["include_right_stats"] = include_right_stats

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/refs/{left_ref}/diff/{right_ref}".format(
            repository=quote(str(repository), safe=""),
            left_ref=quote(str(left_ref), safe=""),
            right_ref=quote(str(right_ref), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> DiffList | Error | None:
    from ...models.diff_list import DiffList
    from ...models.error import Error

    if response.status_code == 200:
        response_200 = DiffList.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[DiffList | Error]:
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
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    prefix: str | Unset = UNSET,
    delimiter: str | Unset = UNSET,
    type_: DiffRefsType | Unset = UNSET,
    include_right_stats: bool | Unset = UNSET,
) -> Response[DiffList | Error]:
    """List the differences between two references.

    Args:
        repository (str):
        left_ref (str):
        right_ref (str):
        after (str | Unset):
        amount (int | Unset):
        prefix (str | Unset):
        delimiter (str | Unset):
        type_ (DiffRefsType | Unset):
        include_right_stats (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DiffList | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        left_ref=left_ref,
        right_ref=right_ref,
        after=after,
        amount=amount,
        prefix=prefix,
        delimiter=delimiter,
        type_=type_,
        include_right_stats=include_right_stats,
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
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    prefix: str | Unset = UNSET,
    delimiter: str | Unset = UNSET,
    type_: DiffRefsType | Unset = UNSET,
    include_right_stats: bool | Unset = UNSET,
) -> DiffList | Error | None:
    """List the differences between two references.

    Args:
        repository (str):
        left_ref (str):
        right_ref (str):
        after (str | Unset):
        amount (int | Unset):
        prefix (str | Unset):
        delimiter (str | Unset):
        type_ (DiffRefsType | Unset):
        include_right_stats (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DiffList | Error
    """

    return sync_detailed(
        repository=repository,
        left_ref=left_ref,
        right_ref=right_ref,
        client=client,
        after=after,
        amount=amount,
        prefix=prefix,
        delimiter=delimiter,
        type_=type_,
        include_right_stats=include_right_stats,
    ).parsed


async def asyncio_detailed(
    repository: str,
    left_ref: str,
    right_ref: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    prefix: str | Unset = UNSET,
    delimiter: str | Unset = UNSET,
    type_: DiffRefsType | Unset = UNSET,
    include_right_stats: bool | Unset = UNSET,
) -> Response[DiffList | Error]:
    """List the differences between two references.

    Args:
        repository (str):
        left_ref (str):
        right_ref (str):
        after (str | Unset):
        amount (int | Unset):
        prefix (str | Unset):
        delimiter (str | Unset):
        type_ (DiffRefsType | Unset):
        include_right_stats (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DiffList | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        left_ref=left_ref,
        right_ref=right_ref,
        after=after,
        amount=amount,
        prefix=prefix,
        delimiter=delimiter,
        type_=type_,
        include_right_stats=include_right_stats,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    left_ref: str,
    right_ref: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    prefix: str | Unset = UNSET,
    delimiter: str | Unset = UNSET,
    type_: DiffRefsType | Unset = UNSET,
    include_right_stats: bool | Unset = UNSET,
) -> DiffList | Error | None:
    """List the differences between two references.

    Args:
        repository (str):
        left_ref (str):
        right_ref (str):
        after (str | Unset):
        amount (int | Unset):
        prefix (str | Unset):
        delimiter (str | Unset):
        type_ (DiffRefsType | Unset):
        include_right_stats (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DiffList | Error
    """

    return (
        await asyncio_detailed(
            repository=repository,
            left_ref=left_ref,
            right_ref=right_ref,
            client=client,
            after=after,
            amount=amount,
            prefix=prefix,
            delimiter=delimiter,
            type_=type_,
            include_right_stats=include_right_stats,
        )
    ).parsed
