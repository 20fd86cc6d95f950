"""Builds the object stores of a server from settings: the default one and the named ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.stores.objects.disk_cache import DiskCache
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.stores.objects.registry import NamedStore, Stores, cloud_installed
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.observer import Observer
from lakebed_format.installation import install_command

from lakebed_server.http.request import InstalledStore
from lakebed_server.settings.schema import Settings
from lakebed_server.settings.stores import S3Settings, StoreSettings, prefixes
from lakebed_server.vocabulary import SettingError

_ENCRYPTION = {"bucket": "", "sse-s3": "AES256", "sse-kms": "aws:kms"}
"""The words of the settings, and those of S3."""


def build(settings: Settings, *, cached: bool = True, observer: Observer | None = None) -> Stores:
    """The stores. Without `cached`, reads bypass the disk cache. `observer` gets reports of calls.

    Raises SettingError.
    """
    root = Path(settings.objects.local.root) if settings.objects.local.root else None
    disk = settings.cache.disk
    cache = DiskCache(Path(disk.path), disk.limit) if cached and disk.path else None
    return Stores(
        root,
        memory=has_memory(settings),
        cloud=_cloud(settings, settings.objects.s3) if settings.objects.cloud else None,
        cache=cache,
        keep_root=True,
        durable=settings.durability == "disk",
        named={name: _named(settings, name, one) for name, one in settings.stores.items()},
        observer=observer,
    )


def check(settings: Settings) -> None:
    """Read the settings, without a connection. Raises SettingError."""
    stores = build(settings, cached=False)
    try:
        foreign(settings, stores)
    finally:
        stores.close()


def foreign(settings: Settings, stores: Stores) -> Foreign:
    """What may be read outside of the namespaces. Raises SettingError."""
    try:
        named = {name: allowed(one.ingest) for name, one in settings.stores.items()}
        return Foreign(stores.open_foreign, allowed(settings.ingest.allow), named)
    except EngineError as error:
        raise SettingError(f"ingest.allow, or stores.*.ingest: {error.message}") from None


def allowed(text: str) -> list[str]:
    """The URI prefixes of a setting."""
    return [prefix.strip() for prefix in text.split(",") if prefix.strip()]


def has_memory(settings: Settings) -> bool:
    """Whether there are `mem://` namespaces."""
    # with a KV store in memory, users expect objects in memory too
    return settings.objects.memory or settings.kv.type == "memory"


def installed(settings: Settings) -> tuple[InstalledStore, ...]:
    """The named stores, as clients see them."""
    return tuple(
        InstalledStore(
            name,
            one.type,
            one.description,
            (prefixes(one.prefixes) or (_first_namespace(one.type),))[0],
            signs=settings.objects.presign and one.type != "local" and not needs_headers(one),
            imports=tuple(allowed(one.ingest)),
        )
        for name, one in settings.stores.items()
    )


def needs_headers(store: S3Settings) -> bool:
    """Whether a signed PUT must send headers. Other clients of the shared API send none."""
    return bool(_ENCRYPTION[store.encryption] or store.storage_class)


def _of_other_clouds(store: StoreSettings) -> dict[str, Any]:
    return {
        "service_account_file": store.service_account_file,
        "account": store.account,
        "account_key": store.account_key,
        "sas_token": store.sas_token,
        "tenant_id": store.tenant_id,
        "client_id": store.client_id,
        "client_secret": store.client_secret,
        "federated_token_file": store.federated_token_file,
        "authority": store.authority,
    }


def _first_namespace(kind: str) -> str:
    return "local://repos" if kind == "local" else f"{kind}://bucket"


def _named(settings: Settings, name: str, one: StoreSettings) -> NamedStore:
    below = prefixes(one.prefixes)
    if one.type == "local":
        return NamedStore(scheme="local", root=Path(one.root), prefixes=below)
    if not cloud_installed():
        raise SettingError(f"stores.{name}.type {one.type} needs obstore; run: {install_command('s3')}")
    return NamedStore(scheme=one.type, cloud=_cloud(settings, one, name), prefixes=below)


def _cloud(settings: Settings, s3: S3Settings, store_id: str = "") -> CloudOptions:
    section = f"stores.{store_id}" if store_id else "objects.s3"
    if s3.endpoint.startswith("http://") and not s3.allow_http:
        raise SettingError(f"{section}.endpoint does not use TLS: use https://, or set {section}.allow_http to true")
    return CloudOptions(
        store_id=store_id,
        endpoint=s3.endpoint,
        region=s3.region,
        access_key_id=s3.access_key_id,
        secret_access_key=s3.secret_access_key,
        session_token=s3.session_token,
        profile=s3.profile,
        credentials_file=s3.credentials_file,
        allow_http=s3.allow_http,
        virtual_hosted=s3.virtual_hosted,
        role_arn=s3.role_arn,
        external_id=s3.external_id,
        role_session_name=s3.role_session_name,
        web_identity_token_file=s3.web_identity_token_file,
        sts_endpoint=s3.sts_endpoint,
        encryption=_ENCRYPTION[s3.encryption],
        kms_key=s3.kms_key,
        storage_class=s3.storage_class,
        requester_pays=s3.requester_pays,
        **(_of_other_clouds(s3) if isinstance(s3, StoreSettings) else {}),
        tags=settings.objects.tags,
        retry_seconds=settings.objects.retry,
        silence_seconds=settings.objects.silence,
    )
