"""A SAML identity provider in a thread: pysaml2, which signs with the program xmlsec1 of Debian.

It signs in everybody without a question, as the person in `name_id` and `attributes`. `change` can alter a response
before it is signed, and `sign` can sign it in another way. The library is imported at its first use: it takes long.
"""

from __future__ import annotations

import base64
import html
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.certificates import Pair, make_pair
from tests.support.services.debian import program

URI_NAMES = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256"
PASSWORD = {"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password", "authn_auth": "https://idp.example"}

Response = Any


class SamlProvider:
    """The provider. `sign` takes a response and returns its text, signed."""

    def __init__(self, address: str, directory: Path) -> None:
        self.address = address
        self.directory = directory
        self.pair = rsa_pair(directory, "provider")
        self.name_id = "ana"
        self.name_id_format = PERSISTENT
        self.attributes: dict[str, list[str]] = {"displayName": ["Ana"], "mail": ["ana@example.com"]}
        self.change: Callable[[Response], None] = lambda response: None
        self.sign: Callable[[Response], str] = self.sign_assertion
        self.description = ""
        self.service = ""
        self._server: Any = None

    def trust(self, endpoint: str) -> None:
        """Read the metadata of a server, and describe this provider. The server reads the description later."""
        self.service = httpx.get(f"{endpoint}/saml/metadata").raise_for_status().text
        self.renew(self.pair)

    def renew(self, pair: Pair) -> None:
        """Sign with another key from now on, and describe it."""
        self.pair = pair
        configuration = {
            "entityid": f"{self.address}/metadata",
            "key_file": str(pair.key),
            "cert_file": str(pair.certificate),
            "xmlsec_binary": program("xmlsec1", "xmlsec1"),
            "service": {
                "idp": {
                    "endpoints": {"single_sign_on_service": [(f"{self.address}/sso?a=1", REDIRECT)]},
                    "policy": {
                        "default": {"lifetime": {"minutes": 5}, "attribute_restrictions": None, "name_form": URI_NAMES}
                    },
                }
            },
            "metadata": {"inline": [self.service]},
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the library's use of older names
            from saml2.config import IdPConfig
            from saml2.metadata import create_metadata_string
            from saml2.server import Server

        self._server = Server(config=IdPConfig().load(configuration))
        self.description = create_metadata_string(None, config=self._server.config).decode()

    def answer(self, address: str) -> dict[str, str]:
        """The fields of the form that a browser posts to the server after it opened this address. `to`: where."""
        from saml2.saml import NameID

        query = dict(parse_qsl(urlsplit(address).query))
        request = self._server.parse_authn_request(query["SAMLRequest"], REDIRECT).message
        wanted = self._server.response_args(request)
        response = self._server.create_authn_response(
            self.attributes,
            wanted["in_response_to"],
            wanted["destination"],
            wanted["sp_entity_id"],
            name_id=NameID(text=self.name_id, format=self.name_id_format),
            authn=PASSWORD,
            sign_response=False,
            sign_assertion=False,
        )
        self.change(response)
        return {"to": wanted["destination"], "SAMLResponse": encoded(self.sign(response))}

    def sign_assertion(self, response: Response, algorithm: str = RSA_SHA256, digest: str = SHA256) -> str:
        """Sign the assertion, as the metadata of the server asks for."""
        return self._signed(response, [response.assertion], algorithm, digest)

    def sign_response(self, response: Response) -> str:
        """Sign the whole response."""
        return self._signed(response, [response], RSA_SHA256, SHA256)

    def sign_both(self, response: Response) -> str:
        """Sign the assertion, and the response around it."""
        return self._signed(response, [response.assertion, response], RSA_SHA256, SHA256)

    def _signed(self, response: Response, parts: list[Any], algorithm: str, digest: str) -> str:
        from saml2 import class_name
        from saml2.sigver import pre_signature_part, signed_instance_factory

        security = self._server.sec
        for number, part in enumerate(parts):
            part.signature = pre_signature_part(
                part.id, security.my_cert, number + 1, sign_alg=algorithm, digest_alg=digest
            )
        return str(signed_instance_factory(response, security, [(class_name(one), one.id) for one in parts]))


def encoded(text: str | bytes) -> str:
    """A document as a field of a form."""
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def rsa_pair(directory: Path, name: str) -> Pair:
    """A new certificate with an RSA key, which most providers have."""
    return make_pair(directory, name, key=rsa.generate_private_key(public_exponent=65537, key_size=2048))


@contextmanager
def running_saml_provider(directory: Path) -> Iterator[SamlProvider]:
    """Run the provider in a thread. It must `trust` a server before it signs anybody in."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            is_metadata = urlsplit(self.path).path == "/metadata"
            body = provider.description if is_metadata else form_of(provider.answer(self.path))
            self.send_response(200)
            self.send_header("content-type", "text/xml" if is_metadata else "text/html")
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # another site than 127.0.0.1 to a browser, as real providers are
    provider = SamlProvider(f"http://localhost:{server.server_port}", directory)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def form_of(fields: dict[str, str]) -> str:
    """The page that brings the answer to the server. A browser submits the form by itself."""
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{html.escape(value)}">'
        for name, value in fields.items()
        if name != "to"
    )
    action = html.escape(fields["to"])
    form = f'<form method="post" action="{action}">{hidden}</form>'
    return f'<link rel="icon" href="data:,"><body onload="document.forms[0].submit()">{form}</body>'
