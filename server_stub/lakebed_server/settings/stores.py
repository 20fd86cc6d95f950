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
    profile: str = setting("", TEXT, "profile of the credentials file to take the access key from")
    credentials_file: str = setting("", TEXT, "file of access keys; empty: ~/.aws/credentials where a profile is set")
    access_key_id: str = setting("", TEXT, "access key id; empty: from the profile or the environment")
    secret_access_key: str = setting("", TEXT, "its secret access key", secret=True)
    session_token: str = setting("", TEXT, "its session token, for temporary keys", secret=True)
    allow_http: bool = setting(False, FLAG, "allow an endpoint without TLS")
    virtual_hosted: bool = setting(False, FLAG, "the bucket is in the host name, not in the path")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings(S3Settings):
    """A named store. `type` decides which of the other settings apply."""

    type: str = setting("", choice("s3", "gs", "az", "local"), "kind of the store: s3, gs (GCS), az (Azure) or local")
    description: str = setting("", TEXT, "what clients show of the store")
    prefixes: str = setting(
        "",
        TEXT,
        "namespaces below which repositories may be created, such as s3://bucket/lake, separated by commas; empty: "
        "everywhere in the store",
    )
    ingest: str = setting(
        "",
        TEXT,
        "folders of the store that repositories in it may read and ingest, as `ingest.allow` is for the default store; "
        "empty: none",
    )
    root: str = setting("", TEXT, "local: directory of the namespaces")


_COMMON = frozenset({"type", "description", "prefixes", "ingest"})
_OF_TYPE: Mapping[str, frozenset[str]] = {
    "s3": frozenset(one.name for one in fields(S3Settings)),
    "gs": frozenset({"endpoint", "allow_http"}),
    "az": frozenset({"endpoint", "allow_http"}),
    "local": frozenset({"root"}),
}
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
        if one.type == "local":
            _check_root(name, one.root, roots)


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
