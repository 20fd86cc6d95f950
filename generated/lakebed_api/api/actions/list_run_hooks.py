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
    from ...models.hook_run_list import HookRunList


def _get_kwargs(
    repository: str,
    run_id: str,
    *,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    skipped: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["after"] = after

    params["amount"] = amount

    params["skipped"] = skipped

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/repositories/{repository}/actions/runs/{run_id}/hooks".format(
            repository=quote(str(repository), safe=""),
            run_id=quote(str(run_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | HookRunList | None:
    from ...models.error import Error
    from ...models.hook_run_list import HookRunList

    if response.status_code == 200:
        response_200 = HookRunList.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | HookRunList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    repository: str,
    run_id: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    skipped: bool | Unset = UNSET,
) -> Response[Error | HookRunList]:
    """List the hooks of a run, in order.

     The list is empty if the run does not exist. Needs `ci:ReadAction`.

    Args:
        repository (str):
        run_id (str):
        after (str | Unset):
        amount (int | Unset):
        skipped (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | HookRunList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        run_id=run_id,
        after=after,
        amount=amount,
        skipped=skipped,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    repository: str,
    run_id: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    skipped: bool | Unset = UNSET,
) -> Error | HookRunList | None:
    """List the hooks of a run, in order.

     The list is empty if the run does not exist. Needs `ci:ReadAction`.

    Args:
        repository (str):
        run_id (str):
        after (str | Unset):
        amount (int | Unset):
        skipped (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | HookRunList
    """

    return sync_detailed(
        repository=repository,
        run_id=run_id,
        client=client,
        after=after,
        amount=amount,
        skipped=skipped,
    ).parsed


async def asyncio_detailed(
    repository: str,
    run_id: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    skipped: bool | Unset = UNSET,
) -> Response[Error | HookRunList]:
    """List the hooks of a run, in order.

     The list is empty if the run does not exist. Needs `ci:ReadAction`.

    Args:
        repository (str):
        run_id (str):
        after (str | Unset):
        amount (int | Unset):
        skipped (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | HookRunList]
    """

    kwargs = _get_kwargs(
        repository=repository,
        run_id=run_id,
        after=after,
        amount=amount,
        skipped=skipped,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    run_id: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    amount: int | Unset = UNSET,
    skipped: bool | Unset = UNSET,
) -> Error | HookRunList | None:
    """List the hooks of a run, in order.

     The list is empty if the run does not exist. Needs `ci:ReadAction`.

    Args:
        repository (str):
        run_id (str):
        after (str | Unset):
        amount (int | Unset):
        skipped (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | HookRunList
    """

    return (
        await asyncio_detailed(
            repository=repository,
            run_id=run_id,
            client=client,
            after=after,
            amount=amount,
            skipped=skipped,
        )
    ).parsed
