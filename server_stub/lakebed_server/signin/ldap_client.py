"""Searches and binds of LDAP by the library ldap3. The calls block: `ldap` makes them in threads.

Another library needs these two methods of `LdapClient` and `escape`.
"""

from __future__ import annotations

import math
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

from lakebed_format.installation import install_command

from lakebed_server.settings.auth import LdapSettings
from lakebed_server.vocabulary import StartError

_SUCCESS: Final = 0
_SIZE_LIMIT: Final = 4
_WRONG_PASSWORD: Final = (48, 49, 53)
"""Inappropriate authentication, invalid credentials, and unwilling to perform: for example a locked account."""


class DirectoryError(Exception):
    """The directory did not answer as it should. The message is for the log and for administrators."""


class Entry(NamedTuple):
    """An entry of the directory, with the values of the attributes that were asked for."""

    dn: str
    attributes: Mapping[str, Sequence[bytes]]

    def first(self, attribute: str) -> str:
        """The first value of an attribute, in hexadecimal if it is binary. Empty when there is none."""
        values = self.attributes.get(attribute.lower(), ())
        if not values:
            return ""
        try:
            return values[0].decode()
        except UnicodeDecodeError:
            return values[0].hex()


class LdapClient:
    """A directory server. Raises StartError without ldap3."""

    def __init__(self, settings: LdapSettings) -> None:
        try:
            import ldap3  # type: ignore[import-untyped]
        except ModuleNotFoundError:
            raise StartError(f"auth.ldap needs ldap3; run: {install_command('ldap')}") from None
        self._ldap3 = ldap3
        self._settings = settings
        self._tls = ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=settings.ca_file or None)

    def search(self, base: str, filter: str, attributes: Sequence[str], most: int) -> list[Entry]:
        """At most `most` entries below a DN, read as the service user. Raises DirectoryError."""
        with self._connected(self._settings.bind_dn, self._settings.bind_password) as connection:
            if not connection.bind():
                raise DirectoryError(f"the bind as auth.ldap.bind_dn failed: {connection.result['description']}")
            connection.search(base, filter, attributes=list(attributes), size_limit=most)
            code = connection.result["result"]
            if code not in (_SUCCESS, _SIZE_LIMIT):
                raise DirectoryError(f"the search below {base!r} failed: {connection.result['description']}")
            found = [one for one in connection.response or [] if one["type"] == "searchResEntry"]
            return [Entry(one["dn"], _by_name(one["raw_attributes"])) for one in found]

    def has_password(self, dn: str, password: str) -> bool:
        """Whether a bind with this password succeeds. Raises DirectoryError."""
        with self._connected(dn, password) as connection:
            if connection.bind():
                return True
            if connection.result["result"] in _WRONG_PASSWORD:
                return False
            raise DirectoryError(f"the bind as {dn!r} failed: {connection.result['description']}")

    @contextmanager
    def _connected(self, dn: str, password: str) -> Iterator[Any]:
        ldap3, settings = self._ldap3, self._settings
        # a new object each time, because it remembers failures; without the schema, so that values are bytes
        server = ldap3.Server(
            settings.server, tls=self._tls, get_info=ldap3.NONE, connect_timeout=settings.connect_timeout
        )
        connection = ldap3.Connection(
            server,
            user=dn or None,
            password=password or None,
            authentication=ldap3.SIMPLE if dn else ldap3.ANONYMOUS,
            receive_timeout=math.ceil(settings.timeout),
            auto_referrals=False,  # another server must not receive the password
            read_only=True,
        )
        try:
            connection.open()
            if settings.start_tls:
                connection.start_tls()
            yield connection
        except (ldap3.core.exceptions.LDAPException, OSError) as error:
            raise DirectoryError(f"{settings.server}: {type(error).__name__}: {error}") from None
        finally:
            with suppress(ldap3.core.exceptions.LDAPException, OSError):
                connection.unbind()
            if connection.socket is not None:
                connection.socket.close()


def escape(value: str) -> str:
    """A value in a filter (RFC 4515)."""
    from ldap3.utils.conv import escape_filter_chars  # type: ignore[import-untyped]

    return str(escape_filter_chars(value))


def _by_name(attributes: Mapping[str, Sequence[bytes]]) -> dict[str, Sequence[bytes]]:
    return {name.lower(): values for name, values in attributes.items()}
