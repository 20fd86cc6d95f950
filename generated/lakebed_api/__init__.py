# generated from openapi.yaml by `make generate` - do not edit
"""A client library for accessing Lakebed API"""

from .client import AuthenticatedClient, Client

__all__ = (
    "AuthenticatedClient",
    "Client",
)
