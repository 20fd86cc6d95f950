"""ID tokens that a server must refuse, because of their signature."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.auth.provider import Claims, Provider

Forge = Callable[[Provider, Claims], str]


def unsigned(provider: Provider, claims: Claims) -> str:
    return jwt.encode(claims, "", "none", {"kid": provider.key_id})


def signed_with_the_public_key(provider: Provider, claims: Claims) -> str:
    """HS256 with the bytes of the public key, which a careless verifier takes for the secret."""
    pem = provider.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"one"}').rstrip(b"=")
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=")
    mac = base64.urlsafe_b64encode(hmac.digest(pem, header + b"." + body, "sha256")).rstrip(b"=")
    return b".".join((header, body, mac)).decode()


def signed_by_another_key(provider: Provider, claims: Claims) -> str:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return jwt.encode(claims, other, "RS256", {"kid": provider.key_id})
