"""TLS of the listeners: a certificate and its key from files, read again on SIGHUP."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path

from lakebed_server.settings.listeners import TlsSettings
from lakebed_server.vocabulary import SettingError

log = logging.getLogger("lakebed.server")


class Tls:
    """The context of all listeners. TLS 1.2 or later, HTTP/1.1."""

    def __init__(self, settings: TlsSettings) -> None:
        """Read the files. Raises SettingError, which names the file and what is wrong with it."""
        self._settings = settings
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])
        _load(self.context, settings)

    def reload(self) -> None:
        """Read the files again. New connections get the new certificate. Open ones keep theirs.

        If the files are invalid, nothing changes, and the log reports the error.
        """
        try:
            _load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self._settings)  # a failure would spoil the used one
            _load(self.context, self._settings)
        except SettingError as error:
            log.error("reloading the certificate failed; the old one stays in use: %s", error)
        else:
            log.info("reloaded the certificate %s", self._settings.certificate)


def open_tls(settings: TlsSettings) -> Tls | None:
    """TLS as configured, or None without a certificate. Raises SettingError."""
    if not settings.certificate:
        if settings.key:
            raise SettingError("listen.tls.key is set but listen.tls.certificate is not; give both, or neither")
        return None
    return Tls(settings)


def _load(context: ssl.SSLContext, settings: TlsSettings) -> None:
    certificate = settings.certificate
    key = settings.key or certificate
    _require("listen.tls.certificate", certificate)
    _require("listen.tls.key", key)
    # without this argument, OpenSSL would ask at the terminal
    password = settings.key_password
    try:
        context.load_cert_chain(certificate, key, lambda: password)
    except ssl.SSLError as error:
        raise SettingError(_reason(error, certificate, key)) from None


def _require(name: str, path: str) -> None:
    try:
        Path(path).read_bytes()
    except OSError as error:
        raise SettingError(f"{name}: cannot read {path}: {error.strerror}") from None


def _reason(error: ssl.SSLError, certificate: str, key: str) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"listen.tls.key: {key} is not the key of the certificate {certificate}"
    # OpenSSL reports the same error for a wrong password and for a file without a key or certificate
    return (
        f"listen.tls: expected a certificate in {certificate} and its private key in {key}, both PEM, the key in plain "
        f"or encrypted with listen.tls.key_password: {error.reason or error}"
    )
