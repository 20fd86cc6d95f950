"""Builds the sign-ins of the settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lakebed_engine.stores.kv.base import KVStore
from lakebed_format.installation import install_command
from starlette.routing import Route

from lakebed_server.access.permissions import Permissions
from lakebed_server.auth.authenticate import Authenticator
from lakebed_server.http.request import ExchangeCode, IdentifyWorkload, PasswordCheck, Services
from lakebed_server.settings.auth import AuthSettings
from lakebed_server.signin import oidc_pages
from lakebed_server.signin.browser import BrowserSignIn
from lakebed_server.signin.ldap import PasswordSignIn
from lakebed_server.signin.oidc import OidcSignIn
from lakebed_server.signin.oidc_pages import OidcPages
from lakebed_server.signin.workloads import Workloads
from lakebed_server.vocabulary import SettingError, StartError

Pages = Callable[[Services], list[Route]]


class SignIns(NamedTuple):
    """The sign-ins of a server, as far as the settings have them. `login_path`: where a browser begins."""

    login_path: str = ""
    pages: Pages | None = None
    exchange_code: ExchangeCode | None = None
    check_password: PasswordCheck | None = None
    identify_workload: IdentifyWorkload | None = None


def build(
    settings: AuthSettings, kv: KVStore, authenticator: Authenticator, permissions: Permissions | None
) -> SignIns:
    """The sign-ins of these settings: none without `permissions`. Raises StartError."""
    if permissions is None:
        return SignIns()
    found = SignIns()
    if settings.oidc.issuer and settings.saml.idp_metadata:
        raise SettingError("auth.oidc.issuer and auth.saml.idp_metadata are set: browsers sign in with one of them")
    if settings.oidc.issuer:
        browser = BrowserSignIn("oidc", kv, authenticator, permissions)
        found = _oidc(settings, browser)
    elif settings.saml.idp_metadata:
        browser = BrowserSignIn("saml", kv, authenticator, permissions)
        found = _saml(settings, browser)
    if settings.ldap.server:
        password = PasswordSignIn(settings.ldap, kv, authenticator, permissions)
        found = found._replace(check_password=password.sign_in)
    if settings.workloads.rules:
        found = found._replace(
            identify_workload=Workloads(settings.workloads, permissions, authenticator.guesses).identify
        )
    return found


def _oidc(settings: AuthSettings, browser: BrowserSignIn) -> SignIns:
    sign_in = OidcSignIn(settings.oidc, browser)
    return SignIns(oidc_pages.LOGIN, lambda services: OidcPages(services, sign_in).routes(), browser.exchange)


def _saml(settings: AuthSettings, browser: BrowserSignIn) -> SignIns:
    try:
        from lakebed_server.signin.saml import pages
        from lakebed_server.signin.saml.sign_in import SamlSignIn
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("lxml", "signxml"):
            raise
        raise StartError(f"auth.saml needs signxml; run: {install_command('saml')}") from None
    sign_in = SamlSignIn(settings.saml, browser)
    return SignIns(pages.LOGIN, lambda services: pages.SamlPages(services, sign_in).routes(), browser.exchange)
