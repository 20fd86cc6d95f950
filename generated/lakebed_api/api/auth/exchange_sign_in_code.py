# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ... import errors
from ...types import Response

if TYPE_CHECKING:
    import httpx

    from ...client import AuthenticatedClient, Client
    from ...models.authentication_token import AuthenticationToken
    from ...models.error import Error
    from ...models.sign_in_code import SignInCode


def _get_kwargs(
    *,
    body: SignInCode,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/auth/login/code",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AuthenticationToken | Error | None:
    from ...models.authentication_token import AuthenticationToken
    from ...models.error import Error

    if response.status_code == 200:
        response_200 = AuthenticationToken.from_dict(response.json())

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

    if response.status_code == 507:
        response_507 = Error.from_dict(response.json())

        return response_507

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AuthenticationToken | Error]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SignInCode,
) -> Response[AuthenticationToken | Error]:
    """Exchange the code from a browser sign-in for a token.

     A program opens the page `login_url` of `getSetupState` (`/oidc/login` or `/saml/login`) in a
    browser, with `?challenge=CHALLENGE&port=PORT&state=STATE`. After the sign-in, the server redirects
    the browser to `http://127.0.0.1:PORT/?code=CODE&state=STATE`. If there is no port, the page shows
    the code. The code is valid once, for two minutes, and only with the verifier of the challenge
    (PKCE, S256). These pages are for browsers, and not part of this API: `/oidc/login`,
    `/oidc/callback`, `/saml/metadata`, `/saml/login`, `/saml/acs` (the assertion consumer service),
    `/saml/finish` and `/logout`.

    Args:
        body (SignInCode): The code from a browser sign-in.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuthenticationToken | Error]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: SignInCode,
) -> AuthenticationToken | Error | None:
    """Exchange the code from a browser sign-in for a token.

     A program opens the page `login_url` of `getSetupState` (`/oidc/login` or `/saml/login`) in a
    browser, with `?challenge=CHALLENGE&port=PORT&state=STATE`. After the sign-in, the server redirects
    the browser to `http://127.0.0.1:PORT/?code=CODE&state=STATE`. If there is no port, the page shows
    the code. The code is valid once, for two minutes, and only with the verifier of the challenge
    (PKCE, S256). These pages are for browsers, and not part of this API: `/oidc/login`,
    `/oidc/callback`, `/saml/metadata`, `/saml/login`, `/saml/acs` (the assertion consumer service),
    `/saml/finish` and `/logout`.

    Args:
        body (SignInCode): The code from a browser sign-in.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuthenticationToken | Error
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SignInCode,
) -> Response[AuthenticationToken | Error]:
    """Exchange the code from a browser sign-in for a token.

     A program opens the page `login_url` of `getSetupState` (`/oidc/login` or `/saml/login`) in a
    browser, with `?challenge=CHALLENGE&port=PORT&state=STATE`. After the sign-in, the server redirects
    the browser to `http://127.0.0.1:PORT/?code=CODE&state=STATE`. If there is no port, the page shows
    the code. The code is valid once, for two minutes, and only with the verifier of the challenge
    (PKCE, S256). These pages are for browsers, and not part of this API: `/oidc/login`,
    `/oidc/callback`, `/saml/metadata`, `/saml/login`, `/saml/acs` (the assertion consumer service),
    `/saml/finish` and `/logout`.

    Args:
        body (SignInCode): The code from a browser sign-in.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuthenticationToken | Error]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: SignInCode,
) -> AuthenticationToken | Error | None:
    """Exchange the code from a browser sign-in for a token.

     A program opens the page `login_url` of `getSetupState` (`/oidc/login` or `/saml/login`) in a
    browser, with `?challenge=CHALLENGE&port=PORT&state=STATE`. After the sign-in, the server redirects
    the browser to `http://127.0.0.1:PORT/?code=CODE&state=STATE`. If there is no port, the page shows
    the code. The code is valid once, for two minutes, and only with the verifier of the challenge
    (PKCE, S256). These pages are for browsers, and not part of this API: `/oidc/login`,
    `/oidc/callback`, `/saml/metadata`, `/saml/login`, `/saml/acs` (the assertion consumer service),
    `/saml/finish` and `/logout`.

    Args:
        body (SignInCode): The code from a browser sign-in.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuthenticationToken | Error
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
