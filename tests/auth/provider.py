"""An OpenID Connect provider of our own in a thread. It checks PKCE and codes, and can send forged tokens."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT = "lakebed"
CLIENT_SECRET = "the secret of the client"
ACCESS_TOKEN = "the token for UserInfo"

Claims = dict[str, Any]


class Provider:
    """The provider. `claims` describe the person who signs in next; `token_of` makes the ID token.

    `user_info`: claims that UserInfo has in addition to the subject.
    """

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.key_id: str | None = "one"
        self.claims: Claims = {"sub": "ana-1", "email": "ana@example.com", "email_verified": True, "name": "Ana"}
        self.token_of: Callable[[Claims], str] = self.signed
        self.metadata: Claims = {}
        self.user_info: Claims = {}
        self.codes: dict[str, Claims] = {}
        self.reads = 0

    def signed(self, claims: Claims, **header: Any) -> str:
        """An honest token."""
        named = {} if self.key_id is None else {"kid": self.key_id}
        return jwt.encode(claims, self.key, "RS256", {**named, **header})

    def describe(self) -> Claims:
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
        }
        return {**found, **self.metadata}

    def jwks(self) -> Claims:
        self.reads += 1
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**key, "use": "sig", **({} if self.key_id is None else {"kid": self.key_id})}]}

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser goes. The person signs in without being asked."""
        assert query["client_id"] == CLIENT
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_hex(8)
        self.codes[code] = dict(query)
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, Claims]:
        asked = self.codes.pop(form.get("code", ""), None)
        pair = base64.b64encode(f"{quote_plus(CLIENT)}:{quote_plus(CLIENT_SECRET)}".encode()).decode()
        if authorization != f"Basic {pair}":
            return 401, {"error": "invalid_client"}
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        return 200, {
            "access_token": ACCESS_TOKEN,
            "token_type": "Bearer",
            "id_token": self.token_of({**claims, **self.claims}),
        }


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Run the provider in a thread."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def answer(self, status: int, body: Any, **headers: str) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/.well-known/openid-configuration":
                self.answer(200, provider.describe())
            elif parts.path == "/jwks":
                self.answer(200, provider.jwks())
            elif parts.path == "/userinfo":
                is_right = self.headers["authorization"] == f"Bearer {ACCESS_TOKEN}"
                self.answer(200 if is_right else 401, {"sub": provider.claims["sub"], **provider.user_info})
            else:
                self.answer(302, {}, location=provider.authorize(query))

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(raw).items()}
            self.answer(*provider.token(form, self.headers.get("authorization", "")))

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
