"""Every setting: its key, default, kind and meaning.

The keys are the fields of the dataclasses joined by dots. `lakebed config show` is made
from this module, and a test compares docs/configuration.md with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lakebed_server.settings.auth import AdminSettings, AuthSettings
from lakebed_server.settings.hooks import HookSettings
from lakebed_server.settings.kinds import DURATION, FLAG, SIZE, TEXT, Kind, Value, choice, duration, integer
from lakebed_server.settings.kinds import setting as _setting
from lakebed_server.settings.listeners import GatewaySettings, ListenSettings
from lakebed_server.settings.observability import LoggingSettings, MetricsSettings, TracingSettings
from lakebed_server.settings.stores import ORDER, STORES, S3Settings, StoreSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSettings:
    """The SQLite KV store."""

    path: str = _setting("{data_dir}/lakebed.db", TEXT, "database file for kv.type sqlite")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresSettings:
    """The PostgreSQL KV store."""

    dsn: str = _setting("", TEXT, "database for kv.type postgres: postgresql://user:password@host:5432/db", secret=True)
    pool: int = _setting(8, integer(1, 1000), "maximum connections of one server process")
    schema: str = _setting("lakebed", TEXT, "SQL schema of the tables; the server creates it if it does not exist")


@dataclass(frozen=True, slots=True, kw_only=True)
class KvSettings:
    """The store of mutable state."""

    type: str = _setting(
        "sqlite",
        choice("sqlite", "postgres", "memory"),
        "type of the key-value store; memory loses everything when the server stops",
    )
    sqlite: SqliteSettings = field(default_factory=SqliteSettings)
    postgres: PostgresSettings = field(default_factory=PostgresSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """Namespaces `local://`."""

    root: str = _setting(
        "{data_dir}/objects", TEXT, "directory of the `local://` namespaces; `none` disables `local://`"
    )
    share: str = _setting(
        "auto",
        choice("auto", "always", "never"),
        "clients that may read and write in the directories of `local://`: `auto` for clients that prove to be on "
        "this machine (Linux), `always`, or `never`",
    )
    group_read: bool = _setting(
        False,
        FLAG,
        "let the group of the server's account read `local://`: the server creates directories with mode 0750 and "
        "files with 0640, instead of 0700 and 0600",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSettings:
    """The stores of data."""

    local: LocalSettings = field(default_factory=LocalSettings)
    default_namespace_prefix: str = _setting(
        "",
        TEXT,
        "prefix for the namespaces of repositories that are created without one, for example `s3://bucket/lakebed`; "
        "empty: `local://repos`",
    )
    memory: bool = _setting(
        False,
        FLAG,
        "allow `mem://` namespaces, which the server loses when it stops; always allowed with kv.type memory",
    )
    cloud: bool = _setting(True, FLAG, "allow `s3://`, `gs://` and `az://` namespaces, if obstore is installed")
    presign: bool = _setting(True, FLAG, "give clients presigned URLs of cloud stores for direct reads and writes")
    presign_expiry: float = _setting(900.0, duration(60, 7 * 24 * 3600), "how long a presigned URL is valid, 1m to 7d")
    tags: bool = _setting(
        True, FLAG, "tag objects that clients write to presigned URLs on S3 with the parts of their path"
    )
    retry: float = _setting(
        30.0, DURATION, "how long the server retries a request that a cloud store refuses temporarily"
    )
    silence: float = _setting(
        30.0, DURATION, "how long the server waits for data of a cloud store before it treats the connection as broken"
    )
    s3: S3Settings = field(default_factory=S3Settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSettings:
    """Objects outside of the namespaces."""

    allow: str = _setting(
        "",
        TEXT,
        "folders that every user may read and ingest through this server, with its credentials: URI prefixes such as "
        "s3://bucket/kafka/, separated by commas; empty: none",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySettings:
    """The access history."""

    enabled: bool = _setting(
        False, FLAG, "record each read, write, list and refusal as a row in the bucket of the repository"
    )
    server_namespace: str = _setting(
        "local://_server",
        TEXT,
        "storage namespace for rows that belong to no repository, such as sign-ins; empty: the server does not "
        "record them",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSettings:
    """When a server moves events from the KV store to a file in the bucket."""

    flush_age: float = _setting(5.0, duration(1, 3600), "age at which an event moves to a file, 1s to 1h")
    flush_rows: int = _setting(
        10_000,
        integer(1, 100_000),
        "number of events that move to a file before this age; also the maximum of one file",
    )
    flush_bytes: int = _setting(4 << 20, SIZE, "size of events that move to a file before this age")


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Limits."""

    json_body: int = _setting(10 << 20, SIZE, "maximum size of a JSON request body")
    temporary_disk: int = _setting(
        4 << 30, SIZE, "maximum size of the temporary files in which one server process receives layers"
    )
    connections: int = _setting(
        4096,
        integer(1, 1_000_000),
        "maximum open connections of one server process; fewer if the system allows too few open files",
    )
    connections_per_address: int = _setting(
        1024,
        integer(1, 1_000_000),
        "maximum open connections from one address (IPv6: one /64 network); this machine and trusted proxies do not "
        "count",
    )
    requests: int = _setting(
        512, integer(1, 1_000_000), "maximum requests of clients with a key that one process handles at the same time"
    )
    heavy_requests: int = _setting(
        8,
        integer(1, 10_000),
        "maximum diffs, merges, logs and listings at the same time; as many ingests, scans, layers and completed "
        "uploads; eight times as many commits",
    )
    queue: int = _setting(128, integer(0, 1_000_000), "maximum waiting requests of each of these three kinds")
    queue_time: float = _setting(
        10.0, duration(1, 24 * 3600), "how long a request waits in this queue before the server refuses it"
    )
    read_ahead: int = _setting(
        64 << 20, SIZE, "maximum bytes that one server process reads ahead for batches of objects and archives"
    )
    head_bytes: int = _setting(64 << 10, SIZE, "maximum size of a request head: request line and headers")
    head_time: float = _setting(
        10.0, duration(1, 24 * 3600), "timeout of a request head, from the start of the connection"
    )
    transfer_rate: int = _setting(
        1 << 10,
        SIZE,
        "minimum speed of request bodies and of clients that read responses, in bytes per second; 0: no minimum",
    )
    transfer_time: float = _setting(60.0, duration(1, 24 * 3600), "interval over which the server measures this speed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """Rows of tables, for the web page and `lakebed fs head`."""

    read: int = _setting(64 << 20, SIZE, "maximum bytes of files that one request for rows reads")
    time: float = _setting(2.0, duration(1, 3600), "timeout of one request for rows")
    memory: int = _setting(2 << 30, SIZE, "maximum address space of a process that reads tables, at least 1GiB")
    processes: int = _setting(2, integer(1, 64), "maximum processes that read tables for one server process")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskCacheSettings:
    """The cache on disk, used for cloud stores."""

    path: str = _setting("", TEXT, "directory of the disk cache for metadata of cloud stores; empty: no disk cache")
    limit: int = _setting(10 << 30, SIZE, "maximum size of the disk cache")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSettings:
    """Caches."""

    memory: int = _setting(256 << 20, SIZE, "memory for decoded metadata")
    disk: DiskCacheSettings = field(default_factory=DiskCacheSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupSettings:
    """The cleaner of dropped staging data."""

    grace: float = _setting(300.0, DURATION, "how long the server keeps dropped data for reads in progress")
    interval: float = _setting(60.0, DURATION, "pause between two passes of the cleaner")
    sweep_interval: float = _setting(24 * 3600.0, DURATION, "pause between two sweeps of orphaned files; 0: never")
    orphan_age: float = _setting(24 * 3600.0, DURATION, "minimum age of an unreferenced file that the sweep deletes")
    upload_age: float = _setting(
        7 * 24 * 3600.0, DURATION, "age at which the server aborts an unfinished multipart upload"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrubSettings:
    """The check of all repositories in the background."""

    interval: float = _setting(7 * 24 * 3600.0, DURATION, "pause between two scrubs; 0: never")
    rate: int = _setting(4 << 20, SIZE, "maximum bytes that a scrub reads per second; 0: no limit")
    objects: bool = _setting(False, FLAG, "also read the bytes of all objects")


@dataclass(frozen=True, slots=True, kw_only=True)
class RefSettings:
    """Snapshots of branches and tags in the bucket, from which `lakebed rebuild` restores them."""

    snapshot: str = _setting(
        "batched",
        choice("always", "batched", "off"),
        "when to write a snapshot: always, before the response to each change of a ref; batched, every "
        "refs.interval; off, never",
    )
    interval: float = _setting(60.0, DURATION, "pause between two checks for changed refs")
    keep: int = _setting(100, integer(1, 100_000), "number of snapshots to keep for each repository")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The process."""

    shutdown_timeout: float = _setting(
        30.0,
        DURATION,
        "how long a stopping server waits for requests in progress, and then (at most 10s) for its last writes",
    )
    drain: float = _setting(
        0.0,
        DURATION,
        "how long a server continues to work after SIGTERM while /_ready and /_health return 503",
    )
    refuse: float = _setting(
        0.0,
        DURATION,
        "how long it then refuses each new request with 503 and no effect, so that clients use another server, "
        "before it stops",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings. Plain values only. `wiring` builds the components from them."""

    data_dir: str = _setting("~/.lakebed/data", TEXT, "directory for all files of the server")
    durability: str = _setting(
        "disk",
        choice("disk", "process"),
        "what an acknowledged change in SQLite and `local://` survives: disk, a machine that stops; process, only a "
        "killed server (for scratch servers: CI, tests, demos)",
    )
    listen: ListenSettings = field(default_factory=ListenSettings)
    kv: KvSettings = field(default_factory=KvSettings)
    objects: ObjectSettings = field(default_factory=ObjectSettings)
    stores: Mapping[str, StoreSettings] = field(default_factory=dict, metadata={"each": StoreSettings})
    ingest: IngestSettings = field(default_factory=IngestSettings)
    auth: AuthSettings = field(default_factory=AuthSettings)
    history: HistorySettings = field(default_factory=HistorySettings)
    events: EventSettings = field(default_factory=EventSettings)
    hooks: HookSettings = field(default_factory=HookSettings)
    admin: AdminSettings = field(default_factory=AdminSettings)
    logging: LoggingSettings = field(default_factory=LoggingSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    tracing: TracingSettings = field(default_factory=TracingSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    tables: TableSettings = field(default_factory=TableSettings)
    cache: CacheSettings = field(default_factory=CacheSettings)
    cleanup: CleanupSettings = field(default_factory=CleanupSettings)
    scrub: ScrubSettings = field(default_factory=ScrubSettings)
    refs: RefSettings = field(default_factory=RefSettings)
    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    server: ServerSettings = field(default_factory=ServerSettings)

    def __repr__(self) -> str:
        return "Settings(...)"  # secrets are among them


class Key(NamedTuple):
    """One setting."""

    name: str
    default: Value
    kind: Kind
    doc: str
    secret: bool
    since: str

    @property
    def env(self) -> str:
        """The environment variable: `listen.port` is LAKEBED_LISTEN_PORT, `stores.a-b.type` LAKEBED_STORES_A_B_TYPE."""
        return "LAKEBED_" + self.name.replace(".", "_").replace("-", "_").upper()


def _walk(of: Any, prefix: str) -> Iterator[Key]:
    for one in dataclasses.fields(of):
        name = prefix + one.name
        section, meta = one.default_factory, one.metadata
        if "each" in meta:
            continue
        if section is not dataclasses.MISSING:
            yield from _walk(section, name + ".")
        else:
            yield Key(name, meta["default"], meta["kind"], meta["doc"], meta["secret"], meta["since"])


KEYS: dict[str, Key] = {key.name: key for key in _walk(Settings, "")}
"""All settings by their dotted names, without those of named stores."""


def store_keys(store: str) -> dict[str, Key]:
    """The settings of a named store by their dotted names."""
    keys = {key.name: key for key in _walk(StoreSettings, f"{STORES}{store}.")}
    first = [f"{STORES}{store}.{name}" for name in ORDER]
    return {name: keys[name] for name in dict.fromkeys([*first, *keys])}


def build(values: dict[str, Value], of: Any = Settings, prefix: str = "") -> Any:
    """Build the dataclasses from values by dotted name."""
    arguments: dict[str, Any] = {}
    for one in dataclasses.fields(of):
        section = one.default_factory
        name = prefix + one.name
        if "each" in one.metadata:
            parts = dict.fromkeys(key.split(".")[1] for key in values if key.startswith(f"{name}."))
            arguments[one.name] = {part: build(values, one.metadata["each"], f"{name}.{part}.") for part in parts}
            continue
        arguments[one.name] = values[name] if section is dataclasses.MISSING else build(values, section, name + ".")
    return of(**arguments)
