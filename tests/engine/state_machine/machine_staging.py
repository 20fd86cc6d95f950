"""The rules of the machine that write to a branch, and the rules that reset it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule
from lakebed_engine.operations.objects.stage import new_entry
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import Held

from tests.engine.state_machine.machine_base import (
    PATHS,
    Rows,
    change_of,
    often,
    paths,
    prefixes,
    rows,
    upload_of,
    values,
)
from tests.engine.state_machine.machine_model import Repo
from tests.engine.state_machine.machine_questions import Questions
from tests.engine.state_machine.machine_values import VALUES, Value, value_of
from tests.engine.state_machine.machine_world import CAP
from tests.engine.support import chunked, once

Data = st.DataObject
conditions = often("", seldom=("absent", "etag"))
STEPS = ("write", "push", "seal", "reset", "reset a", "compact")
hot = st.dictionaries(st.sampled_from(PATHS[:4]), st.one_of(values, st.none()), min_size=1, max_size=3)
etags = st.sampled_from([one.checksum for one in VALUES])


class Staging(Questions):
    """Rules that change what is uncommitted."""

    # staging

    @rule(data=st.data(), path=paths, value=values, condition=conditions, etag=etags)
    def upload(self, data: Data, path: str, value: Value, condition: str, etag: str) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        absent, match = condition == "absent", etag if condition == "etag" else None
        request = upload_of(path, value, if_none_match=absent, if_match=match, force=repo.read_only)
        found = self.agree(
            self.engine.objects.upload(repo.name, branch, request, once(value.text.encode())),
            lambda _: repo.write_if(branch, path, value, absent, match),
        )
        if found is not None:
            assert value_of(found.entry) == value
            assert found == self.run(self.engine.objects.locate(repo.name, branch, path))
        self.shown(repo, branch)

    @rule(data=st.data(), changed=rows, twice=often(False, seldom=(True,)))
    def upload_many(self, data: Data, changed: Rows, twice: bool) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        if not twice:
            self.upload_rows(repo, branch, changed)
        else:
            again = [change_of(*row) for row in [*changed.items(), next(iter(changed.items()))]]

            def no(_: object) -> None:
                repo.branch(branch)
                raise errors.InvalidRequestError("twice")

            self.agree(self.engine.objects.upload_many(repo.name, branch, chunked(again), force=repo.read_only), no)
        self.shown(repo, branch)

    @rule(data=st.data(), path=paths, etag=st.one_of(st.none(), etags))
    def delete(self, data: Data, path: str, etag: str | None) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        self.agree(
            self.engine.objects.delete(
                repo.name, branch, path, force=repo.read_only, expected=Held(etag=etag) if etag else None
            ),
            lambda _: repo.write_if(branch, path, None, False, etag),
        )
        self.shown(repo, branch)

    @rule(data=st.data(), chosen=st.lists(st.sampled_from([*PATHS, "", "x" * 1025]), max_size=6))
    def delete_objects(self, data: Data, chosen: list[str]) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        good = {path: None for path in chosen if path in PATHS}
        failures = self.agree(
            self.engine.objects.delete_many(repo.name, branch, chosen, force=repo.read_only),
            lambda _: repo.write(branch, good),
        )
        if failures is not None:
            reported = [(one.path, one.kind) for one in failures]
            assert reported == [(path, "invalid_path") for path in chosen if path not in PATHS]
        self.shown(repo, branch)

    @rule(data=st.data(), path=paths, source=paths, here=st.booleans())
    def copy(self, data: Data, path: str, source: str, here: bool) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        ref = None if here else self.a_ref(data, repo)
        self.agree(
            self.engine.objects.copy(repo.name, branch, path, str(ref or ""), source, force=repo.read_only),
            lambda _: repo.copy(branch, path, ref, source),
        )
        self.shown(repo, branch)

    @rule(data=st.data(), changed=rows)
    def push(self, data: Data, changed: Rows) -> None:
        """A layer; refused when the branch has as many as it may."""
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        self.pushed(repo, branch, changed)
        self.shown(repo, branch)

    @rule(data=st.data(), steps=st.lists(st.tuples(st.sampled_from(STEPS), hot), min_size=2, max_size=6))
    def pile(self, data: Data, steps: list[tuple[str, Rows]]) -> None:
        """Layers over the same few paths."""
        repo = self.a_repo(data)
        branch = data.draw(st.sampled_from(list(repo.branches)), label="branch")
        for what, changed in steps:
            if what == "write":
                self.upload_rows(repo, branch, changed)
            elif what == "push":
                self.pushed(repo, branch, changed)
            elif what == "seal":
                self.run(self.sealed(repo, branch))
            elif what == "reset":
                for path in changed:
                    self.run(self.engine.branches.reset_object(repo.name, branch, path, force=repo.read_only))
                repo.reset(branch, lambda path, chosen=frozenset(changed): path in chosen)  # type: ignore[misc]
            elif what == "reset a":
                self.reset_under(repo, branch, "a")
            else:
                self.run(self.engine.branches.compact(repo.name, branch, least=0))
        self.shown(repo, branch)

    def pushed(self, repo: Repo, branch: str, changed: Rows) -> None:
        async def job() -> object:
            delta = [(path, value and await self._entry(repo, value)) for path, value in changed.items()]
            return await self.engine.branches.push(repo.name, branch, delta, force=repo.read_only)

        self.with_room(repo, branch, job(), lambda: repo.write(branch, changed))

    async def _entry(self, repo: Repo, value: Value) -> Entry:
        address = f"data/2026010100/{self.world.new_id()}"
        await self.world.write(repo.namespace, address, value.text.encode())
        return new_entry(address, value.checksum, len(value.text), 5, value.kind, value.metadata)

    def with_room(self, repo: Repo, branch: str, job: Coroutine[Any, Any, object], effect: Callable[[], None]) -> None:
        """Something that adds a layer, maybe two: at the cap it is refused, one below it may be."""
        if branch not in repo.branches:
            self.agree(job, lambda _: effect())
            return
        count = len(self.run(self.engine.branches.get(repo.name, branch)).layers)
        try:
            self.run(job)
        except errors.BackpressureError:
            assert count >= CAP - 1
            self.loose_layers = True  # it may have been written already
            return
        assert count < CAP
        effect()

    @rule(data=st.data(), least=st.integers(0, 4))
    def compact(self, data: Data, least: int) -> None:
        repo = self.a_repo(data)
        branch = data.draw(st.sampled_from(list(repo.branches)), label="branch")
        before = len(self.run(self.engine.branches.get(repo.name, branch)).layers)
        taken = self.run(self.engine.branches.compact(repo.name, branch, least=least))
        assert taken == before - len(self.run(self.engine.branches.get(repo.name, branch)).layers)
        assert taken or before < max(2, least)
        self.shown(repo, branch)

    # resets

    @rule(data=st.data())
    def reset_branch(self, data: Data) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        self.agree(
            self.engine.branches.reset(repo.name, branch, force=repo.read_only),
            lambda _: repo.reset_all(branch),
        )
        self.shown(repo, branch)

    @rule(data=st.data(), path=paths)
    def reset_object(self, data: Data, path: str) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        self.agree(
            self.engine.branches.reset_object(repo.name, branch, path, force=repo.read_only),
            lambda _: repo.reset(branch, lambda one: one == path),
        )
        self.shown(repo, branch)

    @rule(data=st.data(), prefix=prefixes)
    def reset_prefix(self, data: Data, prefix: str) -> None:
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        self.reset_under(repo, branch, prefix)
        self.shown(repo, branch)

    def reset_under(self, repo: Repo, branch: str, prefix: str) -> None:
        self.with_room(
            repo,
            branch,
            self.engine.branches.reset_prefix(repo.name, branch, prefix, force=repo.read_only),
            lambda: repo.reset(branch, lambda path: path.startswith(prefix)),
        )
