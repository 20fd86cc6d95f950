"""Certificates for 127.0.0.1 and localhost, each its own CA, made for one test."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID


class Pair(NamedTuple):
    """The files of a certificate and of its key."""

    certificate: Path
    key: Path

    @property
    def environment(self) -> dict[str, str]:
        """What makes a server use them."""
        return {"LAKEBED_LISTEN_TLS_CERTIFICATE": str(self.certificate), "LAKEBED_LISTEN_TLS_KEY": str(self.key)}


def make_pair(
    directory: Path, name: str, password: str = "", *, key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | None = None
) -> Pair:
    """A new certificate for this machine, signed with its own key: `key`, or one of an elliptic curve.

    With `password`, the file of the key is encrypted.
    """
    key = key or ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    names: list[x509.GeneralName] = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pair = Pair(directory / f"{name}.pem", directory / f"{name}.key")
    pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    cipher: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password:
        cipher = serialization.BestAvailableEncryption(password.encode())
    pair.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, cipher))
    return pair
