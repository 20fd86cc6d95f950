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
    from ...models.cherry_pick_creation import CherryPickCreation
    from ...models.commit import Commit
    from ...models.error import Error


def _get_kwargs(
    repository: str,
    branch: str,
    *,
    body: CherryPickCreation,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories/{repository}/branches/{branch}/cherry-pick".format(
            repository=quote(str(repository), safe=""),
            branch=quote(str(branch), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Commit | Error | None:
    from ...models.commit import Commit
    from ...models.error import Error

    if response.status_code == 201:
        response_201 = Commit.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Commit | Error]:
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
    body: CherryPickCreation,
    idempotency_key: str | Unset = UNSET,
) -> Response[Commit | Error]:
    """Apply the changes of a commit to a branch with a new commit.

     The branch must have no uncommitted changes. The new commit has the message and metadata of the
    original commit unless the request overrides them. Inherited metadata also contains the id of the
    original commit (`cherry-pick-origin`) and its committer (`cherry-pick-committer`).

    Args:
        repository (str):
        branch (str):
        idempotency_key (str | Unset):
        body (CherryPickCreation): A commit to apply.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Commit | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        body=body,
        idempotency_key=idempotency_key,
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
    body: CherryPickCreation,
    idempotency_key: str | Unset = UNSET,
) -> Commit | Error | None:
    """Apply the changes of a commit to a branch with a new commit.

     The branch must have no uncommitted changes. The new commit has the message and metadata of the
    original commit unless the request overrides them. Inherited metadata also contains the id of the
    original commit (`cherry-pick-origin`) and its committer (`cherry-pick-committer`).

    Args:
        repository (str):
        branch (str):
        idempotency_key (str | Unset):
        body (CherryPickCreation): A commit to apply.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Commit | Error
    """

    return sync_detailed(
        repository=repository,
        branch=branch,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: CherryPickCreation,
    idempotency_key: str | Unset = UNSET,
) -> Response[Commit | Error]:
    """Apply the changes of a commit to a branch with a new commit.

     The branch must have no uncommitted changes. The new commit has the message and metadata of the
    original commit unless the request overrides them. Inherited metadata also contains the id of the
    original commit (`cherry-pick-origin`) and its committer (`cherry-pick-committer`).

    Args:
        repository (str):
        branch (str):
        idempotency_key (str | Unset):
        body (CherryPickCreation): A commit to apply.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Commit | Error]
    """

    kwargs = _get_kwargs(
        repository=repository,
        branch=branch,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    repository: str,
    branch: str,
    *,
    client: AuthenticatedClient | Client,
    body: CherryPickCreation,
    idempotency_key: str | Unset = UNSET,
) -> Commit | Error | None:
    """Apply the changes of a commit to a branch with a new commit.

     The branch must have no uncommitted changes. The new commit has the message and metadata of the
    original commit unless the request overrides them. Inherited metadata also contains the id of the
    original commit (`cherry-pick-origin`) and its committer (`cherry-pick-committer`).

    Args:
        repository (str):
        branch (str):
        idempotency_key (str | Unset):
        body (CherryPickCreation): A commit to apply.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Commit | Error
    """

    return (
        await asyncio_detailed(
            repository=repository,
            branch=branch,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
