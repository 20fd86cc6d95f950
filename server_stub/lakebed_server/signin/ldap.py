"""Sign-in with a user name and a password that a directory (LDAP) checks."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import urlsplit

from lakebed_engine.stores.kv.base import KVStore

from lakebed_server.access.permissions import Permissions
from lakebed_server.auth.authenticate import Authenticator
from lakebed_server.auth.sessions import SignInClient
from lakebed_server.auth.tokens import Token
from lakebed_server.outbound import is_loopback
from lakebed_server.settings.auth import LdapSettings
from lakebed_server.signin import identity
from lakebed_server.signin.identity import GroupRules, Identity
from lakebed_server.signin.ldap_client import DirectoryError, Entry, LdapClient, escape
from lakebed_server.vocabulary import RequestError, SettingError

log = logging.getLogger("lakebed.server")

ISSUER: Final = "ldap"
THREADS: Final = 8
MOST: Final = 64
"""Sign-ins at the same time. More are refused."""
LONGEST: Final = 256
"""The largest number of characters of a user name and a password."""
MOST_GROUPS: Final = 1000


class PasswordSignIn:
    """Sign-in with LDAP. A wrong password slows down the next ones, as a wrong secret of an access key does."""

    def __init__(
        self, settings: LdapSettings, kv: KVStore, authenticator: Authenticator, permissions: Permissions
    ) -> None:
        check(settings)
        self._settings = settings
        self._client = LdapClient(settings)
        self._kv = kv
        self._authenticator = authenticator
        self._permissions = permissions
        self._threads = ThreadPoolExecutor(THREADS, "ldap")
        self._running: set[tuple[str, str]] = set()

    async def sign_in(self, name: str, password: str, client: SignInClient) -> Token:
        """A token for a user of the directory. Raises RequestError (401, 409, 429, 503)."""
        guesses, attempt = self._authenticator.guesses, (client.address, name)
        guesses.check(*attempt)
        if attempt in self._running or len(self._running) >= MOST:
            # the next guess waits for the result of this one, so that many at the same time are not free
            raise RequestError(
                "throttled", "another sign-in of this user runs now: try again", ((b"retry-after", b"1"),)
            )
        self._running.add(attempt)
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._threads, self._identify, name, password)
        except DirectoryError as error:
            log.error("sign-in: %s", error)
            raise RequestError("store_unavailable", "the directory (LDAP) does not answer: try again later") from None
        finally:
            self._running.discard(attempt)
        if found is None:
            guesses.failed(*attempt)
            raise RequestError("unauthenticated", "the user name or the password is wrong")
        guesses.passed(*attempt)
        now = int(time.time())
        user = await identity.resolve(self._kv, found, self._rules(), now)
        self._permissions.forget()
        return await self._authenticator.sign_in(user, "ldap", now, client)

    def _identify(self, name: str, password: str) -> Identity | None:
        """The user of this name and password. An empty password would be an anonymous bind, which succeeds."""
        if not (0 < len(name) <= LONGEST and 0 < len(password) <= LONGEST) or "\0" in name + password:
            return None
        settings = self._settings
        matching = f"(&{settings.user_filter}({settings.username_attribute}={escape(name)}))"
        wanted = (
            settings.username_attribute,
            settings.subject_attribute,
            settings.name_attribute,
            settings.email_attribute,
        )
        entries = self._client.search(settings.user_base_dn, matching, [one for one in wanted if one], 2)
        if len(entries) > 1:
            log.warning("sign-in: several entries have one user name: auth.ldap.user_filter must select one")
        if len(entries) != 1 or not self._client.has_password(entries[0].dn, password):
            return None
        return self._identity(entries[0])

    def _identity(self, entry: Entry) -> Identity:
        settings = self._settings
        subject = entry.first(settings.subject_attribute)
        if not subject:
            raise DirectoryError(f"{entry.dn!r} has no {settings.subject_attribute} (auth.ldap.subject_attribute)")
        return Identity(
            issuer=ISSUER,
            subject=subject,
            id=entry.first(settings.username_attribute),
            name=entry.first(settings.name_attribute)[:256],
            email=entry.first(settings.email_attribute)[:256],
            groups=self._groups(entry.dn),
        )

    def _groups(self, dn: str) -> tuple[str, ...] | None:
        settings = self._settings
        if not settings.group_base_dn:
            return None
        matching = settings.group_filter.replace("{dn}", escape(dn))
        found = self._client.search(settings.group_base_dn, matching, [settings.group_attribute], MOST_GROUPS)
        return identity.mapped(settings.groups_map, [entry.first(settings.group_attribute) for entry in found])

    def _rules(self) -> GroupRules:
        return identity.rules(self._settings.groups_sync, self._settings.default_groups)


def check(settings: LdapSettings) -> None:
    """Raise SettingError for settings that would send passwords in clear text, or search nothing."""
    if not settings.user_base_dn:
        raise SettingError("auth.ldap.server needs auth.ldap.user_base_dn, below which users are")
    if not settings.server.startswith(("ldap://", "ldaps://")):
        raise SettingError("auth.ldap.server must begin with ldaps:// or ldap://")
    is_clear = settings.server.startswith("ldap://") and not settings.start_tls
    if is_clear and not is_loopback(urlsplit(settings.server).hostname or ""):
        raise SettingError("auth.ldap.server is without TLS: use ldaps://, or set auth.ldap.start_tls to true")
