"""`lakebed migrate lakefs`: commits, branches, tags and objects of a repository of the shared API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed._bulk.hash_cache import journal_for
from lakebed._migrate.content import ObjectCopier, in_order
from lakebed._migrate.history import parents_first, read_new
from lakebed._migrate.lakefs_api import LakefsRepository
from lakebed._migrate.target import JournalOfContent, Target, target_repository
from lakebed._migrate.values import Changes, Report, SourceCommit, SourceObject
from lakebed.errors import InvalidRequestError

if TYPE_CHECKING:
    from lakebed import Lake

MARK = "lakefs.commit"
"""The metadata key of a migrated commit that holds its id in the source."""

ACTIONS = ("_lakefs_actions/", "_lakebed_actions/")


@dataclass(frozen=True, slots=True)
class Options:
    """`namespace`: for a repository that does not exist. `uncommitted` also brings uncommitted changes.

    `actions` also brings action files. Then the hooks of each migrated commit run while it is migrated.
    """

    namespace: str = ""
    uncommitted: bool = False
    actions: bool = False
    skip_missing: bool = False
    jobs: int = 8


def migrate(
    source: LakefsRepository, lake: Lake, name: str, options: Options, moved: Callable[[int], None] = lambda _: None
) -> Report:
    """Bring what is new in the source into a repository. A second run after an interruption continues the first one.

    Raises LakebedError. What is migrated by then stays.
    """
    if (source.settings.endpoint, source.name) == (lake.settings.endpoint, name):
        raise InvalidRequestError(f"source and destination are the same repository: {source}")
    default = source.default_branch()
    repository = target_repository(lake, name, options.namespace, default)
    report = Report()
    created = str(repository.info().created)
    key = ("migrate", lake.settings.endpoint, name, created, source.settings.endpoint, source.name)
    with journal_for(key, Path("/")) as journal:
        shared = JournalOfContent(journal)
        copier = ObjectCopier(report, shared, jobs=options.jobs, skip_missing=options.skip_missing, moved=moved)
        target = Target(repository, MARK, journal, copier, report)
        target.read()
        _Migration(source, target, options, report).run(default)
        target.finish()
    return report


class _Migration:
    def __init__(self, source: LakefsRepository, target: Target, options: Options, report: Report) -> None:
        self._source = source
        self._target = target
        self._options = options
        self._report = report
        self._empty: set[str] = set()
        """Commits without objects. Everything in their children is new, and a listing is quicker than a diff."""

    def run(self, default: str) -> None:
        branches, tags = self._source.branches(), self._source.tags()
        for name in sorted(branches, key=lambda name: (name != default, name)):
            made = self._bring(branches[name])
            branch = self._target.point_branch(name, made)
            changes = list(self._source.uncommitted(name))
            if changes and branch is not None and self._options.uncommitted:
                objects = self._objects(name, (path for kind, path in changes if kind != "removed"))
                self._target.stage(branch, objects, [path for kind, path in changes if kind == "removed"])
            elif changes:
                why = (
                    "pass --uncommitted to migrate them" if not self._options.uncommitted else "the branch was skipped"
                )
                self._report.leave_out(
                    "uncommitted",
                    name,
                    f"{len(changes)} uncommitted {'change' if len(changes) == 1 else 'changes'}: {why}",
                )
        for name, head in tags.items():
            self._target.point_tag(name, self._bring(head))
        for what, count in self._source.settings_present():
            self._report.leave_out("settings", what, f"{count} in the source: set them in the new repository")

    def _bring(self, head: str) -> str:
        """Migrate a commit and its ancestors. Returns its new id."""
        commits: dict[str, SourceCommit] = {}
        read_new(head, self._source.log(head), commits, self._target.knows)
        self._empty.update(one.id for one in commits.values() if one.is_empty)
        for commit in parents_first(head, commits):
            parents = [self._made(parent) for parent in commit.parents]
            self._target.write(commit, parents, self._changes(commit))
        return self._made(head)

    def _made(self, commit: str) -> str:
        made = self._target.find(commit)
        if made is None:
            raise InvalidRequestError(f"the history of {self._source} does not contain its commit {commit}")
        return made

    def _changes(self, commit: SourceCommit) -> Changes:
        if not commit.parents or commit.parents[0] in self._empty:
            return Changes(one for one in self._source.objects(commit.id) if self._is_wanted(one.path))
        changed: list[str] = []
        removed: list[str] = []
        for kind, path in self._source.changes(commit.parents[0], commit.id):
            if self._is_wanted(path):
                (removed if kind == "removed" else changed).append(path)
        return Changes(self._objects(commit.id, iter(changed)), removed)

    def _objects(self, ref: str, paths: Iterator[str]) -> Iterator[SourceObject]:
        wanted = (path for path in paths if self._is_wanted(path))
        return in_order(self._options.jobs, wanted, partial(self._source.stat, ref))

    def _is_wanted(self, path: str) -> bool:
        if self._options.actions or not path.startswith(ACTIONS):
            return True
        self._report.leave_out("actions", path, "its hooks would run for each migrated commit: upload it afterwards")
        return False
