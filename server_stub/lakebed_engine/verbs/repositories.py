"""Repositories, their metadata and their rules. Part of the one door to the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakebed_engine.operations.branch import protection
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.repository import create, delete, lifecycle, sample_data
from lakebed_engine.verbs.base import Verbs
from lakebed_engine.vocabulary.records import (
    Page,
    Repository,
)


class RepositoryVerbs(Verbs):
    """Repositories, their metadata and their rules."""

    async def create_repository(
        self,
        name: str,
        storage_namespace: str,
        *,
        default_branch: str = "main",
        read_only: bool = False,
        bare: bool = False,
        samples_by: str = "",
        allow_non_empty: bool = False,
    ) -> Repository:
        """Make a repository with one empty commit.

        A `bare` one has no commit and no branch. `samples_by`: who commits sample data to it; nobody by default.
        `allow_non_empty`: the namespace may hold other objects; Lakebed leaves them as they are.

        Raises RepositoryExistsError, NamespaceInUseError, NamespaceNotEmptyError.
        """
        wanted = create.NewRepository(name, storage_namespace, default_branch, read_only, bare, allow_non_empty)
        new = await create.create_repository(self._ctx, wanted)
        if samples_by and not bare:
            await sample_data.fill(self._ctx, name, default_branch, samples_by)
        await self._refs_changed(name)
        return new

    async def get_repository(self, name: str) -> Repository:
        """Raises RepositoryNotFoundError."""
        return (await open_repo(self._ctx, name)).record

    async def delete_repository(self, name: str, *, force: bool = False) -> None:
        """Forget a repository; its data in the object store stays."""
        await lifecycle.delete_repository(self._ctx, name, force)

    async def delete_empty_repository(self, name: str) -> str:
        """Forget a repository while no branch of it shows an object and no workspace is open: nobody's write is lost.

        Empty, or what stands in the way: nothing was deleted then.
        """
        return await delete.delete_empty(self._ctx, name)

    async def list_repositories(
        self, *, prefix: str = "", after: str = "", amount: int = 100, search: str = ""
    ) -> Page[Repository]:
        """A page in order of name; `search` is a part of the name."""
        return await lifecycle.list_repositories(self._ctx, prefix, after, amount, search)

    async def get_metadata(self, repo: str) -> dict[str, str]:
        """The repository's metadata map."""
        return await lifecycle.get_metadata(self._ctx, repo)

    async def set_metadata(self, repo: str, values: Mapping[str, str]) -> None:
        """Set keys of the map; the others stay."""
        await lifecycle.change_metadata(self._ctx, repo, values)

    async def delete_metadata(self, repo: str, keys: Sequence[str]) -> None:
        """Remove keys of the map; unknown ones are ignored."""
        await lifecycle.change_metadata(self._ctx, repo, {}, keys)

    async def protection_rules(self, repo: str) -> tuple[str, ...]:
        """The patterns of branches that take no direct changes."""
        return await protection.get_rules(self._ctx, repo)

    async def set_protection_rules(self, repo: str, patterns: Sequence[str], *, if_match: str | None = None) -> None:
        """Replace the rules. Raises PreconditionFailedError when they have not the entity tag `if_match`."""
        await protection.set_rules(self._ctx, repo, patterns, if_match)
        await self._refs_changed(repo)

    async def add_protection_rule(self, repo: str, pattern: str) -> None:
        """Add a rule; nothing happens when it is there."""
        await protection.add_rule(self._ctx, repo, pattern)
        await self._refs_changed(repo)

    async def delete_protection_rule(self, repo: str, pattern: str) -> None:
        """Raises RuleNotFoundError."""
        await protection.delete_rule(self._ctx, repo, pattern)
        await self._refs_changed(repo)
