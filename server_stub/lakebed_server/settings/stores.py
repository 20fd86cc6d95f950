"""Settings of object stores: `objects.s3` of the default store, and `stores.NAME` of the named ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from lakebed_server.settings.kinds import FLAG, TEXT, Value, choice, setting
from lakebed_server.vocabulary import SettingError

STORES: Final = "stores."
"""The beginning of the keys of named stores: `stores.NAME.type`."""
NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
MOST_STORES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Settings:
    """Namespaces `s3://`. Empty values come from the environment (`AWS_*`), instance or container."""

    endpoint: str = setting("", TEXT, "URL of an S3-compatible store; empty: AWS")
    region: str = setting("", TEXT, "region of the buckets; empty: AWS_REGION, or us-east-1")
    profile: str = setting("", TEXT, "profile in the credentials file that has the access key")
    credentials_file: str = setting("", TEXT, "file of access keys; empty: ~/.aws/credentials if a profile is set")
    access_key_id: str = setting("", TEXT, "access key id; empty: from the profile or the environment")
    secret_access_key: str = setting("", TEXT, "secret of the access key", secret=True)
    session_token: str = setting("", TEXT, "session token of a temporary access key", secret=True)
    allow_http: bool = setting(False, FLAG, "allow an endpoint without TLS")
    virtual_hosted: bool = setting(False, FLAG, "put the bucket in the host name, not in the path")
    role_arn: str = setting("", TEXT, "role to assume, with the other credentials or a web identity token; empty: none")
    external_id: str = setting("", TEXT, "external id that the role requires")
    role_session_name: str = setting("", TEXT, "session name for the role; empty: lakebed")
    web_identity_token_file: str = setting(
        "",
        TEXT,
        "file of an OpenID Connect token for the role, which the server reads at each renewal; empty: other "
        "credentials",
    )
    sts_endpoint: str = setting("", TEXT, "URL of STS for the role; empty: AWS in the region")
    encryption: str = setting(
        "bucket",
        choice("bucket", "sse-s3", "sse-kms"),
        "encryption that each write requests: bucket for the default of the bucket, sse-s3, or sse-kms with kms_key",
    )
    kms_key: str = setting("", TEXT, "id, ARN or alias of the key for sse-kms; empty: the AWS managed key")
    storage_class: str = setting(
        "", TEXT, "storage class of new objects, such as STANDARD_IA; metadata uses the class of the bucket"
    )
    requester_pays: bool = setting(False, FLAG, "the server and its clients pay for requests to the buckets")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings(S3Settings):
    """A named store. `type` decides which of the other settings apply."""

    type: str = setting("", choice("s3", "gs", "az", "local"), "type of the store: s3, gs (GCS), az (Azure) or local")
    description: str = setting("", TEXT, "description of the store for clients")
    prefixes: str = setting(
        "",
        TEXT,
        "namespaces in which repositories may be created, such as s3://bucket/lake, separated by commas; empty: the "
        "whole store",
    )
    ingest: str = setting(
        "",
        TEXT,
        "folders of the store that its repositories may read and ingest, as `ingest.allow` for the default store; "
        "empty: none",
    )
    root: str = setting("", TEXT, "local: directory of the namespaces")
    service_account_file: str = setting(
        "", TEXT, "gs: JSON file of a service account; empty: `GOOGLE_*`, or the metadata server (workload identity)"
    )
    account: str = setting("", TEXT, "az: storage account; empty: AZURE_STORAGE_ACCOUNT_NAME")
    account_key: str = setting("", TEXT, "az: key of the account", secret=True)
    sas_token: str = setting("", TEXT, "az: shared access signature, instead of the key", secret=True)
    tenant_id: str = setting("", TEXT, "az: tenant of the client")
    client_id: str = setting("", TEXT, "az: client with client_secret or federated_token_file, or a managed identity")
    client_secret: str = setting("", TEXT, "az: secret of the client", secret=True)
    federated_token_file: str = setting(
        "", TEXT, "az: token file of a workload identity; empty: AZURE_FEDERATED_TOKEN_FILE"
    )
    authority: str = setting("", TEXT, "az: URL of the service that issues tokens; empty: the Azure default")


_COMMON = frozenset({"type", "description", "prefixes", "ingest"})
_OF_TYPE: Mapping[str, frozenset[str]] = {
    "s3": frozenset(one.name for one in fields(S3Settings)),
    "gs": frozenset({"endpoint", "allow_http", "service_account_file"}),
    "az": frozenset(
        {
            *("endpoint", "allow_http", "account", "account_key", "sas_token", "tenant_id", "client_id"),
            *("client_secret", "federated_token_file", "authority"),
        }
    ),
    "local": frozenset({"root"}),
}
_FROZEN = frozenset({"GLACIER", "DEEP_ARCHIVE"})
"""Classes whose objects must be restored before they can be read."""
ORDER: Final = ("type", "description", "prefixes", "ingest")
"""The settings that come first in lists."""


def prefixes(text: str) -> tuple[str, ...]:
    """The parts of a list, without their final slashes. "s3://a/, s3://b" -> ("s3://a", "s3://b")."""
    return tuple(one.strip().rstrip("/") for one in text.split(",") if one.strip())


def check_name(name: str, source: str) -> None:
    """Raises SettingError for a name that no store can have."""
    if not NAME.fullmatch(name):
        raise SettingError(
            f"stores.{name[:80]} ({source}): the name of a store has 1 to 32 of the characters a-z 0-9 -, and begins "
            "with a letter"
        )


def check_stores(stores: Mapping[str, StoreSettings], default_root: str) -> None:
    """Check what the single settings do not show. Raises SettingError, which names the key."""
    if len(stores) > MOST_STORES:
        raise SettingError(f"stores: {len(stores)} stores: must be at most {MOST_STORES}")
    roots = {"objects.local.root": default_root} if default_root else {}
    for name, one in stores.items():
        if not one.type:
            raise SettingError(f"stores.{name}.type is not set: give one of {', '.join(_OF_TYPE)}")
        applies = _COMMON | _OF_TYPE[one.type]
        for field in fields(one):
            if field.name not in applies and getattr(one, field.name) != field.metadata["default"]:
                raise SettingError(
                    f"stores.{name}.{field.name} does not apply to a store of type {one.type}: remove it"
                )
        for prefix in prefixes(one.prefixes):
            if not prefix.startswith(f"{one.type}://"):
                raise SettingError(f"stores.{name}.prefixes: {prefix!r} does not begin with {one.type}://")
        check_s3(f"stores.{name}", one)
        if one.type == "local":
            _check_root(name, one.root, roots)


def check_s3(section: str, s3: S3Settings) -> None:
    """Check settings of S3 that belong together. Raises SettingError."""
    if s3.kms_key and s3.encryption != "sse-kms":
        raise SettingError(f"{section}.kms_key is set but {section}.encryption is not sse-kms: set both, or none")
    if s3.storage_class.upper() in _FROZEN:
        raise SettingError(
            f"{section}.storage_class is {s3.storage_class}: its objects must be restored before a read; take "
            "GLACIER_IR or another class"
        )
    for name in ("external_id", "role_session_name", "web_identity_token_file", "sts_endpoint"):
        if getattr(s3, name) and not s3.role_arn:
            raise SettingError(f"{section}.{name} is set but {section}.role_arn is not: give the role as well")
    if s3.external_id and s3.web_identity_token_file:
        raise SettingError(f"{section}.external_id does not apply to a role by web identity: remove it")


def _check_root(name: str, root: str, roots: dict[str, str]) -> None:
    """One directory has one store: so a sweep of one store never meets files of another."""
    if not root:
        raise SettingError(f"stores.{name}.root is not set: give the directory of the store")
    for key, other in roots.items():
        if f"{root}/".startswith(f"{other}/") or f"{other}/".startswith(f"{root}/"):
            raise SettingError(f"stores.{name}.root is {root}, which overlaps {key}: give each store its own directory")
    roots[f"stores.{name}.root"] = root


def names_in(env: Mapping[str, Value], prefix: str) -> list[str]:
    """The stores that the environment defines: `LAKEBED_STORES_EU_WEST_TYPE` defines `eu-west`."""
    begin, end = f"{prefix}STORES_", "_TYPE"
    return sorted(
        name.removeprefix(begin).removesuffix(end).replace("_", "-").lower()
        for name, value in env.items()
        if value and name.startswith(begin) and name.endswith(end) and len(name) > len(begin) + len(end)
    )
