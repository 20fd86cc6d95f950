"""The request of a sign-in, which the browser takes to the provider in a URL (the binding HTTP-Redirect)."""

from __future__ import annotations

import base64
import zlib
from datetime import datetime
from urllib.parse import urlencode
from xml.sax.saxutils import escape, quoteattr

from lakebed_server.signin.saml.document import NAMESPACES
from lakebed_server.signin.saml.metadata import POST, IdentityProvider, ServiceProvider


def url(provider: IdentityProvider, service: ServiceProvider, id: str, now: datetime) -> str:
    """The address of the provider for a sign-in. `id` comes back in the answer."""
    wanted = f"Format={quoteattr(service.name_id_format)} " if service.name_id_format else ""
    request = (
        f'<samlp:AuthnRequest xmlns:samlp="{NAMESPACES["samlp"]}" ID={quoteattr(id)} Version="2.0" '
        f'IssueInstant="{now:%Y-%m-%dT%H:%M:%SZ}" Destination={quoteattr(provider.sso_url)} '
        f'ProtocolBinding="{POST}" AssertionConsumerServiceURL={quoteattr(service.acs_url)}>'
        f'<saml:Issuer xmlns:saml="{NAMESPACES["saml"]}">{escape(service.entity_id)}</saml:Issuer>'
        f'<samlp:NameIDPolicy {wanted}AllowCreate="true"/></samlp:AuthnRequest>'
    )
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    body = deflater.compress(request.encode()) + deflater.flush()
    query = urlencode({"SAMLRequest": base64.b64encode(body).decode()})
    return f"{provider.sso_url}{'&' if '?' in provider.sso_url else '?'}{query}"
