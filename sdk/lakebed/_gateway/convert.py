"""Converts generated models to values of the SDK. Pure. No other module knows both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from lakebed.errors import ObjectFailure, ProtocolError
from lakebed.model import (
    OPERATION_KEY,
    Change,
    Commit,
    CommonPrefix,
    ObjectInfo,
    Page,
    RefInfo,
    RepositoryInfo,
    ServerInfo,
    StoreInfo,
    User,
    WorkspaceInfo,
)

if TYPE_CHECKING:
    from lakebed_api import models

T = TypeVar("T")
W = TypeVar("W")


def text(value: object, default: str | None = None) -> str:
    """A string, or the default if absent. Generated models do not check types, so this does."""
    if isinstance(value, str):
        return value
    if not value and default is not None:  # UNSET and null
        return default
    raise TypeError(f"expected text, got {value!r}")


def number(value: object, default: int | None = None) -> int:
    """A whole number, or the default if absent."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not value and default is not None:
        return default
    raise TypeError(f"expected a whole number, got {value!r}")


@lru_cache(1024, typed=True)
def moment(value: object) -> datetime:
    """Unix seconds as an aware time. Rows of a listing share many."""
    return datetime.fromtimestamp(number(value), UTC)


def time(value: object) -> datetime:
    """A time of RFC 3339, as `2026-11-28T10:00:00Z`."""
    return datetime.fromisoformat(text(value))


def optional_time(value: object) -> datetime | None:
    """A time of RFC 3339, or None without one."""
    return None if value is None else time(value)


def optional_text(row: Mapping[str, Any], name: str) -> str:
    """A text of a JSON object. Empty without one."""
    return text(row.get(name), "")


def mapping(value: Any) -> dict[str, str]:
    """A string map; the generated wrappers keep it in `additional_properties`."""
    return dict(value.additional_properties) if value else {}


def repository(row: models.Repository) -> RepositoryInfo:
    """A repository."""
    return RepositoryInfo(
        text(row.id),
        text(row.storage_namespace),
        text(row.default_branch),
        moment(row.creation_date),
        bool(row.read_only),
        text(row.local_path, ""),
        text(row.storage_id, ""),
    )


def ref(row: Mapping[str, Any]) -> RefInfo:
    """A branch or a tag, from JSON."""
    return RefInfo(text(row["id"]), text(row["commit_id"]))


def commit(row: models.Commit) -> Commit:
    """A commit. Removes the SDK's own mark from the metadata."""
    metadata = mapping(row.metadata)
    operation_id = metadata.pop(OPERATION_KEY, None)
    return Commit(
        id=text(row.id),
        parents=tuple(text(parent) for parent in row.parents),
        message=text(row.message),
        committer=text(row.committer),
        created=moment(row.creation_date),
        metadata=metadata,
        generation=number(row.generation, 0),
        metarange_id=text(row.meta_range_id, ""),
        operation_id=operation_id,
    )


def stored(row: models.ObjectStats) -> ObjectInfo:
    """An object."""
    return ObjectInfo(
        path=text(row.path),
        size=number(row.size_bytes, 0),
        checksum=text(row.checksum),
        mtime=moment(row.mtime),
        content_type=text(row.content_type, ""),
        metadata=mapping(row.metadata),
        physical_address=text(row.physical_address, ""),
    )


def listed(row: Mapping[str, Any]) -> ObjectInfo | CommonPrefix:
    """A row of a listing, from JSON. A generated model for each of millions of rows doubles the time."""
    if row["path_type"] == "common_prefix":
        return CommonPrefix(text(row["path"]))
    metadata = row.get("metadata")
    return ObjectInfo(
        text(row["path"]),
        number(row.get("size_bytes"), 0),
        text(row["checksum"]),
        moment(row["mtime"]),
        text(row.get("content_type"), ""),
        {**metadata} if metadata else {},
        text(row["physical_address"]),
    )


def change(row: models.Diff) -> Change:
    """A row of a diff."""
    known = row.former_size_bytes if isinstance(row.former_size_bytes, int) else row.size_bytes
    size = number(known) if isinstance(known, int) else None
    return Change(text(row.type_), text(row.path), row.path_type == "common_prefix", size)


def server(row: models.Config) -> ServerInfo:
    """The features of a server. A missing field means that the server does not have the feature."""
    version, storage, able = row.version_config, row.storage_config, row.capabilities_config
    if not storage:
        raise TypeError("the settings do not describe the store")
    return ServerInfo(
        api_level=text(version.version, "") if version else "",
        storage=text(storage.blockstore_type),
        namespace_prefix=text(storage.default_namespace_prefix, ""),
        namespace_pattern=text(storage.blockstore_namespace_validity_regex),
        import_pattern=text(storage.import_validity_regex) if storage.import_support else "",
        signs=bool(storage.pre_sign_support),
        signs_uploads=bool(able and able.presigned_uploads),
        workspaces=bool(able and able.workspaces),
        stores=tuple(_store(one) for one in row.storage_config_list or () if one.blockstore_id),
    )


def _store(row: models.StorageConfig) -> StoreInfo:
    return StoreInfo(
        id=text(row.blockstore_id),
        kind=text(row.blockstore_type),
        description=text(row.blockstore_description, ""),
        namespace_prefix=text(row.default_namespace_prefix, ""),
        namespace_pattern=text(row.blockstore_namespace_validity_regex),
        import_pattern=text(row.import_validity_regex) if row.import_support else "",
        signs=bool(row.pre_sign_support),
    )


def user(row: models.User) -> User:
    """A user."""
    return User(
        text(row.id),
        moment(row.creation_date),
        text(row.friendly_name, ""),
        text(row.email, ""),
        bool(row.disabled),
        bool(row.service),
    )


def workspace(row: models.Workspace) -> WorkspaceInfo:
    """A workspace."""
    return WorkspaceInfo(
        id=text(row.id),
        name=text(row.name),
        branch=text(row.branch),
        base_commit_id=text(row.base_commit_id),
        state=text(row.state),
        creator=text(row.creator, ""),
        created=moment(row.creation_date),
        expires=moment(row.expires),
        storage_prefix=text(row.storage_prefix),
        local_path=text(row.local_path, ""),
        message=text(row.message, ""),
        commit_id=text(row.commit_id, "") or None,
        claims=tuple(text(one) for one in row.claims or ()),
        data_paths=tuple(text(one) for one in row.data_paths),
    )


def failures(row: models.ObjectErrorList) -> tuple[ObjectFailure, ...]:
    """The objects that a bulk delete could not delete."""
    return tuple(ObjectFailure(text(e.path, ""), number(e.status_code), text(e.message)) for e in row.errors)


def page(
    from_dict: Callable[[Mapping[str, Any]], Any], convert: Callable[[W], T], after: str
) -> Callable[[Mapping[str, Any]], Page[T]]:
    """Read one page."""

    def parse(body: Mapping[str, Any]) -> Page[T]:
        wire = from_dict(body)
        rows: Iterable[W] = wire.results
        return _page(tuple(convert(row) for row in rows), wire.pagination.to_dict(), after)

    return parse


def listing(body: Mapping[str, Any], convert_row: Callable[[Mapping[str, Any]], T], after: str) -> Page[T]:
    """Read one page, without a generated model for each row."""
    return _page(tuple(map(convert_row, body["results"])), body["pagination"], after)


def _page(items: tuple[T, ...], pagination: Mapping[str, Any], after: str) -> Page[T]:
    if pagination["has_more"] and not items:
        raise ProtocolError("cannot complete the listing: the server returned an empty page, but reports more results")
    return Page(items, following(pagination, after))


def following(pagination: Mapping[str, Any], after: str) -> str | None:
    """Where the next page begins. Raises for a page that has a successor but does not say where it begins: otherwise
    the listing would end too early.
    """
    if not pagination["has_more"]:
        return None
    where = text(pagination["next_offset"])
    if not where or where == after:
        raise ProtocolError(
            f"cannot complete the listing: the server reports more results, but the next page would start at {where!r} "
            f"again (this page: {after!r})"
        )
    return where
