"""The rules of the machine that change nothing one can see: questions, and moments such as a restart or a rebuild."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule
from lakebed_engine.operations.branch.compare_and_swap import seal
from lakebed_engine.operations.context import open_repo, read_branch
from lakebed_engine.tree.manifest import Limits
from lakebed_engine.vocabulary.records import Commit, DiffEntry
from lakebed_engine.vocabulary.reports import SweepOptions
from lakebed_engine.vocabulary.requests import LogRequest
from msgspec.structs import replace

from tests.engine.state_machine.machine_base import (
    REPOS,
    Base,
    afters,
    amounts,
    branch_of,
    branches_wanted,
    change_of_row,
    delimiters,
    listed_as,
    often,
    paths,
    prefixes,
)
from tests.engine.state_machine.machine_model import Repo, same_commit
from tests.engine.state_machine.machine_values import Change, Ref, Value, grouped, value_of
from tests.engine.state_machine.machine_world import GRACE, LIMITS

Data = st.DataObject


class Questions(Base):
    """Rules that ask."""

    @rule(data=st.data(), prefix=prefixes, after=afters, amount=amounts, delimiter=delimiters)
    def list_objects(self, data: Data, prefix: str, after: str, amount: int, delimiter: str) -> None:
        repo = self.a_repo(data)
        ref = self.a_ref(data, repo)
        asked = {"prefix": prefix, "amount": amount, "delimiter": delimiter}
        first = self.engine.objects.list(repo.name, str(ref), after=after, **asked)  # type: ignore[arg-type]
        if self.agree(first, lambda _: repo.shown(ref)) is None:
            return
        every: list[tuple[str, Value | None]] = [*sorted(repo.shown(ref).items())]
        wanted = grouped(every, lambda row: row[0], lambda common: (common, None), prefix, after, delimiter)
        self.paged(
            lambda start: self.engine.objects.list(repo.name, str(ref), after=start, **asked),  # type: ignore[arg-type]
            wanted,
            listed_as,
            lambda row: row.path,
            after,
            amount,
        )

    listing = list_objects  # twice as often

    @rule(data=st.data(), path=paths, start=st.integers(0, 2))
    def read(self, data: Data, path: str, start: int) -> None:
        repo = self.a_repo(data)
        ref = self.a_ref(data, repo)
        entry = self.agree(self.engine.objects.stat(repo.name, str(ref), path), lambda _: repo.find(ref, path))
        if entry is None:
            return
        value = repo.find(ref, path)
        assert value_of(entry) == value
        located, uri = self.run(self.engine.objects.locate(repo.name, str(ref), path))
        assert (located, uri) == (entry, f"{repo.namespace}/{entry.physical_address}")

        async def text() -> bytes:
            begin = min(start, len(value.text))
            async with self.engine.objects.open(repo.name, entry, begin) as chunks:
                return b"".join([chunk async for chunk in chunks])

        assert self.run(text()).decode() == value.text[start:]

    @rule(data=st.data(), prefix=prefixes, after=afters, amount=amounts, delimiter=delimiters)
    def diff_branch(self, data: Data, prefix: str, after: str, amount: int, delimiter: str) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        asked = {"prefix": prefix, "amount": amount, "delimiter": delimiter}
        first = self.engine.branches.diff(repo.name, branch, after=after, **asked)  # type: ignore[arg-type]
        if self.agree(first, lambda _: repo.branch(branch)) is None:
            return
        self.paged(
            lambda start: self.engine.branches.diff(repo.name, branch, after=start, **asked),  # type: ignore[arg-type]
            pages_of(repo.changes_of(branch), prefix, after, delimiter),
            change_of_row,
            lambda row: row.path,
            after,
            amount,
        )

    @rule(data=st.data(), prefix=prefixes, after=afters, amount=amounts, delimiter=delimiters, details=st.booleans())
    def diff_refs(self, data: Data, prefix: str, after: str, amount: int, delimiter: str, details: bool) -> None:
        repo = self.a_repo(data)
        if data.draw(st.booleans(), label="refs"):
            left, right = self.a_ref(data, repo, "left"), self.a_ref(data, repo, "right")
        else:
            commits = st.sampled_from(list(repo.commits)[::-1]).map(Ref)
            left, right = data.draw(st.tuples(commits, commits), label="commits")
        for three_dot in (False, True):
            asked = {"prefix": prefix, "amount": amount, "delimiter": delimiter, "details": details,
                     "mode": "three_dot" if three_dot else "two_dot"}  # fmt: skip
            self.compared(repo, left, right, three_dot, after, asked)
            self.compared(repo, right, left, three_dot, after, asked)

    def compared(self, repo: Repo, left: Ref, right: Ref, three_dot: bool, after: str, asked: dict[str, Any]) -> None:
        """One diff, page by page."""
        names = repo.name, str(left), str(right)
        first = self.engine.commits.diff(*names, after=after, **asked)
        if self.agree(first, lambda _: repo.diff(left, right, three_dot)) is None:
            return

        def reported(row: DiffEntry) -> Change:
            sides = [value_of(one, slim=not asked["details"]) for one in (row.left, row.right)]
            return Change(row.type, row.path, *sides)

        self.paged(
            lambda start: self.engine.commits.diff(*names, after=start, **asked),
            pages_of(repo.diff(left, right, three_dot), asked["prefix"], after, asked["delimiter"]),
            reported,
            lambda row: row.path,
            after,
            asked["amount"],
        )

    @rule(
        data=st.data(),
        amount=amounts,
        objects=often((), seldom=(("a/b",), ("a", "ab"), ("b/_SUCCESS", "é"))),
        under=often((), seldom=(("a",), ("b/", "é"))),
        since=often(None, None, seldom=(-2, 0, 1, 400, 5000)),
    )
    def log(self, data: Data, amount: int, objects: tuple[str, ...], under: tuple[str, ...], since: int | None) -> None:
        repo = self.a_repo(data)
        ref = self.a_ref(data, repo)
        stop = self.a_ref(data, repo, "stop_at") if data.draw(often(False, seldom=(True,))) else None
        for first_parent in (False, True):
            request = LogRequest(
                amount=amount, objects=objects, prefixes=under, first_parent=first_parent,
                since=None if since is None else 1_700_000_000 + since, stop_at=str(stop) if stop else "",
            )  # fmt: skip
            self.logged(repo, ref, request, stop)

    def logged(self, repo: Repo, ref: Ref, request: LogRequest, stop: Ref | None) -> None:
        """A log, limited and page by page."""
        found = self.agree(
            self.engine.commits.log(repo.name, str(ref), replace(request, limit=True)),
            lambda _: repo.log(ref, request, stop),
        )
        if found is None:
            return
        wanted = repo.log(ref, request, stop)
        assert ([one.id for one in found.items], found.has_more) == (wanted[: request.amount], False)

        def reported(one: Commit) -> str:
            same_commit(repo.commits[one.id], one)
            return one.id

        self.paged(
            lambda after: self.engine.commits.log(repo.name, str(ref), replace(request, after=after)),
            wanted,
            reported,
            lambda one: one.id,
            "",
            request.amount,
        )

    @rule(data=st.data())
    def merge_base(self, data: Data) -> None:
        repo = self.a_repo(data)
        one, other = self.a_ref(data, repo, "source"), self.a_ref(data, repo, "destination")
        found = self.agree(
            self.engine.commits.merge_base(repo.name, str(one), str(other)),
            lambda _: repo.base_of(repo.commit_of(one), repo.commit_of(other)),
        )
        if found is not None:
            commits = repo.commit_of(one), repo.commit_of(other)
            reported = found.source_id, found.destination_id, found.base_id
            assert reported == (commits[0].id, commits[1].id, repo.base_of(*commits).id)

    @rule(data=st.data())
    def get_commit(self, data: Data) -> None:
        repo = self.a_repo(data)
        ref = self.a_ref(data, repo)
        found = self.agree(self.engine.commits.get(repo.name, str(ref)), lambda _: repo.commit_of(ref))
        if found is not None:
            same_commit(repo.commit_of(ref), found)

    @rule(data=st.data(), prefix=st.sampled_from(["", "", "d", "m", "f0"]), after=st.sampled_from(["", "", "d", "dev"]),
          amount=amounts, hidden=st.booleans())  # fmt: skip
    def list_names(self, data: Data, prefix: str, after: str, amount: int, hidden: bool) -> None:
        repo = self.a_repo(data)
        rows = [
            one
            for one in branches_wanted(repo.branches)
            if one[0].startswith(prefix) and one[0] > after and (hidden or not one[2])
        ]
        self.paged(
            lambda start: self.engine.branches.list(
                repo.name, prefix=prefix, after=start, amount=amount, show_hidden=hidden
            ),
            rows,
            branch_of,
            lambda one: one.name,
            after,
            amount,
        )
        self.paged(
            lambda start: self.engine.tags.list(repo.name, prefix=prefix, after=start, amount=amount),
            [one for one in sorted(repo.tags.items()) if one[0].startswith(prefix) and one[0] > after],
            lambda one: (one.name, one.commit_id),
            lambda one: one.name,
            after,
            amount,
        )

    @rule(prefix=st.sampled_from(["", "l", "p"]), search=st.sampled_from(["", "on", "k"]), amount=amounts)
    def list_repositories(self, prefix: str, search: str, amount: int) -> None:
        self.paged(
            lambda start: self.engine.repositories.list(prefix=prefix, after=start, amount=amount, search=search),
            [one for one in REPOS if one in self.model.repos and one.startswith(prefix) and search in one],
            lambda one: one.name,
            lambda one: one.name,
            "",
            amount,
        )

    # moments

    @rule(
        moment=st.sampled_from(["wait", "clean", "maintain", "snapshot", "fsck", "rebuild"]),
        seconds=st.sampled_from([1, 60, 301, 4000]),
    )
    def moment(self, moment: str, seconds: int) -> None:
        """One rule for them all: Hypothesis likes rules without arguments too well."""
        self.world.clock.forward(seconds)
        self.run(self.engine.maintenance.clean())
        if self.always:
            self.snapshot()
        if moment == "clean":
            self.run(self.clean())
        elif moment == "maintain":
            self.run(self.engine.maintenance.compact())
        elif moment == "snapshot":
            self.snapshot()
        elif moment == "fsck":
            self.checked()
        elif moment == "rebuild":
            self.rebuild()

    @rule(data=st.booleans())
    def sweep(self, data: bool) -> None:
        """Nothing that anything names is taken, however young it is, and nothing is left that nothing names."""
        self.run(self.clean())
        done = self.run(self.engine.maintenance.sweep("", SweepOptions(data=data, grace=GRACE, age=-1e9)))
        assert (list(done.failures), list(done.skipped)) == ([], [])
        assert sum(one.found - one.deleted for one in done.reports) == 0
        self.loose_layers = False
        self.checked(swept=True, data=data)

    @rule(cache_bytes=st.sampled_from([0, 20_000, 1 << 22]), limits=st.sampled_from(LIMITS))
    def restart(self, cache_bytes: int, limits: Limits) -> None:
        """Another process, perhaps of a version that cuts trees in another way: nothing is remembered."""
        self.cache_bytes, self.world.limits = cache_bytes, limits
        self.run(self.world.restart())
        self.engine = self.world.engine(cache_bytes, self.always)

    @rule(data=st.data())
    def half_a_commit(self, data: Data) -> None:
        """A commit that died between its seal and its swap."""
        repo = self.a_repo(data)
        branch = data.draw(st.sampled_from(list(repo.branches)), label="branch")
        self.run(self.sealed(repo, branch))
        self.shown(repo, branch)

    async def sealed(self, repo: Repo, branch: str) -> None:
        ctx = self.engine.context
        found = await open_repo(ctx, repo.name)
        assert await seal(ctx, found, await read_branch(ctx, found, branch)) is not None

    def snapshot(self) -> None:
        """A pass of ref snapshots; an engine that always writes them has nothing left to write."""
        done = self.run(self.engine.maintenance.snapshot_refs())
        assert done.failures == []
        assert not (self.always and done.written) or self.unsaved
        self.unsaved = False

    def rebuild(self) -> None:
        """The KV store is lost: what was committed comes back from the bucket, and the lake goes on from there."""
        if not self.always or self.unsaved:
            self.snapshot()
        self.run(self.world.lose_kv())
        self.engine = self.world.engine(self.cache_bytes, self.always)
        for repo in self.model.repos.values():
            report = self.run(self.engine.maintenance.rebuild(repo.namespace))
            assert list(report.problems) == []
            reported = report.repository, report.commits, report.branches, report.tags
            assert reported == (repo.name, len(repo.commits), len(repo.branches), len(repo.tags))
            assert {one.id for one in report.heads} == repo.heads()
            repo.forget_staged()
        self.loose_layers = True
        self.everything()


def pages_of(found: list[Change], prefix: str, after: str, delimiter: str) -> list[Change]:
    """The rows of a diff as its pages return them."""
    return grouped(
        found, lambda row: row.path, lambda common: Change("prefix_changed", common), prefix, after, delimiter
    )
