"""What a connection to the server is trusted by: certificates over TLS, and a warning where there is no TLS."""

from __future__ import annotations

import os
import ssl
import warnings
from urllib.parse import urlsplit

from lakebed._checks import caller_level
from lakebed._settings.config import Settings, is_loopback
from lakebed.errors import ConfigurationError


class ClearTextWarning(UserWarning):
    """Credentials are sent to another machine without TLS: everybody on the way can read them."""

    __module__ = "lakebed"


_warned: set[str] = set()


def ssl_context(settings: Settings) -> ssl.SSLContext | None:
    """What certificates are checked with: public certificates, and those of `ca_file`. None without TLS.

    Raises ConfigurationError for a file that holds no certificates.
    """
    if not settings.endpoint.startswith("https:"):
        return None  # loading certificates costs 20 ms
    context = public_certificates()
    if settings.ca_file:
        source = settings.sources.get("ca_file", "argument")
        try:
            context.load_verify_locations(settings.ca_file)
        except OSError as error:  # an SSLError is one
            raise ConfigurationError(
                f"cannot read certificates (PEM) from {settings.ca_file} (from {source}): {error}"
            ) from None
    return context


def public_certificates() -> ssl.SSLContext:
    """The certificates of SSL_CERT_FILE and SSL_CERT_DIR, or those of certifi."""
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or folder:
        return ssl.create_default_context(cafile=file, capath=folder)
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


def warn_of_clear_text(settings: Settings) -> None:
    """Warn (ClearTextWarning) of a key that is sent to another machine without TLS: once for each endpoint."""
    endpoint = settings.endpoint
    if endpoint in _warned or not endpoint.startswith("http:") or is_loopback(urlsplit(endpoint).hostname):
        return
    sent = "token" if settings.token else "access key"
    text = (
        f"the {sent} is sent to {endpoint} without TLS, and others on the network can read it; use https://, or see "
        "docs/deployment.md"
    )
    warnings.warn(text, ClearTextWarning, stacklevel=caller_level())
    _warned.add(endpoint)


def explained(said: str) -> str:
    """The next step after a TLS handshake that failed; empty for other failures."""
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return "; if a private CA signed the certificate, set LAKEBED_CA_FILE to the CA's file (PEM)"
    if "SSL" in said and ("WRONG_VERSION_NUMBER" in said or "record layer failure" in said):
        return "; if the server does not use TLS, write http:// before the endpoint to send keys in clear text"
    return ""
