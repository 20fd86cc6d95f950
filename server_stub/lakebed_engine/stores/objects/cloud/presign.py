"""Signed addresses of `gs://` and `az://`, by obstore: no tags, and parts on Azure only.

obstore 0.12 signs for Azure the name as the URL spells it, where Azure wants it unspelled: such an address is refused
(403). So no address is given for a name that a URL has to spell otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, cast

from lakebed_engine.stores.objects.cloud.azure_multipart import AzureParts
from lakebed_engine.stores.objects.cloud.client import Client
from lakebed_engine.stores.objects.cloud.errors import store_errors
from lakebed_engine.stores.objects.local.threads import Threads
from lakebed_engine.stores.objects.presign import SignedRequest, ToRead, ToWrite
from lakebed_engine.vocabulary.ports import Ids

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore

_AS_IT_STANDS = re.compile(r"[A-Za-z0-9._~=+&()'*:@,;/-]*")
_BLOB = {"x-ms-blob-type": "BlockBlob"}
"""Azure wants to know what kind of blob it is to make."""


class ObstoreSigner:
    """Signs for one namespace, without asking the store, but for some credentials."""

    def __init__(self, client: Client, threads: Threads, ids: Ids) -> None:
        self._client = client
        self._azure = client.place.scheme == "az"
        silence = client.options.silence_seconds
        self.parts = AzureParts(client.place, self._blob, threads, ids, silence) if self._azure else None

    @property
    def any_name(self) -> bool:
        """Not on Azure."""
        return not self._azure

    async def takes_tags(self) -> bool:
        """No address of these holds tags."""
        return False

    async def sign_writes(self, targets: Sequence[ToWrite], seconds: int) -> Sequence[SignedRequest]:
        """One PUT for each. The condition that nothing is there is the writer's to send: it cannot be signed."""
        names = [self._client.place.name(target.key) for target in targets]
        urls = await self._sign("PUT", names, seconds)
        fixed = _BLOB if self._azure else {}
        return [
            SignedRequest(url, fixed | ({"Content-Type": target.content_type} if target.content_type else {}))
            for url, target in zip(urls, targets, strict=True)
        ]

    async def sign_reads(self, targets: Sequence[ToRead], seconds: int) -> Sequence[str]:
        """GETs."""
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
