"""Presigned URLs of `gs://` and `az://`, by obstore: without tags, and parts only on Azure.

For Azure, obstore 0.12 signs the escaped name, but Azure expects the unescaped name and refuses such a URL (403). So
this module signs no name that a URL must escape.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, cast

from lakebed_engine.stores.objects.cloud.azure_multipart import AzureParts
from lakebed_engine.stores.objects.cloud.client import Client
from lakebed_engine.stores.objects.cloud.errors import store_errors
from lakebed_engine.stores.objects.presign import SignedRequest, ToRead, ToWrite
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.ports import Ids

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore

_AS_IT_STANDS = re.compile(r"[A-Za-z0-9._~=+&()'*:@,;/-]*")
_BLOB = {"x-ms-blob-type": "BlockBlob"}
"""Azure requires the type of a new blob."""


class ObstoreSigner:
    """Signs for one namespace. Sends no request to the store, except to get some kinds of credentials."""

    def __init__(self, client: Client, threads: Threads, ids: Ids) -> None:
        self._client = client
        self._azure = client.place.scheme == "az"
        silence = client.options.silence_seconds
        self.parts = AzureParts(client.place, self._blob, threads, ids, silence) if self._azure else None

    @property
    def any_name(self) -> bool:
        """False for Azure."""
        return not self._azure

    async def takes_tags(self) -> bool:
        """Always False: these URLs cannot contain tags."""
        return False

    async def sign_writes(self, targets: Sequence[ToWrite], seconds: int) -> Sequence[SignedRequest]:
        """One PUT URL for each object. The condition that nothing exists cannot be signed: the client must send it."""
        names = [self._client.place.name(target.key) for target in targets]
        urls = await self._sign("PUT", names, seconds)
        fixed = _BLOB if self._azure else {}
        return [
            SignedRequest(url, fixed | ({"Content-Type": target.content_type} if target.content_type else {}))
            for url, target in zip(urls, targets, strict=True)
        ]

    async def sign_reads(self, targets: Sequence[ToRead], seconds: int) -> Sequence[str]:
        """One GET URL for each object."""
        names = [self._client.place.name(target.key) for target in targets]
        fit = [name for name in names if self.any_name or _AS_IT_STANDS.fullmatch(name)]
        signed = dict(zip(fit, await self._sign("GET", fit, seconds), strict=True))
        return [signed.get(name, "") for name in names]

    async def _blob(self, key: str, seconds: int) -> str:
        return (await self._sign("PUT", [self._client.place.name(key)], seconds))[0]

    async def _sign(self, method: Literal["PUT", "GET"], names: Sequence[str], seconds: int) -> Sequence[str]:
        from obstore import sign_async

        if not names:
            return []
        with store_errors("sign an address in", self._client.place, ""):
            store = cast("AzureStore | GCSStore", self._client.store)
            return await sign_async(store, method, names, timedelta(seconds=seconds))
