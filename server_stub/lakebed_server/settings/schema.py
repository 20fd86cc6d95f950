"""Every setting: its key, default, kind and meaning.

The keys are the fields of the dataclasses joined by dots. `lakebed config show` is made
from this module, and a test compares docs/configuration.md with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lakebed_server.settings.hooks import HookSettings
from lakebed_server.settings.kinds import DURATION, FLAG, SIZE, TEXT, Kind, Value, choice, duration, integer
from lakebed_server.settings.kinds import setting as _setting
from lakebed_server.settings.stores import ORDER, STORES, S3Settings, StoreSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """TLS of the listeners."""

    certificate: str = _setting(
        "",
        TEXT,
        "PEM file of the certificate and its chain, also for `gateway.s3.listen`; read again on SIGHUP; empty: no TLS",
    )
    key: str = _setting("", TEXT, "PEM file of its private key; empty: in the file of the certificate")
    key_password: str = _setting("", TEXT, "password of the private key, where it is encrypted", secret=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenSettings:
    """Where the server listens."""

    host: str = _setting("127.0.0.1", TEXT, "address to listen on; 0.0.0.0 for every interface")
    port: int = _setting(8000, integer(0, 65535), "port to listen on; 0 for any free one")
    trusted_proxies: str = _setting(
        "",
        TEXT,
        "addresses and networks of the proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and `Forwarded` the server "
        "believes, separated by commas; empty: none, not even on this machine",
    )
    tls: TlsSettings = field(default_factory=TlsSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSettings:
    """The SQLite KV store."""

    path: str = _setting("{data_dir}/lakebed.db", TEXT, "database file of kv.type sqlite")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresSettings:
    """The PostgreSQL KV store."""

    dsn: str = _setting("", TEXT, "database of kv.type postgres: postgresql://user:password@host:5432/db", secret=True)
    pool: int = _setting(8, integer(1, 1000), "most connections of one server process")
    schema: str = _setting("lakebed", TEXT, "SQL schema of the tables, made when it is missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class KvSettings:
    """The store of mutable state."""

    type: str = _setting(
        "sqlite", choice("sqlite", "postgres", "memory"), "KV store; memory forgets everything at the end"
    )
    sqlite: SqliteSettings = field(default_factory=SqliteSettings)
    postgres: PostgresSettings = field(default_factory=PostgresSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """Namespaces `local://`."""

    root: str = _setting("{data_dir}/objects", TEXT, "directory of the local:// namespaces; none: no such store")
    share: str = _setting(
        "auto",
        choice("auto", "always", "never"),
        "clients that get the directories of `local://`, to read and write there: `auto` for clients that prove to be "
        "on this machine (Linux), `always`, or `never`",
    )
    group_read: bool = _setting(
        False,
        FLAG,
        "let the group of the server's account read `local://`: directories are made 0750 and files 0640, not 0700 and "
        "0600",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSettings:
    """The stores of data."""

    local: LocalSettings = field(default_factory=LocalSettings)
    default_namespace_prefix: str = _setting(
        "",
        TEXT,
        "where the namespaces of new repositories go that are created without one, for example `s3://bucket/lakebed`; "
        "empty: `local://repos`",
    )
    memory: bool = _setting(False, FLAG, "allow mem:// namespaces, forgotten at the end; always with kv.type memory")
    cloud: bool = _setting(True, FLAG, "allow s3://, gs:// and az:// namespaces, where obstore is installed")
    presign: bool = _setting(
        True, FLAG, "give clients signed addresses of cloud stores, to write and read there themselves"
    )
    presign_expiry: float = _setting(
        900.0, duration(60, 7 * 24 * 3600), "how long a signed address can be used, 1m to 7d"
    )
    tags: bool = _setting(True, FLAG, "tag what is written to signed addresses on S3 with the parts of its path")
    retry: float = _setting(30.0, DURATION, "how long a request is repeated that a cloud store refuses for now")
    silence: float = _setting(30.0, DURATION, "how long a cloud store may say nothing before it counts as broken")
    s3: S3Settings = field(default_factory=S3Settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSettings:
    """Objects outside of the namespaces."""

    allow: str = _setting(
        "",
        TEXT,
        "folders whose objects every user may read through this server and ingest, with its credentials: URI prefixes "
        "such as s3://bucket/kafka/, separated by commas; empty: none",
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
        "the storage namespace for rows about no repository, such as sign-ins; empty: they are not recorded",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSettings:
    """When a server moves events from the KV store to a file in the bucket."""

    flush_age: float = _setting(5.0, duration(1, 3600), "age of an event at which it moves to a file, 1s to 1h")
    flush_rows: int = _setting(10_000, integer(1, 100_000), "events that move sooner; also the most events of one file")
    flush_bytes: int = _setting(4 << 20, SIZE, "bytes of events that move sooner")


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """Sign-in with an OpenID Connect provider."""

    issuer: str = _setting("", TEXT, "the provider's issuer URL; empty: no sign-in with OpenID Connect")
    client_id: str = _setting("", TEXT, "the id of this server at the provider")
    client_secret: str = _setting("", TEXT, "its secret; empty for a public client", secret=True)
    scopes: str = _setting("openid email profile", TEXT, "scopes to ask for, separated by spaces")
    redirect_uri: str = _setting(
        "",
        TEXT,
        "where the provider sends browsers back, as it is registered there: https://lake.example.com/oidc/callback; "
        "empty: the address that the browser used",
    )
    id_claim: str = _setting(
        "", TEXT, "the claim that becomes the id of a new user; empty: email if it is verified, otherwise sub"
    )
    name_claim: str = _setting("name", TEXT, "the claim with the name to show")
    groups_claim: str = _setting("", TEXT, "the claim with the groups: a list, or text with commas; empty: none")
    groups_map: str = _setting(
        "", TEXT, "groups of Lakebed for values of that claim: value=Group, separated by commas; empty: the same names"
    )
    groups_sync: str = _setting(
        "first",
        choice("first", "always"),
        "when the claim sets the groups: at the first sign-in, or at each one, which also removes groups",
    )
    default_groups: str = _setting("", TEXT, "groups of a new user, separated by commas")
    required_claims: str = _setting("", TEXT, "claims that must have exact values: claim=value, separated by commas")


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlSettings:
    """Sign-in with a SAML 2.0 identity provider."""

    idp_metadata: str = _setting(
        "", TEXT, "the provider's metadata: an https URL, or a file; empty: no sign-in with SAML"
    )
    root_url: str = _setting("", TEXT, "the address of this server for browsers: https://lake.example.com")
    entity_id: str = _setting(
        "", TEXT, "the id of this server at the provider; empty: `/saml/metadata` below auth.saml.root_url"
    )
    name_id_format: str = _setting(
        "", TEXT, "the format of the name identifier to ask for; empty: what the provider has set for this server"
    )
    subject_attribute: str = _setting(
        "", TEXT, "the attribute that identifies a person and never changes; empty: the name identifier"
    )
    id_attribute: str = _setting(
        "", TEXT, "the attribute that becomes the id of a new user; empty: the name identifier"
    )
    name_attribute: str = _setting("displayName", TEXT, "the attribute with the name to show")
    email_attribute: str = _setting("email", TEXT, "the attribute with the e-mail address")
    groups_attribute: str = _setting("", TEXT, "the attribute with the groups; empty: none")
    groups_map: str = _setting(
        "", TEXT, "groups of Lakebed for values of that attribute: value=Group, with commas; empty: the same names"
    )
    groups_sync: str = _setting(
        "first",
        choice("first", "always"),
        "when the attribute sets the groups: at the first sign-in, or at each one, which also removes groups",
    )
    default_groups: str = _setting("", TEXT, "groups of a new user, separated by commas")


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapSettings:
    """Sign-in with a directory (LDAP)."""

    server: str = _setting("", TEXT, "the directory: ldaps://ldap.example.com; empty: no sign-in with LDAP")
    start_tls: bool = _setting(False, FLAG, "with ldap://, begin TLS before anything is sent")
    ca_file: str = _setting("", TEXT, "certificates (PEM) to check the directory with; empty: those of the system")
    bind_dn: str = _setting("", TEXT, "the DN that searches; empty: anonymous")
    bind_password: str = _setting("", TEXT, "its password", secret=True)
    user_base_dn: str = _setting("", TEXT, "the DN below which users are")
    user_filter: str = _setting("(objectClass=person)", TEXT, "which entries are users")
    username_attribute: str = _setting(
        "uid", TEXT, "the attribute with the user name, which becomes the id of a new user; sAMAccountName"
    )
    subject_attribute: str = _setting(
        "entryUUID", TEXT, "the attribute that identifies a person and never changes; objectGUID"
    )
    name_attribute: str = _setting("cn", TEXT, "the attribute with the name to show")
    email_attribute: str = _setting("mail", TEXT, "the attribute with the e-mail address")
    group_base_dn: str = _setting("", TEXT, "the DN below which groups are; empty: groups are not read")
    group_filter: str = _setting(
        "(&(objectClass=groupOfNames)(member={dn}))", TEXT, "which entries are groups of the user with the DN {dn}"
    )
    group_attribute: str = _setting("cn", TEXT, "the attribute with the name of a group")
    groups_map: str = _setting(
        "",
        TEXT,
        "groups of Lakebed for groups of the directory: name=Group, with commas; empty: the same names",
    )
    groups_sync: str = _setting(
        "first",
        choice("first", "always"),
        "when the directory sets the groups: at the first sign-in, or at each one, which also removes groups",
    )
    default_groups: str = _setting("", TEXT, "groups of a new user, separated by commas")
    connect_timeout: float = _setting(7.0, DURATION, "longest wait for a connection")
    timeout: float = _setting(15.0, DURATION, "longest wait for an answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSettings:
    """Tokens of CI systems and clusters that are exchanged for tokens of this server."""

    audience: str = _setting("", TEXT, "the audience that these tokens must have, such as the address of this server")
    rules: str = _setting(
        "",
        TEXT,
        "the user of a token: `ISSUER CLAIM=PATTERN -> USER`, `;` between rules; empty: no exchange",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSettings:
    """Authentication."""

    mode: str = _setting(
        "rbac",
        choice("rbac", "single"),
        "rbac: users, groups and policies; single: every access key is the administrator's, for one person",
    )
    secret_key: str = _setting(
        "",
        TEXT,
        "encrypts stored access keys and signs tokens, at least 32 characters; empty: {data_dir}/secret.key, made on "
        "first start",
        secret=True,
    )
    previous_secret_key: str = _setting(
        "", TEXT, "the key that `auth.secret_key` replaces, until `lakebed keys rotate-secret` has run", secret=True
    )
    login_duration: float = _setting(12 * 3600.0, DURATION, "how long a token of login is valid")
    session_limit: float = _setting(30 * 24 * 3600.0, DURATION, "how long after a sign-in its token can be renewed")
    oidc: OidcSettings = field(default_factory=OidcSettings)
    saml: SamlSettings = field(default_factory=SamlSettings)
    ldap: LdapSettings = field(default_factory=LdapSettings)
    workloads: WorkloadSettings = field(default_factory=WorkloadSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminSettings:
    """A given access key of the admin."""

    access_key_id: str = _setting("", TEXT, "access key id to ensure at start; empty: one is made on first start")
    secret_access_key: str = _setting("", TEXT, "its secret access key, at least 16 characters", secret=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggingSettings:
    """Logs."""

    format: str = _setting("text", choice("text", "json"), "how lines are written")
    level: str = _setting(
        "INFO",
        choice("DEBUG", "INFO", "WARN", "ERROR", "NONE"),
        "least level to write; DEBUG logs every request, INFO only writes, failures and slow requests",
    )
    slow_request: float = _setting(
        1.0, DURATION, "a request that takes longer is logged as slow, with level WARN; 0: none is slow"
    )
    output: str = _setting("-", TEXT, "- for standard output, or a file")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    """Metrics for Prometheus. They are off until one of the settings is given."""

    listen: str = _setting(
        "",
        TEXT,
        "address and port of a listener that answers only `/metrics`, `/_health` and `/_ready`, as 127.0.0.1:9464; "
        "empty: none",
    )
    token: str = _setting(
        "",
        TEXT,
        "bearer token for `/metrics`, at least 16 characters; with it, the server's own port answers `/metrics` too",
        secret=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TracingSettings:
    """Traces for OpenTelemetry."""

    enabled: bool = _setting(
        False,
        FLAG,
        "send traces with OTLP over HTTP, as the variables OTEL_* of OpenTelemetry say; needs lakebed[otel]",
    )
    endpoint: str = _setting(
        "", TEXT, "URL of the collector, as http://localhost:4318; empty: OTEL_EXPORTER_OTLP_ENDPOINT, or that address"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Limits."""

    json_body: int = _setting(10 << 20, SIZE, "largest JSON body that is read")
    temporary_disk: int = _setting(
        4 << 30, SIZE, "most bytes of the temporary files of one server process, into which layers are received"
    )
    connections: int = _setting(
        4096,
        integer(1, 1_000_000),
        "most open connections of one server process; fewer where the system allows too few open files",
    )
    connections_per_address: int = _setting(
        1024,
        integer(1, 1_000_000),
        "most open connections from one address (of IPv6: one /64 network); this machine and trusted proxies are not "
        "counted",
    )
    requests: int = _setting(
        512, integer(1, 1_000_000), "most requests, of clients with a key, that one process works on at the same time"
    )
    heavy_requests: int = _setting(
        8,
        integer(1, 10_000),
        "most diffs, merges, logs and listings at the same time; as many ingests, scans, layers and completed uploads; "
        "eight times as many commits",
    )
    queue: int = _setting(
        128, integer(0, 1_000_000), "most requests of each of these three kinds that wait for their turn"
    )
    queue_time: float = _setting(10.0, duration(1, 24 * 3600), "how long one waits for its turn, then it is refused")
    read_ahead: int = _setting(
        64 << 20, SIZE, "most bytes that one server process reads ahead for batches of objects and archives"
    )
    head_bytes: int = _setting(64 << 10, SIZE, "largest head of a request: its line and headers")
    head_time: float = _setting(
        10.0, duration(1, 24 * 3600), "how long a head may take, from the start of a connection"
    )
    transfer_rate: int = _setting(
        1 << 10, SIZE, "least bytes per second of a body that arrives and of an answer that is read; 0: any"
    )
    transfer_time: float = _setting(
        60.0, duration(1, 24 * 3600), "over which time this rate is measured, again and again"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """Rows of tables, for the web page and `lakebed fs head`."""

    read: int = _setting(64 << 20, SIZE, "most bytes of files that one request for rows reads")
    time: float = _setting(2.0, duration(1, 3600), "how long one request for rows may take")
    memory: int = _setting(2 << 30, SIZE, "most address space of a process that reads tables, at least 1GiB")
    processes: int = _setting(2, integer(1, 64), "most processes of one server process that read tables")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskCacheSettings:
    """The cache on disk, used for cloud stores."""

    path: str = _setting("", TEXT, "directory that keeps metadata of cloud stores; empty: no such cache")
    limit: int = _setting(10 << 30, SIZE, "how much it may hold")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSettings:
    """Caches."""

    memory: int = _setting(256 << 20, SIZE, "memory for decoded metadata")
    disk: DiskCacheSettings = field(default_factory=DiskCacheSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupSettings:
    """The cleaner of dropped staging data."""

    grace: float = _setting(300.0, DURATION, "how long dropped data is kept for readers under way")
    interval: float = _setting(60.0, DURATION, "pause between two passes")
    sweep_interval: float = _setting(24 * 3600.0, DURATION, "pause between two sweeps of orphaned files; 0: never")
    orphan_age: float = _setting(24 * 3600.0, DURATION, "minimum age of an unreferenced file that the sweep deletes")
    upload_age: float = _setting(7 * 24 * 3600.0, DURATION, "age at which an unfinished multipart upload is aborted")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrubSettings:
    """The check of all repositories in the background."""

    interval: float = _setting(7 * 24 * 3600.0, DURATION, "pause between two scrubs; 0: never")
    rate: int = _setting(4 << 20, SIZE, "most bytes that a scrub reads in a second; 0: as fast as it goes")
    objects: bool = _setting(False, FLAG, "read the bytes of all objects as well, not only the metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class RefSettings:
    """Snapshots of branches and tags in the bucket, from which `lakebed rebuild` restores them."""

    snapshot: str = _setting(
        "batched",
        choice("always", "batched", "off"),
        "when to write one: always before a change of a ref is answered, batched every refs.interval, or off",
    )
    interval: float = _setting(60.0, DURATION, "pause between two checks for changed refs")
    keep: int = _setting(100, integer(1, 100_000), "how many snapshots of a repository stay")


@dataclass(frozen=True, slots=True, kw_only=True)
class S3GatewaySettings:
    """The S3 gateway for clients that use the S3 API."""

    listen: str = _setting("", TEXT, "address and port of its own, where all is S3, as 0.0.0.0:9000; empty: none")
    domain: str = _setting(
        "",
        TEXT,
        "host names that are the gateway's, separated by commas; a name before one is a bucket (sales.s3.example.com)",
    )
    region: str = _setting("us-east-1", TEXT, "the region that buckets say they are in; signatures for any are taken")
    aliases: str = _setting(
        "", TEXT, "further buckets, each bound to a ref: bucket=repository/ref, separated by commas"
    )
    namespace: str = _setting(
        "", TEXT, "storage namespace below which CreateBucket makes repositories; empty: it makes and deletes none"
    )
    signature_v2: bool = _setting(True, FLAG, "accept Signature Version 2, which older clients send; it signs no body")
    unsigned_payload: str = _setting(
        "always",
        choice("always", "https"),
        "where bodies that the signature does not cover are accepted: always, or over https only",
    )
    directory_marks: str = _setting(
        "drop",
        choice("drop", "keep"),
        "empty objects `orders/` of type application/x-directory: drop leaves them out of commits, keep commits them",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Other interfaces than the REST API."""

    s3: S3GatewaySettings = field(default_factory=S3GatewaySettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The process."""

    shutdown_timeout: float = _setting(
        30.0, DURATION, "how long a stop waits for requests under way, and then (at most 10s) for its last writes"
    )
    drain: float = _setting(
        0.0,
        DURATION,
        "how long a server that gets SIGTERM goes on as before while /_ready and /_health answer 503",
    )
    refuse: float = _setting(
        0.0,
        DURATION,
        "how long it then refuses each new request with 503, before it does anything, so that clients go to another "
        "server; then it stops",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings. Plain values only. `wiring` builds the components from them."""

    data_dir: str = _setting("~/.lakebed/data", TEXT, "directory of everything that the server keeps")
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
