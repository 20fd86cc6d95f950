"""Builds the parts of a server from settings."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import KVStore
from lakebed_engine.stores.kv.overlay import ObservedKV
from lakebed_engine.stores.objects.registry import Stores, cloud_installed
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.events import Flush
from lakebed_engine.vocabulary.observer import SILENT, Observer
from lakebed_engine.vocabulary.ports import Runtime
from lakebed_format.installation import install_command

from lakebed_server.access import opening
from lakebed_server.access.directory import Directory
from lakebed_server.access.permissions import Permissions
from lakebed_server.access.rights_log import RightsLog
from lakebed_server.access_history.recorder import Recorder
from lakebed_server.auth.authenticate import Authenticator
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.key_file import ensure_admin, key_ring, new_secret
from lakebed_server.auth.records import Credential
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.hooks.gate import Hooks
from lakebed_server.hooks.sources import files_of_server
from lakebed_server.http.read_ahead import Memory
from lakebed_server.http.request import Installation, Services
from lakebed_server.http.spool import Spool
from lakebed_server.network.clients import read_proxies
from lakebed_server.process import data_directory, object_stores
from lakebed_server.settings.schema import HistorySettings, PostgresSettings, Settings
from lakebed_server.signin import opening as signin
from lakebed_server.signin.opening import Pages
from lakebed_server.tables.pool import TablePool
from lakebed_server.vocabulary import SettingError, StartError


@dataclass(frozen=True, slots=True)
class Components:
    """The components of a running server. `first_admin` is set when this start made the admin's access key."""

    kv: KVStore
    stores: Stores
    engine: Engine
    services: Services
    first_admin: Credential | None
    sign_in_pages: Pages | None = None
    recorder: asyncio.Task[None] | None = None
    hooks: Hooks | None = None

    async def close(self) -> None:
        """Record the last uses of access keys, stop the engine, then close the stores."""
        if self.recorder is not None:
            self.recorder.cancel()
            await self.services.authenticator.uses.write(self.kv)
            await self.services.authenticator.usage.write(self.kv)
        if self.hooks is not None:
            await self.hooks.close()
        await self.services.tables.close()
        await self.engine.close()
        await self.kv.close()
        self.stores.close()


async def build(settings: Settings, runtime: Runtime | None = None, observer: Observer | None = None) -> Components:
    """Open the stores and build all components. Raises StartError with one clear sentence.

    A given `runtime` belongs to the caller. Without one, the engine has its own. `observer` gets reports of the work of
    the engine and its stores.
    """
    data_directory.prepare(settings)
    kv = _open_kv(settings) if observer is None else ObservedKV(_open_kv(settings), observer)
    stores = object_stores.build(settings, observer=observer)
    try:
        ring = await key_ring(settings, kv)
        store = CredentialStore(kv, ring)
        first_admin = await ensure_admin(settings, store)
        directory = Directory(kv)
        await opening.prepare(kv, directory, settings.auth.mode, int(time.time()))
        secret, _ = await store.current()
        engine = _engine(settings, kv, stores, runtime, secret.derive("physical addresses"), observer or SILENT)
        hooks = _hooks(settings, engine)
    except BaseException as error:
        await kv.close()
        stores.close()
        if isinstance(error, EngineError):
            raise StartError(f"cannot open the store: {error.message}") from error
        raise
    authenticator = Authenticator(store, settings.auth.login_duration, settings.auth.session_limit)
    permissions = Permissions(directory) if settings.auth.mode == "rbac" else None
    sign_ins = signin.build(settings.auth, kv, authenticator, permissions)
    services = Services(
        engine,
        authenticator,
        _installation(settings, stores),
        Spool(settings.limits.temporary_disk),
        Memory(settings.limits.read_ahead),
        read_proxies(settings.listen.trusted_proxies),
        permissions,
        exchange_code=sign_ins.exchange_code,
        check_password=sign_ins.check_password,
        identify_workload=sign_ins.identify_workload,
        history=await _recorder(engine, settings.history),
        login_path=sign_ins.login_path,
        tables=TablePool(settings.tables),
        rights_log=RightsLog(kv),
        hooks=hooks,
        slow_request=settings.logging.slow_request,
    )
    recorder = asyncio.create_task(
        authenticator.uses.run(kv, authenticator.usage.write), name="last uses of access keys"
    )
    return Components(kv, stores, engine, services, first_admin, sign_ins.pages, recorder, hooks)


def _hooks(settings: Settings, engine: Engine) -> Hooks | None:
    if not settings.hooks.enabled:
        return None
    hooks = Hooks(engine, settings.hooks, files_of_server(settings.hooks.actions))
    engine.hooks.use(hooks)
    return hooks


async def _recorder(engine: Engine, settings: HistorySettings) -> Recorder | None:
    if not settings.enabled:
        return None
    try:
        if settings.server_namespace:
            await engine.access_history.claim(settings.server_namespace)
    except EngineError as error:
        raise SettingError(f"history.server_namespace: {error.message}") from None
    return Recorder(engine, settings.server_namespace)


def _installation(settings: Settings, stores: Stores) -> Installation:
    return Installation(
        version=version(),
        default_namespace_prefix=_namespace_prefix(settings, stores),
        local=bool(settings.objects.local.root),
        memory=object_stores.has_memory(settings),
        cloud=settings.objects.cloud and cloud_installed(),
        presign=settings.objects.presign,
        presign_seconds=int(settings.objects.presign_expiry),
        share=settings.objects.local.share,
        imports=tuple(object_stores.allowed(settings.ingest.allow)),
        stores=object_stores.installed(settings),
        signed_headers=object_stores.needs_headers(settings.objects.s3),
    )


def _namespace_prefix(settings: Settings, stores: Stores) -> str:
    """Where repositories without a namespace go. Empty: clients have to name a namespace."""
    prefix = settings.objects.default_namespace_prefix.rstrip("/")
    if not prefix and settings.objects.local.root:
        return "local://repos"
    if not prefix:
        return "mem://repos" if object_stores.has_memory(settings) else ""
    try:
        stores.open(prefix)
    except EngineError as error:
        raise SettingError(f"objects.default_namespace_prefix: {error.message}") from None
    return prefix


@contextlib.asynccontextmanager
async def open_engine(settings: Settings, absent: Literal["refuse", "make", "pretend"]) -> AsyncIterator[Engine]:
    """The engine with its stores, for a command that works without a server. Raises StartError.

    `absent` selects what to do without a database. `pretend` uses an empty one in memory. Reads bypass the disk cache.
    """
    exists = _database_exists(settings)
    if not exists and absent == "refuse":
        raise _no_database(settings)
    if absent == "make":
        data_directory.prepare(settings)
    pretend = not exists and absent == "pretend"
    kv = _memory_kv() if pretend else _open_kv(settings)
    stores = object_stores.build(settings, cached=False)
    engine = _engine(settings, kv, stores)
    try:
        yield engine
    finally:
        await engine.close()
        await kv.close()
        stores.close()


@contextlib.asynccontextmanager
async def open_kv(settings: Settings) -> AsyncIterator[KVStore]:
    """The KV store of a server that was started before. Raises StartError."""
    if not _database_exists(settings):
        raise _no_database(settings)
    kv = _open_kv(settings)
    try:
        yield kv
    finally:
        await kv.close()


def build_engine(settings: Settings, kv: KVStore, stores: Stores) -> Engine:
    """An engine over these stores, not started. The caller closes it. Raises StartError."""
    return _engine(settings, kv, stores)


def check_sign_in(settings: Settings) -> None:
    """Read the settings of the sign-ins, without a connection. Raises StartError."""
    kv = _memory_kv()
    ring = KeyRing([SecretKey(new_secret())])
    authenticator = Authenticator(CredentialStore(kv, ring), settings.auth.login_duration, settings.auth.session_limit)
    permissions = Permissions(Directory(kv)) if settings.auth.mode == "rbac" else None
    signin.build(settings.auth, kv, authenticator, permissions)


def network_file_system(directory: Path) -> str:
    """The type of the network file system that a directory, or its nearest existing parent, is on. Empty for others."""
    from lakebed_engine.stores.kv.sqlite import file

    return file.network_file_system(next(one for one in (directory, *directory.parents) if one.exists()))


def _database_exists(settings: Settings) -> bool:
    if settings.kv.type == "memory":
        raise StartError("kv.type is memory: only the server process has that store, so there is nothing to open")
    return settings.kv.type != "sqlite" or os.path.isfile(settings.kv.sqlite.path)


def _no_database(settings: Settings) -> StartError:
    return StartError(f"there is no database {settings.kv.sqlite.path}: give the server's own --data-dir or --config")


def _engine(
    settings: Settings,
    kv: KVStore,
    stores: Stores,
    runtime: Runtime | None = None,
    address_key: bytes = b"",
    observer: Observer = SILENT,
) -> Engine:
    return Engine(
        kv,
        stores,
        cache_bytes=settings.cache.memory,
        cleanup_grace=settings.cleanup.grace,
        snapshot_always=settings.refs.snapshot == "always",
        snapshots_kept=settings.refs.keep,
        foreign=object_stores.foreign(settings, stores),
        runtime=runtime,
        address_key=address_key,
        upload_age=settings.cleanup.upload_age,
        flush=Flush(settings.events.flush_age, settings.events.flush_rows, settings.events.flush_bytes),
        observer=observer,
        directory_marks=settings.gateway.s3.directory_marks == "keep",
    )


@functools.cache
def version() -> str:
    """The version of the installed package."""
    import importlib.metadata

    try:
        return importlib.metadata.version("lakebed")
    except importlib.metadata.PackageNotFoundError:
        return "0.0.0"


def _open_kv(settings: Settings) -> KVStore:
    if settings.kv.type == "memory":
        return _memory_kv()
    if settings.kv.type == "postgres":
        return _open_postgres(settings.kv.postgres)
    from lakebed_engine.stores.kv.sqlite.store import SqliteKV

    try:
        return SqliteKV(Path(settings.kv.sqlite.path), durable=settings.durability == "disk")
    except EngineError as error:
        raise StartError(f"cannot open the database {settings.kv.sqlite.path}: {error.message}") from None


def _memory_kv() -> KVStore:
    from lakebed_engine.stores.kv.memory import MemoryKV

    return MemoryKV()


def _open_postgres(settings: PostgresSettings) -> KVStore:
    if not settings.dsn:
        raise SettingError("kv.type postgres needs kv.postgres.dsn: postgresql://user:password@host:5432/database")
    try:
        from lakebed_engine.stores.kv.postgres.store import PostgresKV
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise StartError(f"kv.type postgres needs asyncpg; run: {install_command('postgres')}") from None
    return PostgresKV(settings.dsn, schema=settings.schema, pool=settings.pool)
