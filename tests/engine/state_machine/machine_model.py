"""The model of `machine.py`: what a lake holds, as dictionaries, and what each question about it must be answered with.

The model does not use the engine's code. A method that changes something takes the engine's answer (for ids that only
the engine can make), and raises the error that the engine must raise before it reads that answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.requests import CommitRequest, LogRequest, MergeRequest

from tests.engine.state_machine.machine_values import Change, Ref, Refused, Value, View, changes, merged
from tests.engine.state_machine.machine_workspace_model import Workspace

STRATEGY_KEY = ".lakefs.merge.strategy"


class Commit(NamedTuple):
    """One commit with all that it holds."""

    id: str
    parents: tuple[str, ...]
    view: View
    message: str
    committer: str
    metadata: Mapping[str, str]
    date: int
    generation: int


@dataclass
class Branch:
    """A head and what the branch shows: the two differ where something is uncommitted."""

    head: str
    view: View
    hidden: bool = False
    staged: set[str] = field(default_factory=set)
    """Paths at which rows may be staged. Rows that differ from the head are staged; equal rows may have been reset."""


@dataclass
class Repo:
    """One repository."""

    name: str
    namespace: str
    default: str
    read_only: bool
    branches: dict[str, Branch] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    workspaces: dict[str, Workspace] = field(default_factory=dict)
    """By name, closed ones as well."""

    def branch(self, name: str) -> Branch:
        if name not in self.branches:
            raise errors.BranchNotFoundError(name)
        return self.branches[name]

    # what a ref means

    def resolve(self, ref: Ref) -> tuple[Commit, Branch | None]:
        """The commit, and the branch where the expression is one."""
        if ref.steps and ref.mark:
            raise errors.InvalidRefError("a mark behind steps")
        commit_id, branch = self._base(ref.base)
        if ref.mark and branch is None:
            raise errors.InvalidRefError("a mark behind something else than a branch")
        for sign, count in ref.steps:
            commit_id = self._step(commit_id, sign, 1 if count is None else count)
        return self.commits[commit_id], None if ref.steps else branch

    def _base(self, base: str) -> tuple[str, Branch | None]:
        if base in self.commits:
            return base, None
        if base in self.branches:
            return self.branches[base].head, self.branches[base]
        if base in self.workspaces:
            workspace = self.workspaces[base]
            workspace.refuse_closed()
            return workspace.base, Branch(workspace.base, workspace.view(self.commits[workspace.base].view))
        if base in self.tags:
            return self.tags[base], None
        found = [one for one in self.commits if one.startswith(base)]
        if len(found) != 1:
            raise errors.RefNotFoundError(base)
        return found[0], None

    def _step(self, commit_id: str, sign: str, count: int) -> str:
        if sign == "^":
            parents = self.commits[commit_id].parents
            if count > len(parents):
                raise errors.InvalidRefError("no such parent")
            return parents[count - 1] if count else commit_id
        for _ in range(count):
            if not self.commits[commit_id].parents:
                raise errors.RefNotFoundError("past the first commit")
            commit_id = self.commits[commit_id].parents[0]
        return commit_id

    def commit_of(self, ref: Ref) -> Commit:
        """The commit, where a commit is needed."""
        commit, _ = self.resolve(ref)
        if ref.mark == "$":
            raise errors.InvalidRefError("uncommitted")
        return commit

    def shown(self, ref: Ref) -> View:
        """What reads of a ref see: a branch with what is staged, unless `@` says not."""
        commit, branch = self.resolve(ref)
        return commit.view if branch is None or ref.mark == "@" else branch.view

    def find(self, ref: Ref, path: str) -> Value:
        view = self.shown(ref)
        if path not in view:
            raise errors.ObjectNotFoundError(path)
        return view[path]

    # names

    def create_branch(self, name: str, source: Ref, hidden: bool) -> None:
        _check_branch_name(name)
        if name in self.commits or name in self.tags:
            raise errors.NameTakenError(name)
        commit = self.commit_of(source)
        if name in self.branches:
            raise errors.BranchExistsError(name)
        self.branches[name] = Branch(commit.id, dict(commit.view), hidden)

    def delete_branch(self, name: str) -> None:
        self.branch(name)
        if name == self.default:
            raise errors.DefaultBranchError(name)
        del self.branches[name]

    def create_tag(self, name: str, ref: Ref) -> None:
        if name in ("", "@") or ".." in name or "/" in name:
            raise errors.InvalidNameError(name)
        if name in self.commits or name in self.branches:
            raise errors.NameTakenError(name)
        commit = self.commit_of(ref)
        if name in self.tags:
            raise errors.TagExistsError(name)
        self.tags[name] = commit.id

    def delete_tag(self, name: str) -> None:
        if name not in self.tags:
            raise errors.TagNotFoundError(name)
        del self.tags[name]

    # staging

    def write(self, branch: str, rows: Mapping[str, Value | None]) -> None:
        """Stage values and deletions, all or nothing."""
        view = self.branch(branch).view
        self.branches[branch].staged |= rows.keys()
        for path, value in rows.items():
            if value is None:
                view.pop(path, None)
            else:
                view[path] = value

    def write_if(self, branch: str, path: str, value: Value | None, absent: bool, etag: str | None) -> None:
        now = self.branch(branch).view.get(path)
        if etag is not None and now is None:
            raise errors.NothingThereError(path)
        if (absent and now is not None) or (etag is not None and now is not None and now.checksum != etag):
            raise errors.PreconditionFailedError(path)
        self.write(branch, {path: value})

    def copy(self, branch: str, path: str, source: Ref | None, source_path: str) -> None:
        self.branch(branch)
        self.write(branch, {path: self.find(source or Ref(branch), source_path)})

    def reset(self, branch: str, chosen: Callable[[str], bool]) -> None:
        """The chosen paths show what is committed."""
        found = self.branch(branch)
        head = self.commits[found.head].view
        kept = {path: value for path, value in found.view.items() if not chosen(path)}
        found.view = kept | {path: value for path, value in head.items() if chosen(path)}

    def reset_all(self, branch: str) -> None:
        """Nothing is staged."""
        self.reset(branch, lambda path: True)
        self.branches[branch].staged.clear()

    def changes_of(self, branch: str) -> list[Change]:
        """What is uncommitted."""
        found = self.branches[branch]
        return changes(self.commits[found.head].view, found.view)

    def forget_staged(self) -> None:
        """What a rebuild cannot bring back; nor does it know of workspaces."""
        for branch in self.branches.values():
            branch.view = dict(self.commits[branch.head].view)
            branch.staged.clear()
        self.workspaces.clear()

    # commits and merges

    def commit(self, branch: str, request: CommitRequest, now: int, answer: Any) -> None:
        found = self.branch(branch)
        head = self.commits[found.head]
        found.staged.clear()
        if found.view == head.view and not request.allow_empty:
            raise errors.NoChangesError(branch)
        date = now if request.date is None else request.date
        self.add(found, answer, (head,), dict(found.view), request.message, request.committer, request.metadata, date)

    def add(self, branch: Branch, answer: Any, parents: tuple[Commit, ...], view: View, message: str, committer: str,
            metadata: Mapping[str, str], date: int) -> None:  # fmt: skip
        """A commit on top of a branch, which shows just that afterwards."""
        generation = 1 + max((one.generation for one in parents), default=0)
        ids = tuple(one.id for one in parents)
        new = Commit(answer.id, ids, view, message, committer, dict(metadata), date, generation)
        same_commit(new, answer)
        # two branches that do the same in the same second make one commit
        assert self.commits.setdefault(new.id, new) == new
        branch.head, branch.view = new.id, dict(view)

    def base_of(self, one: Commit, other: Commit) -> Commit:
        """Of all common ancestors the one of the greatest generation, of those the one of the smallest id."""
        common = self._ancestors(one.id) & self._ancestors(other.id)
        return min((self.commits[found] for found in common), key=lambda found: (-found.generation, found.id))

    def _ancestors(self, commit_id: str) -> set[str]:
        seen, ahead = set[str](), [commit_id]
        while ahead:
            one = ahead.pop()
            if one not in seen:
                seen.add(one)
                ahead += self.commits[one].parents
        return seen

    def merge(self, source: Ref, destination: str, request: MergeRequest, now: int, answer: Any) -> None:
        """Raises MergeConflictError with all conflicts that the page asks for, and whether there are more."""
        theirs, into = self.commit_of(source), self.branch(destination)
        ours = self.commits[into.head]
        if into.view != ours.view:
            raise errors.DirtyBranchError(destination)
        base = self.base_of(theirs, ours)
        if not request.allow_empty and not request.force:
            # a source that changed something and took it back may count as changed: its files differ
            said = isinstance(answer, Refused) and isinstance(answer.error, errors.NoChangesError)
            if theirs.id == base.id or (theirs.view == base.view and said):
                raise errors.NoChangesError("nothing to merge")
        view, conflicts = merged(base.view, theirs.view, ours.view, request.strategy)
        if conflicts:
            behind = [one for one in conflicts if one.path > request.conflicts_after]
            page = behind[: request.conflicts_amount]
            raise errors.MergeConflictError("conflict", page, len(behind) > len(page))
        message = request.message or f"Merge '{source}' into '{destination}'"
        metadata = {**request.metadata, STRATEGY_KEY: request.strategy or "default"}
        parents = (ours,) if request.squash else (ours, theirs)
        self.add(into, answer, parents, view, message, request.committer, metadata, now)

    # questions

    def log(self, ref: Ref, request: LogRequest, stop_at: Ref | None) -> list[str]:
        """The ids of the whole log, whatever `after` and `amount` say."""
        start = self.commit_of(ref)
        stop = self.commit_of(stop_at).id if stop_at else ""
        found = self._walk(start, request)
        ids = [one.id for one in found]
        if stop in ids:
            found = found[: ids.index(stop) + 1]
        return [one.id for one in found if self._matches(one, request)]

    def _walk(self, start: Commit, request: LogRequest) -> list[Commit]:
        """Children before parents. Of the possible next commits, the newest first; of equal dates, the greatest id."""

        def recent(one: Commit) -> bool:
            return request.since is None or one.date >= request.since

        def parents(one: Commit) -> list[Commit]:
            ids = one.parents[:1] if request.first_parent else one.parents
            return [self.commits[parent] for parent in ids if recent(self.commits[parent])]

        children: Counter[str] = Counter()
        seen: dict[str, Commit] = {}
        ahead = [start] if recent(start) else []
        while ahead:
            one = ahead.pop()
            if one.id not in seen:
                seen[one.id] = one
                ahead += parents(one)
                children.update(parent.id for parent in parents(one))
        found: list[Commit] = []
        while seen:
            one = max((one for one in seen.values() if not children[one.id]), key=lambda one: (one.date, one.id))
            found.append(seen.pop(one.id))
            children.subtract(parent.id for parent in parents(one))
        return found

    def _matches(self, one: Commit, request: LogRequest) -> bool:
        if not request.objects and not request.prefixes:
            return True
        if len(one.parents) != 1:
            return False
        paths = {change.path for change in changes(self.commits[one.parents[0]].view, one.view)}
        return bool(paths & {*request.objects}) or any(path.startswith(tuple(request.prefixes)) for path in paths)

    def diff(self, left: Ref, right: Ref, three_dot: bool) -> list[Change]:
        """The whole diff of two refs."""
        one, _ = self.resolve(left)
        other, branch = self.resolve(right)
        if left.mark == "$" or (right.mark == "$" and three_dot):
            raise errors.InvalidRefError("uncommitted")
        if not three_dot:
            return changes(one.view, branch.view if branch and right.mark == "$" else other.view)
        found = []
        for change in changes(self.base_of(one, other).view, other.view):
            here = one.view.get(change.path)
            if here == change.left:
                found.append(change)
            elif here != change.right:
                found.append(Change("conflict", change.path, here, change.right))
        return found

    def heads(self) -> set[str]:
        """Commits that no branch, tag or commit leads to."""
        named = {*self.tags.values(), *(one.head for one in self.branches.values())}
        return self.commits.keys() - named - {parent for one in self.commits.values() for parent in one.parents}


def same_commit(wanted: Commit, found: Any) -> None:
    """The engine's record of a commit says what the model's does."""
    reported = (found.id, found.parents, found.message, found.committer, found.metadata, found.creation_date)
    assert reported == (wanted.id, wanted.parents, wanted.message, wanted.committer, wanted.metadata, wanted.date)
    assert found.generation == wanted.generation


def _check_branch_name(name: str) -> None:
    if not name or name.startswith("-") or "/" in name or "." in name:
        raise errors.InvalidNameError(name)


@dataclass
class Model:
    """All repositories, and the namespaces that hold data of one, deleted ones included."""

    repos: dict[str, Repo] = field(default_factory=dict)
    marked: set[str] = field(default_factory=set)

    def create(self, name: str, namespace: str, default: str, read_only: bool, first: Callable[[], Any]) -> None:
        """`first` asks the engine for the first commit."""
        _check_branch_name(default)
        if name in self.repos:
            raise errors.RepositoryExistsError(name)
        live = [repo.namespace for repo in self.repos.values()]
        overlaps = any(f"{one}/".startswith(f"{namespace}/") or f"{namespace}/".startswith(f"{one}/") for one in live)
        if overlaps or namespace in self.marked:
            raise errors.NamespaceInUseError(namespace)
        answer = first()
        one = Commit(answer.id, (), {}, "Repository created", "", {}, answer.creation_date, 1)
        same_commit(one, answer)
        self.marked.add(namespace)
        self.repos[name] = Repo(name, namespace, default, read_only, {default: Branch(one.id, {})}, {}, {one.id: one})
