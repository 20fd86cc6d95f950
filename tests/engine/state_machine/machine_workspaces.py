"""The rules of the machine about workspaces: what one changes is on its branch when it is committed, or nowhere."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from lakebed_engine.operations.branch.view import layers_delta
from lakebed_engine.operations.context import find_workspace, open_repo
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.requests import AdvanceRequest, CommitRequest, WorkspaceRequest

from tests.engine.state_machine.machine_base import Rows, change_of, often, rows
from tests.engine.state_machine.machine_model import Repo
from tests.engine.state_machine.machine_staging import Staging
from tests.engine.state_machine.machine_values import BY_IDENTITY, Ref, Refused, Value, value_of
from tests.engine.state_machine.machine_workspace_model import Workspace, over
from tests.engine.support import chunked

Data = st.DataObject
POLICIES = ("rebase", "rebase", "abort", "overwrite")
GLOBS: list[tuple[str, ...]] = [*[()] * 6, ("*",), ("a/",), ("_SUCCESS",), ("*", "!a/"), ("/a*", "b/"), ("*.none",)]
CLAIMS: list[tuple[str, ...]] = [*[()] * 5, ("a/",), ("b/", "a"), ("é",)]


class Workspaces(Staging):
    """Rules about workspaces."""

    @rule(data=st.data(), claims=st.sampled_from(CLAIMS), message=st.sampled_from(["", "ws"]), elsewhere=st.booleans())
    def create_workspace(self, data: Data, claims: tuple[str, ...], message: str, elsewhere: bool) -> None:
        """On the head of its branch, or on whatever a ref means."""
        repo = self.a_repo(data)
        branch = self.a_branch(data, repo)
        ref = self.a_ref(data, repo) if elsewhere else None
        request = WorkspaceRequest(
            ref=str(ref or branch), branch=branch, creator="ann", claims=claims, message=message, force=repo.read_only
        )

        def make(made: Any) -> None:
            base = repo.commit_of(ref or Ref(branch)).id
            repo.branch(branch)
            assert (made.branch, made.commit_id, made.claims, made.state) == (branch, base, claims, "open")
            repo.workspaces[made.name] = Workspace(made.name, branch, base, message, claims)

        self.agree(self.engine.workspaces.create(repo.name, request), make)

    @precondition(lambda self: self.has_workspaces())
    @rule(data=st.data(), changed=rows, pushed=st.booleans(), more=rows)
    def write_in_workspace(self, data: Data, changed: Rows, pushed: bool, more: Rows) -> None:
        repo, found = self.a_workspace(data)
        self.ws_upload(repo, found, changed)
        if pushed and found.state == "open":
            self.ws_push(repo, found, more)
        self.ws_shown(repo, found)

    @precondition(lambda self: self.has_workspaces())
    @rule(
        data=st.data(),
        policy=st.sampled_from(POLICIES),
        globs=st.sampled_from(GLOBS),
        replaced=often((), seldom=(("a/",), ("a", "b/"), ("y",))),
        allow_empty=often(False, seldom=(True,)),
        message=st.sampled_from(["", "m"]),
    )
    def commit_workspace(
        self,
        data: Data,
        policy: Any,
        globs: tuple[str, ...],
        replaced: tuple[str, ...],
        allow_empty: bool,
        message: str,
    ) -> None:
        repo, found = self.a_workspace(data)
        request = AdvanceRequest(
            committer="ann", message=message, policy=policy, globs=globs, replace_prefix=replaced,
            allow_empty=allow_empty, force=repo.read_only,
        )  # fmt: skip
        self.ws_commit(repo, found, request)
        self.ws_shown(repo, found)
        self.shown(repo, found.branch)

    @rule(
        data=st.data(), mine=rows, theirs=rows, policy=st.sampled_from(POLICIES), claims=st.sampled_from(CLAIMS),
        staged=often(False, seldom=(True, True)),
    )  # fmt: skip
    def race(self, data: Data, mine: Rows, theirs: Rows, policy: Any, claims: tuple[str, ...], staged: bool) -> None:
        """A workspace is written while its branch goes on; then it is committed."""
        repo = self.a_repo(data)
        branch = data.draw(st.sampled_from(list(repo.branches)), label="branch")
        asked = WorkspaceRequest(ref=branch, creator="ann", claims=claims, force=repo.read_only)
        made = self.run(self.engine.workspaces.create(repo.name, asked))
        found = repo.workspaces[made.name] = Workspace(made.name, branch, made.commit_id, "", claims)
        self.ws_upload(repo, found, mine)
        self.upload_rows(repo, branch, theirs)
        if not staged:
            self.commit_all(repo, branch)
        request = AdvanceRequest(committer="ann", policy=policy, force=repo.read_only)
        self.ws_commit(repo, found, request)
        self.ws_shown(repo, found)
        self.shown(repo, branch)

    @precondition(lambda self: self.has_workspaces())
    @rule(data=st.data(), globs=st.sampled_from(GLOBS))
    def revert_workspace(self, data: Data, globs: tuple[str, ...]) -> None:
        repo, found = self.a_workspace(data)

        def revert(_: object) -> None:
            found.refuse_closed()
            chosen = found.chosen(globs)
            found.rows = {path: value for path, value in found.rows.items() if path not in chosen}

        self.agree(self.engine.workspaces.revert(repo.name, found.id, globs, force=repo.read_only), revert)
        self.ws_shown(repo, found)

    @precondition(lambda self: self.has_workspaces())
    @rule(data=st.data())
    def drop_workspace(self, data: Data) -> None:
        repo, found = self.a_workspace(data)

        def drop(_: object) -> None:
            if found.state != "reverted":
                found.refuse_closed()
            found.state, found.rows = "reverted", {}

        self.agree(self.engine.workspaces.delete(repo.name, found.id, force=repo.read_only), drop)

    @rule(data=st.data())
    def stash(self, data: Data) -> None:
        """All uncommitted rows move into a new workspace. The engine reports the rows that equal the head."""
        repo = self.a_repo(data)
        name = self.a_branch(data, repo)
        request = WorkspaceRequest(ref=name, creator="ann", force=repo.read_only)

        def move(made: Any) -> None:
            branch = repo.branch(name)
            said = isinstance(made, Refused) and isinstance(made.error, errors.NoChangesError)
            if not branch.staged or (said and not repo.changes_of(name)):
                raise errors.NoChangesError(name)
            found = Workspace(made.name, name, branch.head)
            head = repo.commits[branch.head].view
            found.rows = self.run(self.raw_rows(repo, found))
            assert over(head, found.rows) == branch.view
            assert found.rows.keys() <= branch.staged
            repo.workspaces[made.name] = found
            repo.reset_all(name)

        self.agree(self.engine.workspaces.stash(repo.name, name, request), move)
        self.shown(repo, name)

    @precondition(lambda self: self.has_workspaces())
    @rule(data=st.data(), elsewhere=st.booleans())
    def pop(self, data: Data, elsewhere: bool) -> None:
        repo, found = self.a_workspace(data)
        onto = self.a_branch(data, repo) if elsewhere else found.branch
        job = self.engine.workspaces.pop(repo.name, found.id, branch=onto if elsewhere else "", force=repo.read_only)

        def put() -> None:
            found.refuse_closed()
            repo.write(onto, found.rows)
            found.state, found.rows = "popped", {}

        if found.state == "open" and found.rows:
            self.with_room(repo, onto, job, put)
        else:
            try:  # a stash of nothing but rows that were reset holds nothing, and may be popped
                self.run(job)
                assert found.state == "open"
                put()
            except (errors.NoChangesError, errors.BackpressureError, errors.BranchNotFoundError):
                assert found.state == "open"
                self.loose_layers = True
            except errors.WorkspaceClosedError:
                assert found.state != "open"
        self.shown(repo, onto)

    # a rule that has two names is chosen twice as often
    racing = race
    workspace_commits = commit_workspace
    workspace_writes = write_in_workspace

    # what the rules share

    def has_workspaces(self) -> bool:
        return any(repo.workspaces for repo in self.model.repos.values())

    def a_workspace(self, data: Data) -> tuple[Repo, Workspace]:
        """Mostly an open workspace, and mostly a new one."""
        every = [(repo, one) for repo in self.model.repos.values() for one in repo.workspaces.values()][::-1]
        live = [pair for pair in every if pair[1].state == "open"] or every
        number = data.draw(st.integers(0, 11), label="workspace")
        return every[number % len(every)] if number == 11 else live[number % len(live)]

    def ws_upload(self, repo: Repo, found: Workspace, changed: Rows) -> None:
        delta = chunked([change_of(*row) for row in changed.items()])

        def write(_: object) -> None:
            found.refuse_closed()
            found.rows |= changed

        self.agree(self.engine.objects.upload_many(repo.name, found.name, delta, force=repo.read_only), write)

    def ws_push(self, repo: Repo, found: Workspace, changed: Rows) -> None:
        async def job() -> object:
            delta = [(path, value and await self._entry(repo, value)) for path, value in changed.items()]
            return await self.engine.branches.push(repo.name, found.name, delta, force=repo.read_only)

        try:
            self.run(job())
        except errors.BackpressureError:
            self.loose_layers = True
        else:
            found.rows |= changed

    def commit_all(self, repo: Repo, branch: str) -> None:
        self.commit_on(repo, branch, CommitRequest(message="theirs", committer="ann", force=repo.read_only))

    def ws_commit(self, repo: Repo, found: Workspace, request: AdvanceRequest) -> None:
        now = int(self.world.clock.now())

        def commit(answer: Any) -> None:
            found.refuse_closed()
            branch = repo.branch(found.branch)
            head, base = repo.commits[branch.head], repo.commits[found.base]
            if not found.rows and not (request.allow_empty or request.replace_prefix or request.globs):
                raise errors.NoChangesError(found.name)
            chosen = found.chosen(request.globs)
            self._dirty(repo, found, request, chosen, answer)
            self._moved(found, request, found.met(base.view, head.view, request.replace_prefix), head.id, answer)
            replaced = request.replace_prefix
            kept = {path: value for path, value in head.view.items() if not (replaced and path.startswith(replaced))}
            made = over(kept, chosen)
            if made == head.view and not request.allow_empty:
                raise errors.NoChangesError(found.name)
            gone: Rows = {path: None for path in head.view if path not in made}
            shown = over(branch.view, {**gone, **chosen})
            said = request.message or found.message or f"Workspace {found.id}"
            repo.add(branch, answer, (head,), made, said, "ann", {}, now)
            branch.view = shown
            rest = {path: value for path, value in found.rows.items() if path not in chosen}
            found.rows = rest if request.globs else {}
            found.base = answer.id if request.globs else found.base
            found.state = "open" if request.globs else "committed"

        self.loose_layers |= bool(request.globs)  # what stays is written before the swap
        self.agree(self.engine.workspaces.commit(repo.name, found.id, request), commit)

    def _dirty(self, repo: Repo, found: Workspace, request: AdvanceRequest, chosen: Rows, answer: Any) -> None:
        """Raises DirtyOverlapError when it must; when a row may be staged that equals the head, as the engine says."""
        claims = (*found.claims, *request.replace_prefix)
        branch = repo.branches[found.branch]
        may = {path for path in branch.staged if path in chosen or (claims and path.startswith(claims))}
        must = {one.path for one in repo.changes_of(found.branch)} & may
        said = isinstance(answer, Refused) and isinstance(answer.error, errors.DirtyOverlapError)
        if must or (may and said):
            if said:
                reported = {one.path for one in answer.error.conflicts}
                assert must <= reported <= may
            raise errors.DirtyOverlapError(found.name)

    def _moved(self, found: Workspace, request: AdvanceRequest, met: set[str], head: str, answer: Any) -> None:
        if found.base == head or request.policy == "overwrite" or not (met or request.policy == "abort"):
            return
        if isinstance(answer, Refused) and isinstance(answer.error, errors.ConcurrentCommitError):
            assert [one.path for one in answer.error.conflicts] == sorted(met)
        raise errors.ConcurrentCommitError(found.name)

    def ws_shown(self, repo: Repo, found: Workspace) -> None:
        """It shows what the model says, and the difference from its base is what it changes."""
        if found.state != "open":
            return
        base = repo.commits[found.base].view
        assert self.view(repo, found.name) == found.view(base)
        page = self.run(self.engine.branches.diff(repo.name, found.name, amount=1000)).items
        reported = {one.path: value_of(one.right) for one in page}
        assert reported == {path: value for path, value in found.rows.items() if base.get(path) != value}

    async def raw_rows(self, repo: Repo, found: Workspace) -> dict[str, Value | None]:
        """All rows in its layers, including rows that equal the base and are in no diff."""
        ctx = self.engine.context
        opened = await open_repo(ctx, repo.name)
        seen = await find_workspace(ctx, opened, found.id)
        assert seen is not None
        result: dict[str, Value | None] = {}
        async for table in layers_delta(ctx, opened, seen.record.layers):
            result |= rows_of(table)
        return result


def rows_of(table: Any) -> dict[str, Value | None]:
    """The rows of a delta."""
    columns = [table.column(name).to_pylist() for name in ("path", "identity", "deleted")]
    return {path: None if gone else BY_IDENTITY[found] for path, found, gone in zip(*columns, strict=True)}
