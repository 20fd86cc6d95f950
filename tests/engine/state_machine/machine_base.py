"""The base of the rules of `machine.py`: the engine and the model side by side, draws, and comparisons."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize
from lakebed_engine.tree.manifest import Limits
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import DiffEntry, Listed, Page
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_engine.vocabulary.requests import CommitRequest, Deletion, MergeRequest, UploadRequest
from lakebed_format.keys import COMMITS, DATA, LAYERS, OURS

from tests.engine.state_machine.machine_model import Branch, Model, Repo, same_commit
from tests.engine.state_machine.machine_values import VALUES, Change, Ref, Refused, Value, View, value_of
from tests.engine.state_machine.machine_world import GRACE, LIMITS, World
from tests.engine.support import chunked, once

T = TypeVar("T")

PATHS = ("a", "a/", "a/b", "a//b", "a/b/_SUCCESS", "ab", "b/_SUCCESS", "b/part-0", "z/_SUCCESS", "/x", "..", " ",
         "é", "e\u0301", "\uffff", "\U0001f600/e")  # fmt: skip
"""Prefixes of one another, twins to the eye, names that a file system would not take, both sides of UTF-16's order."""
PREFIXES = ("", "a", "a/", "a/b", "b/", "é", "t/1", "\uffff", "y")
NAMES = ("main", "dev", "ab", "f00", "x-1")
"""Of branches and of tags; two could also begin a commit's id."""
REPOS = ("lake", "pond")
Steps = tuple[tuple[str, int | None], ...]
STEPS: list[Steps] = [
    *[()] * 10, (("~", 1),), (("~", None),), (("^", 0),), (("^", 1), ("~", 0)), (("~", 2), ("^", None)), (("^", 2),),
    (("^", 2), ("~", 1)), (("~", 1), ("^", 2)), (("^", 3),), (("~", 9),),
]  # fmt: skip

paths = st.sampled_from([*PATHS, *PATHS[:5] * 3])
prefixes = st.sampled_from(["", "", "", *PREFIXES])
delimiters = st.sampled_from(["/", "", "/", "//", "b"])
afters = st.sampled_from(["", "", "", *PATHS, "b/", "\U0001f600/"])
amounts = st.sampled_from([1, 1000, 2, 3])
values = st.sampled_from(VALUES)
texts = st.sampled_from(["", "one", "ü"])
strategies = st.sampled_from(["", "dest-wins", "source-wins"])
Rows = dict[str, Value | None]
rows = st.dictionaries(paths, st.one_of(values, st.none()), min_size=1, max_size=5)


def often(*common: T, seldom: tuple[T, ...] = ()) -> st.SearchStrategy[T]:
    """Mostly one of the common ones."""
    return st.sampled_from([*common * 6, *seldom])


class Base(RuleBasedStateMachine):
    """One lake and its model. A subclass may set `root`: then the stores are on disk, below it."""

    root: ClassVar[Path | None] = None
    ended: ClassVar[int] = 0
    """How many machines came to their last checks."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.world = World(self.root)
        self.model = Model()
        self.cache_bytes = 0
        self.always = False
        self.unsaved = False  # the state changed and no snapshot was written
        self.loose_layers = False  # there may be layer files that no record names
        self.engine = self.world.engine(0, False)

    @initialize(
        state=st.dictionaries(st.sampled_from(PATHS), values, min_size=3, max_size=len(PATHS)),
        cache_bytes=st.sampled_from([1 << 22, 1 << 22, 0]),
        always=st.booleans(),
        limits=st.sampled_from(LIMITS),
        rounds=st.lists(st.tuples(rows, rows, strategies), min_size=1, max_size=4),
        apart=rows,
    )
    def begin(self, state: View, cache_bytes: int, always: bool, limits: Limits, rounds: list[Any],
              apart: Rows) -> None:  # fmt: skip
        """A repository with some history: `main` and `dev` went their own ways and met, now here, now there."""
        self.cache_bytes, self.always, self.world.limits = cache_bytes, always, limits
        self.engine = self.world.engine(cache_bytes, always)
        repo = self.make_repo(REPOS[0], "n0", "main", False)
        assert repo is not None
        self.upload_rows(repo, "main", dict(state))
        self.commit_on(repo, "main", CommitRequest(message="begin", committer="ann"))
        self.run(self.engine.branches.create(repo.name, "dev", "main", hidden=not always))
        repo.create_branch("dev", Ref("main"), not always)
        for turn, (one, other, strategy) in enumerate(rounds):
            pair = ("dev", "main") if turn % 2 else ("main", "dev")
            self.meet(repo, *pair, one, other, strategy)
        self.upload_rows(repo, "dev", apart)
        self.commit_on(repo, "dev", CommitRequest(message="apart", committer="ann"))
        self.shown(repo, "dev")

    # the engine and the model

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(job)

    def agree(self, job: Coroutine[Any, Any, T], oracle: Callable[[Any], object]) -> T | None:
        """The engine and the model do the same: both raise the same error (None), or neither."""
        answer: Any
        failed: errors.EngineError | None = None
        wanted: errors.EngineError | None = None
        try:
            answer = self.run(job)
        except errors.EngineError as error:
            failed = error
            answer = Refused(error)
        try:
            oracle(answer)
        except errors.EngineError as error:
            wanted = error
        assert type(failed) is type(wanted), f"the model says {wanted!r}, the engine {failed!r}"
        if isinstance(failed, errors.MergeConflictError) and isinstance(wanted, errors.MergeConflictError):
            assert (failed.conflicts, failed.has_more) == (wanted.conflicts, wanted.has_more)
        return None if failed else answer

    def make_repo(self, name: str, namespace: str, default: str, read_only: bool) -> Repo | None:
        uri = f"{self.world.scheme}://{namespace}"
        made = self.agree(
            self.engine.repositories.create(name, uri, default_branch=default, read_only=read_only),
            lambda _: self.model.create(
                name, uri, default, read_only, lambda: self.run(self.engine.commits.get(name, default))
            ),
        )
        if made is None:
            return None
        sent = (made.name, made.storage_namespace, made.default_branch, made.read_only, made.state)
        assert sent == (name, uri, default, read_only, "active")
        return self.model.repos[name]

    def upload_rows(self, repo: Repo, branch: str, changed: Rows) -> None:
        """Stage all in one batch."""
        found = self.agree(
            self.engine.objects.upload_many(
                repo.name, branch, chunked([change_of(*row) for row in changed.items()]), force=repo.read_only
            ),
            lambda _: repo.write(branch, changed),
        )
        if found is not None:
            sent = [(path, value_of(made.entry)) for path, made in found]
            assert sent == [row for row in changed.items() if row[1] is not None]

    def commit_on(self, repo: Repo, branch: str, request: CommitRequest) -> None:
        now = int(self.world.clock.now())
        self.agree(
            self.engine.commits.create(repo.name, branch, request),
            lambda answer: repo.commit(branch, request, now, answer),
        )

    def meet(self, repo: Repo, source: str, into: str, one: Rows, other: Rows, strategy: str) -> None:
        """Both branches change something, and one is merged into the other."""
        for branch, changed in ((source, one), (into, other)):
            self.upload_rows(repo, branch, changed)
            self.commit_on(repo, branch, CommitRequest(message="", committer="ann", force=repo.read_only))
        request = MergeRequest(committer="bob", strategy=strategy, force=repo.read_only)
        now = int(self.world.clock.now())
        self.agree(
            self.engine.commits.merge(repo.name, source, into, request),
            lambda answer: repo.merge(Ref(source), into, request, now, answer),
        )
        self.shown(repo, into)

    # draws

    def a_repo(self, data: st.DataObject) -> Repo:
        first, *others = self.model.repos
        return self.model.repos[data.draw(st.sampled_from([first, first, first, *others]), label="repo")]

    def a_branch(self, data: st.DataObject, repo: Repo, label: str = "branch") -> str:
        return data.draw(often(*repo.branches, repo.default, seldom=("nope",)), label=label)

    def a_name(self, data: st.DataObject, repo: Repo, *bad: str) -> str:
        """A name for a branch or a tag: new, taken, forbidden or a commit's id."""
        return data.draw(often(*NAMES, seldom=(*bad, next(iter(repo.commits)))), label="name")

    def a_ref(self, data: st.DataObject, repo: Repo, label: str = "ref") -> Ref:
        commits = list(repo.commits)
        known = {
            "branch": list(repo.branches),
            "tag": list(repo.tags),
            "commit": commits,
            "begun": [one[: 1 + index % 63] for index, one in enumerate(commits)],
            "workspace": list(repo.workspaces) or list(repo.branches),
            "none": ["nope", "0" * 64],
        }
        kind = data.draw(
            often("branch", "branch", "branch", "workspace", "tag", "commit", "begun", seldom=("none", "none"))
        )
        base = data.draw(st.sampled_from(known[kind] or commits))
        steps = data.draw(st.sampled_from(STEPS))
        marked = kind in {"branch", "workspace"} and not steps
        mark = data.draw(st.sampled_from(["", "", "", "@", "$"]) if marked else often("", "", seldom=("@", "$")))
        ref = Ref(base, steps, mark)
        data.draw(st.just(str(ref)), label=label)  # for the reader of a failure
        return ref

    # comparisons

    def shown(self, repo: Repo, name: str) -> None:
        """A branch shows what the model says, and the difference from its head is what is uncommitted."""
        if name not in repo.branches:
            return
        branch = repo.branches[name]
        assert self.view(repo, name) == branch.view
        sent = [change_of_row(row) for row in self.run(self.engine.branches.diff(repo.name, name, amount=1000)).items]
        assert sent == repo.changes_of(name)

    def view(self, repo: Repo, ref: str) -> View:
        page = self.run(self.engine.objects.list(repo.name, ref, amount=1000))
        assert not page.has_more
        found = {row.path: value for row in page.items if (value := value_of(row.entry)) is not None}
        assert list(found) == sorted(found, key=lambda path: path.encode())
        return found

    def paged(
        self, page: Callable[[str], Coroutine[Any, Any, Page[T]]], wanted: list[Any], sent: Callable[[T], Any],
        key: Callable[[T], str], after: str, amount: int,
    ) -> None:  # fmt: skip
        """Pages of `amount` rows, one after another, are what is wanted, and the last one says that it is."""
        while True:
            found = self.run(page(after))
            assert [sent(row) for row in found.items] == wanted[:amount]
            assert found.has_more == (len(wanted) > amount)
            if not found.has_more:
                return
            wanted, after = wanted[amount:], key(found.items[-1])

    def everything(self) -> None:
        """All that can be seen of all repositories."""
        listed = self.run(self.engine.repositories.list(amount=1000)).items
        assert [one.name for one in listed] == sorted(self.model.repos)
        for repo in self.model.repos.values():
            branches = self.run(self.engine.branches.list(repo.name, amount=1000, show_hidden=True)).items
            tags = self.run(self.engine.tags.list(repo.name, amount=1000)).items
            assert [branch_of(one) for one in branches] == branches_wanted(repo.branches)
            assert [(one.name, one.commit_id) for one in tags] == sorted(repo.tags.items())
            assert self.run(self.engine.repositories.get_metadata(repo.name)) == repo.metadata
            for one in repo.commits.values():
                same_commit(one, self.run(self.engine.commits.get(repo.name, one.id)))
                assert self.view(repo, one.id) == one.view
            for name in repo.branches:
                self.shown(repo, name)
                self.run(self.readable(repo, name))
            known = self.run(self.engine.workspaces.list(repo.name, amount=1000, state="all")).items
            sent = sorted((one.name, one.state, one.commit_id) for one in known)
            assert sent == sorted((one.name, one.state, one.base) for one in repo.workspaces.values())
            for name in [one.name for one in repo.workspaces.values() if one.state == "open"]:
                self.run(self.readable(repo, name))

    async def readable(self, repo: Repo, ref: str) -> None:
        """The data of every object of a ref is there and is what was written."""
        for row in (await self.engine.objects.list(repo.name, ref, amount=1000)).items:
            assert row.entry is not None
            value = value_of(row.entry)
            async with self.engine.objects.open(repo.name, row.entry) as chunks:
                assert value is not None
                assert b"".join([chunk async for chunk in chunks]).decode() == value.text

    async def clean(self) -> None:
        """What was dropped until now is removed."""
        await self.engine.maintenance.clean()
        self.world.clock.forward(GRACE + 1)
        await self.engine.maintenance.clean()
        assert await self.world.notes() == []

    def checked(self, *, swept: bool = False, data: bool = False) -> None:
        """fsck finds nothing missing and nothing corrupt, and no commit or layer that nothing names.

        Once `swept` no file is left that nothing names; none of `data` either when that was swept, too.
        """
        for repo in self.model.repos.values():
            report = self.run(self.engine.maintenance.fsck(repo.name, FsckOptions(deep=True, orphan_age=-1e9)))
            assert list(report.problems) == []
            assert list(report.unknown) == []
            assert report.counts["commits"] == len(repo.commits)
            folders = [COMMITS] if self.loose_layers else [COMMITS, LAYERS]
            folders += [OURS] * swept + [DATA] * data
            assert [one.key for one in report.orphans if one.key.startswith(tuple(folders))] == []

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None and self.model.repos:
                self.run(self.clean())
                self.everything()
                self.checked()
                Base.ended += 1
        finally:
            self.run(self.world.close())
            self.runner.close()


def change_of(path: str, value: Value | None) -> Any:
    """One change of an `upload_many`."""
    return Deletion(path) if value is None else (upload_of(path, value), once(value.text.encode()))


def upload_of(path: str, value: Value, **conditions: Any) -> UploadRequest:
    return UploadRequest(path=path, content_type=value.kind, metadata=value.metadata, **conditions)


def change_of_row(row: DiffEntry) -> Change:
    return Change(row.type, row.path, value_of(row.left), value_of(row.right))


def listed_as(row: Listed) -> tuple[str, Value | None]:
    return row.path, value_of(row.entry)


def branch_of(one: Any) -> tuple[str, str, bool]:
    return one.name, one.commit_id, one.hidden


def branches_wanted(branches: dict[str, Branch]) -> list[tuple[str, str, bool]]:
    return [(name, one.head, one.hidden) for name, one in sorted(branches.items())]
