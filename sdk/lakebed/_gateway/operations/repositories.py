"""Calls about repositories and their metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, reads, reads_page
from lakebed._values.wire import Call, Subject
from lakebed.model import Page, RepositoryInfo, RepositoryPurge, RepositoryStatistics


def list_page(*, prefix: str, search: str, after: str, amount: int) -> Call[Page[RepositoryInfo]]:
    """One page of repositories."""
    from lakebed_api.api.repositories import list_repositories
    from lakebed_api.models import RepositoryList

    kwargs = list_repositories._get_kwargs(**clean(prefix=prefix, search=search, after=after, amount=amount))
    return call("listRepositories", kwargs, reads_page(RepositoryList.from_dict, convert.repository, after), Subject())


def create(
    repository: str,
    storage_namespace: str,
    default_branch: str,
    *,
    bare: bool,
    read_only: bool,
    sample_data: bool,
    allow_non_empty: bool,
    storage_id: str,
    repeatable: bool,
) -> Call[RepositoryInfo]:
    """Create a repository."""
    from lakebed_api.api.repositories import create_repository
    from lakebed_api.models import Repository, RepositoryCreation

    body = RepositoryCreation(
        name=repository,
        default_branch=default_branch,
        read_only=read_only,
        sample_data=sample_data,
        **clean(
            storage_namespace=storage_namespace,
            allow_non_empty_namespace=allow_non_empty or None,
            storage_id=storage_id or None,
        ),
    )
    return call(
        "createRepository",
        create_repository._get_kwargs(body=body, **clean(bare=bare or None)),
        reads(Repository.from_dict, convert.repository),
        Subject(repository),
        success=201,
        repeat="safe" if repeatable else "unsent",
    )


def get(repository: str) -> Call[RepositoryInfo]:
    """Describe a repository."""
    from lakebed_api.api.repositories import get_repository
    from lakebed_api.models import Repository

    kwargs = get_repository._get_kwargs(repository)
    return call("getRepository", kwargs, reads(Repository.from_dict, convert.repository), Subject(repository))


def statistics(repository: str) -> Call[RepositoryStatistics]:
    """Count the objects of the default branch."""
    from lakebed_api.api.repositories import get_repository_statistics
    from lakebed_api.models import Commit

    def read(body: Mapping[str, Any]) -> RepositoryStatistics:
        size, last = body.get("bytes"), body.get("last_commit")
        return RepositoryStatistics(
            objects=convert.number(body["objects"]),
            bytes=None if size is None else convert.number(size),
            last_commit=None if last is None else convert.commit(Commit.from_dict(last)),
        )

    kwargs = get_repository_statistics._get_kwargs(repository)
    return call("getRepositoryStatistics", kwargs, calls.parser(read), Subject(repository))


def delete(repository: str, *, force: bool) -> Call[None]:
    """Delete a repository."""
    from lakebed_api.api.repositories import delete_repository

    kwargs = delete_repository._get_kwargs(repository, **clean(force=force or None))
    return call("deleteRepository", kwargs, calls.nothing, Subject(repository), success=204)


def purge(repository: str, *, force: bool) -> Call[tuple[RepositoryPurge, bool]]:
    """Delete a repository with its data. Returns the deleted amounts, and whether the deletion is complete."""
    from lakebed_api.api.repositories import delete_repository

    def read(body: Mapping[str, Any]) -> tuple[RepositoryPurge, bool]:
        found = RepositoryPurge(
            repository=repository,
            storage_namespace=str(body["storage_namespace"]),
            deleted=convert.number(body["deleted"]),
            deleted_bytes=convert.number(body["deleted_bytes"]),
            foreign=convert.number(body["foreign"]),
            foreign_example=str(body.get("foreign_example", "")),
        )
        return found, bool(body["done"])

    kwargs = delete_repository._get_kwargs(repository, purge=True, **clean(force=force or None))
    sent = call("deleteRepository", kwargs, calls.parser(read), Subject(repository), slow=True)
    return replace(sent, success=(200, 202))


def get_metadata(repository: str) -> Call[dict[str, str]]:
    """Read the metadata."""
    from lakebed_api.api.repositories import get_repository_metadata
    from lakebed_api.models import RepositoryMetadata

    kwargs = get_repository_metadata._get_kwargs(repository)
    return call(
        "getRepositoryMetadata",
        kwargs,
        reads(RepositoryMetadata.from_dict, convert.mapping),
        Subject(repository),
    )


def set_metadata(repository: str, values: Mapping[str, str]) -> Call[None]:
    """Set some keys. A repeat has no effect."""
    from lakebed_api.api.repositories import set_repository_metadata
    from lakebed_api.models import RepositoryMetadataSet, RepositoryMetadataSetMetadata

    body = RepositoryMetadataSet(metadata=RepositoryMetadataSetMetadata.from_dict(values))
    kwargs = set_repository_metadata._get_kwargs(repository, body=body)
    return call("setRepositoryMetadata", kwargs, calls.nothing, Subject(repository), success=204, repeat="safe")


def delete_metadata(repository: str, keys: Sequence[str]) -> Call[None]:
    """Remove some keys. A repeat has no effect."""
    from lakebed_api.api.repositories import delete_repository_metadata
    from lakebed_api.models import RepositoryMetadataKeys

    kwargs = delete_repository_metadata._get_kwargs(repository, body=RepositoryMetadataKeys(keys=list(keys)))
    return call("deleteRepositoryMetadata", kwargs, calls.nothing, Subject(repository), success=204, repeat="safe")
