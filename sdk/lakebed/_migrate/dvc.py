"""`lakebed migrate dvc`: the tracked files of a DVC repository, at each Git commit that changes them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed._bulk.hash_cache import journal_for
from lakebed._migrate.content import ObjectCopier, in_order
from lakebed._migrate.dvc_files import Out, Unsupported, directory_files, tracked
from lakebed._migrate.dvc_stores import ContentStore, content_store
from lakebed._migrate.git_history import GitRepository
from lakebed._migrate.history import parents_first, read_new
from lakebed._migrate.target import JournalOfContent, Target, target_repository
from lakebed._migrate.values import Changes, Report, SourceCommit, SourceObject
from lakebed.errors import ObjectGoneError

if TYPE_CHECKING:
    from lakebed import Lake

MARK = "git.commit"
"""The metadata key of a migrated commit that holds the id of the Git commit."""

Outs = dict[str, Out]


@dataclass(frozen=True, slots=True)
class Options:
    """`namespace`: for a repository that does not exist. `remote`: its name in DVC, by default the default remote."""

    namespace: str = ""
    remote: str = ""
    skip_missing: bool = False
    jobs: int = 8


def migrate(
    top: Path, lake: Lake, name: str, options: Options, moved: Callable[[int], None] = lambda _: None
) -> Report:
    """Bring what is new in a DVC repository. A second run after an interruption continues the first one.

    Raises LakebedError. What is migrated by then stays.
    """
    store = content_store(top, options.remote)
    with GitRepository(top) as git:
        default = _branch_name(git.default_branch())
        repository = target_repository(lake, name, options.namespace, default)
        report = Report()
        key = ("migrate-dvc", lake.settings.endpoint, name, str(repository.info().created))
        with journal_for(key, top) as journal:
            shared = JournalOfContent(journal)
            copier = ObjectCopier(report, shared, jobs=options.jobs, skip_missing=options.skip_missing, moved=moved)
            target = Target(repository, MARK, journal, copier, report)
            target.read()
            _Migration(git, store, target, options, report).run(default)
            target.finish()
    return report


class _Migration:
    def __init__(
        self, git: GitRepository, store: ContentStore, target: Target, options: Options, report: Report
    ) -> None:
        self._git = git
        self._store = store
        self._target = target
        self._options = options
        self._report = report
        self._without: set[str] = set()
        """Commits of Git before the first tracked file: nothing is made of them."""
        self._outs = lru_cache(maxsize=64)(self._read_outs)
        self._files = lru_cache(maxsize=8)(self._read_files)

    def run(self, default: str) -> None:
        branches = self._git.branches()
        names: dict[str, str] = {}
        for name in sorted(branches, key=lambda name: (_branch_name(name) != default, name)):
            new = self._renamed("branch", name, _branch_name(name), names)
            if new and (made := self._bring(branches[name])):
                self._target.point_branch(new, made)
            elif new:
                self._report.leave_out("branch", name, "DVC tracks no file in its history")
        names = {}
        for name, head in self._git.tags().items():
            new = self._renamed("tag", name, re.sub(r"[/:?*\[\\^~]|\.\.|@\{", "-", name), names)
            if new and (made := self._bring(head)):
                self._target.point_tag(new, made)
            elif new:
                self._report.leave_out("tag", name, "DVC tracks no file in its history")
        for path in self._git.changed_files():
            if path.endswith(".dvc") or path.rsplit("/", 1)[-1] == "dvc.lock":
                self._report.leave_out("uncommitted", path, "it is not committed in Git")

    def _renamed(self, kind: str, name: str, new: str, names: dict[str, str]) -> str:
        """The new name of a ref; empty when another ref has it."""
        if (other := names.setdefault(new, name)) != name:
            self._report.leave_out(kind, name, f"its name would be {new!r}, which is taken by {other!r}")
            return ""
        if new != name:
            self._report.renamed[f"{kind} {name}"] = new
        return new

    def _bring(self, head: str) -> str | None:
        """Migrate a commit and its ancestors. Returns its new id; None when nothing is tracked."""
        commits: dict[str, SourceCommit] = {}
        read_new(head, self._git.log(head), commits, self._is_done)
        for commit in parents_first(head, commits):
            self._bring_one(commit)
        return self._target.find(head)

    def _is_done(self, commit: str) -> bool:
        return commit in self._without or self._target.knows(commit)

    def _bring_one(self, commit: SourceCommit) -> None:
        """Migrate a commit whose parents are migrated. Without changes of tracked files it becomes its parent's."""
        made = {parent: found for parent in commit.parents if (found := self._target.find(parent)) is not None}
        new, base = self._outs(commit.id), next(iter(made), None)
        old = self._outs(base) if base is not None else {}
        parents = list(dict.fromkeys(made.values()))
        if new == old and base is None:
            self._without.add(commit.id)
        elif new == old and base is not None and len(parents) == 1:
            self._target.alias(commit.id, made[base])
        else:
            self._target.write(commit, parents, self._changes(old, new))

    def _changes(self, old: Outs, new: Outs) -> Changes:
        before = self._expanded(old[path] for path in old if new.get(path) != old[path])
        after = self._expanded(new[path] for path in new if old.get(path) != new[path])
        changed = [one for path, one in after.items() if before.get(path) != one]
        removed = [path for path in before if path not in after]
        objects = in_order(self._options.jobs, iter(changed), self._object)
        return Changes(objects, removed)

    def _expanded(self, outs: Iterator[Out]) -> dict[str, Out]:
        return {one.path: one for out in outs for one in (self._files(out) if out.is_directory else (out,))}

    def _read_outs(self, commit: str) -> Outs:
        found: Outs = {}
        for one in tracked(self._git.files(commit), self._git.read):
            if isinstance(one, Unsupported):
                self._report.leave_out("object", one.path, one.why)
            else:
                found[one.path] = one
        return found

    def _read_files(self, out: Out) -> tuple[Out, ...]:
        """The files of a tracked directory."""
        try:
            return tuple(directory_files(out, b"".join(self._store.open(out.content, out.path))))
        except ObjectGoneError as error:
            if not self._options.skip_missing:
                raise
            self._report.leave_out("object", out.path + "/", error.message)
            return ()

    def _object(self, one: Out) -> SourceObject:
        content = one.content
        kind = "md5-dos2unix" if content.legacy else "md5"
        if one.in_git:
            data = self._git.read(content.md5)
            md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
            return SourceObject(
                one.path, len(data), md5, lambda: iter([data]), address=f"git:{content.md5}", strict=True
            )
        size = one.size if one.size is not None else self._store.size(content)
        return SourceObject(
            path=one.path,
            size=size,
            checksum=content.md5,
            open=lambda: self._store.open(content, one.path),
            address=f"{kind}:{content.md5}",
            strict=not content.legacy,
        )


def _branch_name(name: str) -> str:
    """The name of a branch in Lakebed: letters, digits, `_` and `-`."""
    return re.sub(r"[^\w-]", "-", name, flags=re.ASCII).lstrip("-") or "main"
