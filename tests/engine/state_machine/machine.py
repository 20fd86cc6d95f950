"""A machine that does anything with the engine, in any order, and knows from dictionaries what must come of it.

Hypothesis chooses the rules and their arguments (`PROTOCOL.md` 7.3). Each rule does one thing to the engine and to the
model (`machine_model.py`) and compares the answers, the types of errors, and what the branch then shows. The rules
that change nothing, a restart or a rebuild among them, are in `machine_questions.py`; those about uncommitted changes
in `machine_staging.py`, those about workspaces in `machine_workspaces.py`.

Seams. Hard reset, revert, cherry-pick: a rule next to `merge` here, and a method of `Repo` next to `merge`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import ObjectFailure
from lakebed_engine.vocabulary.requests import CommitRequest, Held, MergeRequest, UploadRequest

from tests.engine.state_machine.machine_base import (
    PATHS,
    REPOS,
    Rows,
    change_of,
    often,
    rows,
    strategies,
    texts,
    values,
)
from tests.engine.state_machine.machine_values import VALUES, Ref, Value
from tests.engine.state_machine.machine_workspaces import Workspaces
from tests.engine.support import chunked, once

Data = st.DataObject


class Machine(Workspaces):
    """Rules that change something."""

    # repositories

    @precondition(lambda self: len(self.model.repos) < len(REPOS))
    @rule(
        name=st.sampled_from(REPOS),
        inside=often("", seldom=("/in",)),
        again=often(False, seldom=(True,)),
        default=often("main", "dev", seldom=("-x",)),
        read_only=st.booleans(),
    )
    def create_repository(self, name: str, inside: str, again: bool, default: str, read_only: bool) -> None:
        number = len(self.model.marked) - again
        repo = self.make_repo(name, f"n{max(number, 0)}{inside}", default, read_only)
        if repo is not None:
            self.shown(repo, default)

    @precondition(lambda self: len(self.model.repos) > 1)
    @rule(data=st.data())
    def delete_repository(self, data: Data) -> None:
        repo = self.a_repo(data)
        self.run(self.engine.repositories.delete(repo.name, force=repo.read_only))
        del self.model.repos[repo.name]

        def gone(_: object) -> None:
            raise errors.RepositoryNotFoundError(repo.name)

        self.agree(self.engine.branches.get(repo.name, repo.default), gone)

    @rule(data=st.data(), values=st.dictionaries(texts, texts, max_size=2), removed=st.lists(texts, max_size=1))
    def metadata(self, data: Data, values: dict[str, str], removed: list[str]) -> None:
        repo = self.a_repo(data)

        def change(_: object) -> None:
            if "" in values:
                raise errors.InvalidRequestError("a key must not be empty")
            if repo.read_only:
                raise errors.ReadOnlyRepositoryError(repo.name)
            repo.metadata.update(values)

        async def job() -> None:
            await self.engine.repositories.set_metadata(repo.name, values)
            await self.engine.repositories.delete_metadata(repo.name, removed)

        if self.agree(job(), change) is None and repo.read_only:
            return
        if "" not in values:
            repo.metadata = {key: value for key, value in repo.metadata.items() if key not in removed}
            self.unsaved = True
        assert self.run(self.engine.repositories.get_metadata(repo.name)) == repo.metadata

    @precondition(lambda self: any(repo.read_only for repo in self.model.repos.values()))
    @rule(data=st.data())
    def refused(self, data: Data) -> None:
        """A read-only repository refuses every change that is not forced."""
        repo = next(repo for repo in self.model.repos.values() if repo.read_only)
        name, main, engine = repo.name, repo.default, self.engine
        request = CommitRequest(message="m", committer="ann", allow_empty=True)
        verbs: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
            "upload": lambda: engine.objects.upload(name, main, UploadRequest(path="a"), once(b"")),
            "upload_many": lambda: engine.objects.upload_many(name, main, chunked([change_of("a", VALUES[0])])),
            "delete": lambda: engine.objects.delete(name, main, "a"),
            "delete if": lambda: engine.objects.delete(name, main, "a", expected=Held(etag="x")),
            "delete_objects": lambda: self.raised(engine.objects.delete_many(name, main, ["a"])),
            "copy": lambda: engine.objects.copy(name, main, "a", "", "a"),
            "push": lambda: engine.branches.push(name, main, [("a", None)]),
            "commit": lambda: engine.commits.create(name, main, request),
            "merge": lambda: engine.commits.merge(name, main, main, MergeRequest(committer="ann", allow_empty=True)),
            "branch": lambda: engine.branches.create(name, "fresh", main),
            "tag": lambda: engine.tags.create(name, "fresh", main),
            "delete branch": lambda: engine.branches.delete(name, "dev"),
            "reset": lambda: engine.branches.reset(name, main),
            "reset object": lambda: engine.branches.reset_object(name, main, "a"),
            "reset prefix": lambda: engine.branches.reset_prefix(name, main, ""),
            "delete repository": lambda: engine.repositories.delete(name),
        }

        def no(_: object) -> None:
            raise errors.ReadOnlyRepositoryError(name)

        self.agree(verbs[data.draw(st.sampled_from(sorted(verbs)), label="verb")](), no)
        self.shown(repo, main)

    async def raised(self, job: Coroutine[Any, Any, list[ObjectFailure]]) -> None:
        """A batch of deletions answers for each path, a branch that takes no changes too: raised here."""
        failures = await job
        assert [(failure.path, failure.kind) for failure in failures] == [("a", errors.ReadOnlyRepositoryError.kind)]
        raise errors.ReadOnlyRepositoryError(failures[0].message)

    # branches and tags

    @rule(data=st.data(), hidden=st.booleans())
    def create_branch(self, data: Data, hidden: bool) -> None:
        repo = self.a_repo(data)
        name, source = self.a_name(data, repo, "-x", "a.b"), self.a_ref(data, repo, "source")
        found = self.agree(
            self.engine.branches.create(repo.name, name, str(source), hidden=hidden, force=repo.read_only),
            lambda _: repo.create_branch(name, source, hidden),
        )
        if found is not None:
            assert (found.name, found.commit_id, found.hidden) == (name, repo.branches[name].head, hidden)
            self.agree(
                self.engine.tags.create(repo.name, name, name, force=repo.read_only),
                lambda _: repo.create_tag(name, Ref(name)),
            )
        self.shown(repo, name)

    @rule(data=st.data())
    def delete_branch(self, data: Data) -> None:
        repo = self.a_repo(data)
        name = self.a_branch(data, repo)
        self.agree(
            self.engine.branches.delete(repo.name, name, force=repo.read_only), lambda _: repo.delete_branch(name)
        )

    @rule(data=st.data(), source=st.data())
    def recreate_branch(self, data: Data, source: Data) -> None:
        """A branch of the same name, somewhere else: nothing of the old one is left."""
        repo = self.a_repo(data)
        name = data.draw(st.sampled_from([one for one in repo.branches if one != repo.default] or [""]), label="branch")
        if not name:
            return
        self.run(self.engine.branches.delete(repo.name, name, force=repo.read_only))
        repo.delete_branch(name)
        commit = data.draw(st.sampled_from(list(repo.commits)), label="commit")
        self.run(self.engine.branches.create(repo.name, name, commit, force=repo.read_only))
        repo.create_branch(name, Ref(commit), False)
        self.shown(repo, name)

    @rule(data=st.data())
    def create_tag(self, data: Data) -> None:
        repo = self.a_repo(data)
        name, ref = self.a_name(data, repo, "@", "a..b", "v1.0"), self.a_ref(data, repo)
        found = self.agree(
            self.engine.tags.create(repo.name, name, str(ref), force=repo.read_only),
            lambda _: repo.create_tag(name, ref),
        )
        if found is not None:
            assert self.run(self.engine.tags.get(repo.name, name)) == found
            assert (found.name, found.commit_id) == (name, repo.tags[name])
            self.agree(
                self.engine.branches.create(repo.name, name, name, force=repo.read_only),
                lambda _: repo.create_branch(name, Ref(name), False),
            )

    @rule(data=st.data())
    def delete_tag(self, data: Data) -> None:
        repo = self.a_repo(data)
        name = data.draw(st.sampled_from([*repo.tags, "nope"]), label="tag")
        self.agree(self.engine.tags.delete(repo.name, name, force=repo.read_only), lambda _: repo.delete_tag(name))

    # commits and merges

    @rule(
        data=st.data(),
        message=texts,
        metadata=st.dictionaries(texts, texts, max_size=2),
        date=st.one_of(st.none(), st.integers(1_700_000_000 - 2, 1_700_000_000 + 2)),
        allow_empty=often(False, seldom=(True,)),
    )
    def commit(self, data: Data, message: str, metadata: dict[str, str], date: int | None, allow_empty: bool) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        request = CommitRequest(
            message=message,
            committer="ann",
            metadata=metadata,
            date=date,
            allow_empty=allow_empty,
            force=repo.read_only,
        )
        self.commit_on(repo, branch, request)
        self.shown(repo, branch)

    @rule(data=st.data(), changed=rows, seconds=st.integers(0, 1))
    def change(self, data: Data, changed: Rows, seconds: int) -> None:
        """Write and commit: what a lake does all day."""
        repo = self.a_repo(data)
        branch = data.draw(st.sampled_from(list(repo.branches)), label="branch")
        self.world.clock.forward(seconds)
        self.upload_rows(repo, branch, changed)
        self.commit_on(repo, branch, CommitRequest(message="change", committer="ann", force=repo.read_only))
        self.shown(repo, branch)

    @rule(
        data=st.data(),
        sizes=st.sampled_from([(26, 6, 1), (26, 6, 1, 1), (6, 1), (6, 1, 26), (30, 5, 5)]),
        written=st.lists(st.one_of(values, st.none()), min_size=3, max_size=3),
    )
    def dwindle(self, data: Data, sizes: tuple[int, ...], written: list[Value | None]) -> None:
        """Ever smaller commits over the same paths: a patch does not absorb a much larger patch."""
        repo = self.a_repo(data)
        branch = data.draw(st.sampled_from(list(repo.branches)), label="branch")
        for turn, size in enumerate(sizes):
            start = data.draw(st.integers(0, 29), label="start")
            names = [f"t/{(start + n) % 30:02}" for n in range(size)]
            self.upload_rows(repo, branch, {name: written[(n + turn) % 3] for n, name in enumerate(names)})
            self.commit_on(repo, branch, CommitRequest(message="", committer="ann", force=repo.read_only))
        self.shown(repo, branch)

    @rule(
        data=st.data(),
        strategy=strategies,
        squash=st.booleans(),
        allow_empty=often(False, seldom=(True,)),
        message=st.sampled_from([None, "", "merge"]),
        after=st.sampled_from(["", "", *PATHS]),
        amount=st.sampled_from([100, 1, 2]),
    )
    def merge(
        self, data: Data, strategy: str, squash: bool, allow_empty: bool, message: str | None, after: str, amount: int
    ) -> None:
        repo = self.a_repo(data)
        source, into = self.a_ref(data, repo, "source"), self.a_branch(data, repo, "destination")
        request = MergeRequest(
            committer="bob", message=message, strategy=strategy, squash=squash, allow_empty=allow_empty,
            force=repo.read_only, conflicts_after=after, conflicts_amount=amount,
        )  # fmt: skip
        now = int(self.world.clock.now())
        self.agree(
            self.engine.commits.merge(repo.name, str(source), into, request),
            lambda answer: repo.merge(source, into, request, now, answer),
        )
        self.shown(repo, into)

    @rule(data=st.data(), one=rows, other=rows, strategy=strategies)
    def diverge(self, data: Data, one: Rows, other: Rows, strategy: str) -> None:
        """Two branches go their own ways, and meet."""
        repo = self.a_repo(data)
        if len(repo.branches) < 2:
            return
        source, into, *_ = data.draw(st.permutations(list(repo.branches)), label="branches")
        self.meet(repo, source, into, one, other, strategy)

    # a rule that has two names is chosen twice as often
    changes = change
    divergence = diverge
    merging = merge
