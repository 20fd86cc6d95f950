"""The repository that a migration writes to.

The server computes the files of a commit from staged changes. Committer, date and parents of such a commit are the
server's, so the commit is made twice: first on a hidden branch, for its files, and then as a record with the texts and
the parents of the source. Each record names its source commit in its metadata: a later run finds by it what is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakebed_format import CommitRecord, commit_id

from lakebed._bulk.hash_cache import Memory
from lakebed._migrate.content import ObjectCopier
from lakebed._migrate.history import read_new
from lakebed._migrate.values import Changes, Report, SourceCommit, SourceObject
from lakebed.errors import AlreadyExistsError, DirtyBranchError, InvalidRequestError, LakebedError, NotFoundError
from lakebed.model import Commit

if TYPE_CHECKING:
    from lakebed import Branch, Lake, Repository

HIDDEN_BRANCH = "lakebed-migration"
"""The branch on which the files of commits are made. It exists while a migration runs, or after an interruption."""

_EMPTY = CommitRecord((), "", "Repository created", 0, "")


def target_repository(lake: Lake, name: str, namespace: str, default_branch: str) -> Repository:
    """The repository, made without a branch if it does not exist. Raises InvalidRequestError without a namespace."""
    repository = lake.repository(name)
    try:
        repository.info()
    except NotFoundError:
        if not namespace:
            raise InvalidRequestError(
                f"repository {name!r} does not exist: pass --namespace to create it, "
                f"for example --namespace local://{name}"
            ) from None
        repository.create(namespace, default_branch, bare=True)
    return repository


class JournalOfContent:
    """Where content was migrated before: rows `object:<identity>` of a journal."""

    def __init__(self, journal: Memory) -> None:
        self._journal = journal

    def find(self, identity: str) -> tuple[str, str] | None:
        """The commit and the path of an object with this identity."""
        commit, _, path = self._journal.fact(f"object:{identity}").partition(" ")
        return (commit, path) if path else None


class Target:
    """Writes commits, branches and tags. `mark`: the metadata key that holds the id of the source commit."""

    def __init__(
        self, repository: Repository, mark: str, journal: Memory, copier: ObjectCopier, report: Report
    ) -> None:
        self._repository = repository
        self._mark = mark
        self._journal = journal
        self._copier = copier
        self._report = report
        self._hidden = repository.branch(HIDDEN_BRANCH)
        self._made: dict[str, str] = {}
        self._generations: dict[str, int] = {}
        self._at: str | None = None
        """The source commit whose content the hidden branch shows; None: unknown."""

    def read(self) -> None:
        """Read which commits earlier runs have migrated, from branches and tags."""
        seen: dict[str, Commit] = {}
        heads = [ref.commit_id for ref in (*self._repository.branches(hidden=True), *self._repository.tags())]
        for head in dict.fromkeys(heads):
            read_new(head, self._repository.ref(head).log(), seen)
        for commit in seen.values():
            self._generations[commit.id] = commit.generation
            if source := commit.metadata.get(self._mark):
                self._made[source] = commit.id
        self._report.commits_before = len(self._made)

    def find(self, source_id: str) -> str | None:
        """The id of a migrated commit. A commit that no branch shows yet is found by the journal."""
        if (made := self._made.get(source_id)) is not None:
            return made
        made = self._journal.fact(f"commit:{source_id}")
        if not made:
            return None
        try:
            self._generations[made] = self._repository.commit(made).generation
        except NotFoundError:
            return None
        self._made[source_id] = made
        return made

    def knows(self, source_id: str) -> bool:
        """Whether a commit was migrated."""
        return self.find(source_id) is not None

    def alias(self, source_id: str, made: str) -> None:
        """Let a source commit without changes have the migrated commit of its parent."""
        self._made[source_id] = made

    def write(self, commit: SourceCommit, parents: Iterable[str], changes: Changes) -> str:
        """Migrate a commit whose parents are migrated. `parents` are ids of migrated commits. Returns its new id.

        Raises what `ObjectCopier.put` raises, HookRefusedError, InvalidRequestError.
        """
        ids = tuple(parents)
        staged = self._go_to(ids[0] if ids else self._empty())
        written = self._copier.put(self._hidden, changes.objects, staged)
        self._hidden.delete_many(changes.removed)
        tree = self._hidden.commit(f"files of {commit.id}", allow_empty=True)
        made = self._record(
            CommitRecord(
                ids,
                commit.committer,
                commit.message,
                commit.created,
                tree.metarange_id,
                {**commit.metadata, self._mark: commit.id},
                1 + max((self._generation(one) for one in ids), default=0),
            )
        )
        self._made[commit.id] = self._at = made
        places = {f"object:{one.identity}": f"{made} {one.path}" for one in written if one.identity}
        self._journal.note(**{f"commit:{commit.id}": made, "at": made, **places})
        self._report.commits += 1
        return made

    def _record(self, record: CommitRecord) -> str:
        made = Commit(
            id=commit_id(record),
            parents=record.parents,
            message=record.message,
            committer=record.committer,
            created=datetime.fromtimestamp(record.creation_date, UTC),
            metadata=record.metadata,
            generation=record.generation,
            metarange_id=record.metarange_id,
        )
        self._repository.add_commit(made)
        self._generations[made.id] = made.generation
        return made.id

    def _empty(self) -> str:
        return self._record(_EMPTY)

    def _generation(self, made: str) -> int:
        if made not in self._generations:
            self._generations[made] = self._repository.commit(made).generation
        return self._generations[made]

    def _go_to(self, made: str) -> set[str]:
        """Let the hidden branch show a commit. Returns the paths that an interrupted run has staged on top of it."""
        if self._at == made:
            return set()
        if self._at is None:
            try:
                self._hidden.info()
            except NotFoundError:
                self._hidden.create(made, hidden=True)
            else:
                if self._journal.fact("at") == made:
                    self._at = made
                    return {change.path for change in self._hidden.uncommitted()}
                self._hidden.reset()
        self._journal.note(at="")
        self._hidden.hard_reset(made)
        self._journal.note(at=made)
        self._at = made
        return set()

    def point_branch(self, name: str, made: str) -> Branch | None:
        """Create or move a branch. None: it was left out, and the report says why.

        A branch that has commits of another origin stays as it is.
        """
        branch = self._repository.branch(name)
        try:
            head = branch.info().commit_id
        except NotFoundError:
            done = self._tried("branch", name, lambda: branch.create(made))
        else:
            if head == made:
                done = True
            elif head in self._made.values() or self._is_new(head):
                done = self._tried("branch", name, lambda: branch.hard_reset(made))
            else:
                self._report.leave_out("branch", name, "it has commits in this repository that are not from the source")
                done = False
        if done:
            self._report.branches.append(name)
        return branch if done else None

    def _is_new(self, head: str) -> bool:
        """Whether a commit is the first one of a repository, without content."""
        found = self._repository.commit(head)
        return not found.parents and not found.metarange_id

    def point_tag(self, name: str, made: str) -> None:
        """Create a tag, unless it exists."""
        tag = self._repository.tag(name)
        try:
            there = tag.info().commit_id
        except NotFoundError:
            done = self._tried("tag", name, lambda: tag.create(made))
        else:
            done = there == made
            if not done:
                self._report.leave_out("tag", name, f"it exists in this repository, on commit {there[:12]}")
        if done:
            self._report.tags.append(name)

    def _tried(self, kind: str, name: str, change: Callable[[], object]) -> bool:
        """Whether a ref could be changed. What the server refuses for the name or the rules of a ref is left out."""
        try:
            change()
        except DirtyBranchError:
            self._report.leave_out(kind, name, "it has uncommitted changes in this repository")
            return False
        except LakebedError as error:
            if not isinstance(error, AlreadyExistsError | InvalidRequestError) and error.kind != "protected_branch":
                raise
            self._report.leave_out(kind, name, error.reason)
            return False
        return True

    def stage(self, branch: Branch, objects: Iterable[SourceObject], removed: Iterable[str]) -> None:
        """Write uncommitted changes of the source to a branch, where they are uncommitted too."""
        self._copier.put(branch, objects, {change.path for change in branch.uncommitted()})
        branch.delete_many(removed)

    def finish(self) -> None:
        """Delete the hidden branch: all commits are reachable from branches and tags."""
        self._journal.note(at="")
        try:
            self._hidden.drop()
        except NotFoundError:
            pass
