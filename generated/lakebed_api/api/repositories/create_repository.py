# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ... import errors
from ...types import UNSET, Response, Unset

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.error import Error
    from ...models.repository import Repository
    from ...models.repository_creation import RepositoryCreation


def _get_kwargs(
    *,
    body: RepositoryCreation,
    bare: bool | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["bare"] = bare

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/repositories",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Repository | None:
    from ...models.error import Error
    from ...models.repository import Repository

    if response.status_code == 201:
        response_201 = Repository.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Repository]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: RepositoryCreation,
    bare: bool | Unset = UNSET,
) -> Response[Error | Repository]:
    """Create a repository.

     Creates the default branch with an initial, empty commit. The server checks the name before the
    namespace. It refuses a namespace that contains another repository. Unless
    `allow_non_empty_namespace` is set, it also refuses a namespace that contains other objects. If the
    storage namespace is absent, the server appends the name of the repository to its namespace prefix,
    and adds a random suffix if that namespace is not empty.

    Args:
        bare (bool | Unset):
        body (RepositoryCreation): A repository to create.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Repository]
    """

    kwargs = _get_kwargs(
        body=body,
        bare=bare,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: RepositoryCreation,
    bare: bool | Unset = UNSET,
) -> Error | Repository | None:
    """Create a repository.

     Creates the default branch with an initial, empty commit. The server checks the name before the
    namespace. It refuses a namespace that contains another repository. Unless
    `allow_non_empty_namespace` is set, it also refuses a namespace that contains other objects. If the
    storage namespace is absent, the server appends the name of the repository to its namespace prefix,
    and adds a random suffix if that namespace is not empty.

    Args:
        bare (bool | Unset):
        body (RepositoryCreation): A repository to create.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Repository
    """

    return sync_detailed(
        client=client,
        body=body,
        bare=bare,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: RepositoryCreation,
    bare: bool | Unset = UNSET,
) -> Response[Error | Repository]:
    """Create a repository.

     Creates the default branch with an initial, empty commit. The server checks the name before the
    namespace. It refuses a namespace that contains another repository. Unless
    `allow_non_empty_namespace` is set, it also refuses a namespace that contains other objects. If the
    storage namespace is absent, the server appends the name of the repository to its namespace prefix,
    and adds a random suffix if that namespace is not empty.

    Args:
        bare (bool | Unset):
        body (RepositoryCreation): A repository to create.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Repository]
    """

    kwargs = _get_kwargs(
        body=body,
        bare=bare,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: RepositoryCreation,
    bare: bool | Unset = UNSET,
) -> Error | Repository | None:
    """Create a repository.

     Creates the default branch with an initial, empty commit. The server checks the name before the
    namespace. It refuses a namespace that contains another repository. Unless
    `allow_non_empty_namespace` is set, it also refuses a namespace that contains other objects. If the
    storage namespace is absent, the server appends the name of the repository to its namespace prefix,
    and adds a random suffix if that namespace is not empty.

    Args:
        bare (bool | Unset):
        body (RepositoryCreation): A repository to create.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Repository
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            bare=bare,
        )
    ).parsed
