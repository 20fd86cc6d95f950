"""The runs of hooks of a repository, and its deliveries: calls of actions after changes."""

from __future__ import annotations

from lakebed import _checks
from lakebed._async.http.pagination import Listing
from lakebed._async.http.transport import Transport
from lakebed._gateway.operations import hooks
from lakebed.errors import InvalidRequestError
from lakebed.model import ActionRun, HookDelivery, HookRun


class Runs:
    """The runs of hooks of one repository: `repo.runs`. Every method raises PermissionDeniedError without permission.

    docs/hooks.md explains actions and hooks.
    """

    __module__ = "lakebed.aio"

    def __init__(self, transport: Transport, repository: str) -> None:
        self._transport = transport
        self._repository = repository

    def list(self, branch: str = "", commit: str = "", limit: int | None = None) -> Listing[ActionRun]:
        """List runs, newest first: of one branch, or of the commit with this id.

            for run in repo.runs.list("main", limit=10):
                print(run.id, run.event, run.state, run.message)

        Raises InvalidRequestError for a branch and a commit.
        """
        _checks.check_text(branch + commit, "branch or commit")
        if branch and commit:
            raise InvalidRequestError("filter runs by branch or by commit, not by both")
        return Listing(
            self._transport,
            lambda after, amount: hooks.runs_page(self._repository, branch, commit, after, amount),
            ActionRun.COLUMNS,
            f"runs of {self._repository}",
            limit=limit,
        )

    async def get(self, id: str) -> ActionRun:
        """Return a run. Raises RunNotFoundError.

        Example:

            print(repo.runs.get(error.run_id).state)
        """
        return await self._transport.call(hooks.get(self._repository, _id(id)))

    def hooks(self, id: str, *, skipped: bool = False, limit: int | None = None) -> Listing[HookRun]:
        """List the hooks of a run, in order. `skipped` includes the hooks that were not called.

            for hook in repo.runs.hooks(error.run_id):
                print(hook.action, hook.hook_id, hook.message, hook.details)

        An unknown run has no hooks.
        """
        checked = _id(id)
        return Listing(
            self._transport,
            lambda after, amount: hooks.hooks_page(self._repository, checked, skipped, after, amount),
            HookRun.COLUMNS,
            f"hooks of {id}",
            limit=limit,
        )

    async def log(self, id: str, hook_run: str) -> str:
        """Return what a hook printed. `hook_run` is the id of the hook in the run. Raises RunNotFoundError.

        Example:

            print(repo.runs.log(run.id, hook.id))
        """
        checked = _checks.check_name(hook_run, "id of a hook run")
        content = await self._transport.call(hooks.log(self._repository, _id(id), checked))
        return content.decode(errors="replace")

    async def run(self, event: str, ref: str, action: str = "", *, branch: str = "") -> ActionRun:
        """Run the actions of an event manually at a ref, or only the one named `action`. Changes nothing else.

            repo.runs.run("pre-merge", "dev", branch="main")

        With `branch`, the rules of this branch apply, as for a change that brings the content of `ref` to it.
        Returns the run, whether or not its hooks passed. Needs `ci:RunAction`. Raises NotFoundError,
        InvalidRequestError, and UnsupportedOperationError when the server runs no hooks.
        """
        _checks.check_text(event + action + branch, "event, action or branch")
        ref = _checks.check_name(ref, "ref")
        return await self._transport.call(hooks.run(self._repository, event, ref, action, branch))

    async def rerun(self, id: str) -> ActionRun:
        """Run the actions of a run again, at the same commit. Returns the new run. Raises as `run` does.

        Example:

            repo.runs.rerun(run.id)
        """
        return await self._transport.call(hooks.rerun(self._repository, _id(id)))


def _id(id: str) -> str:
    return _checks.check_name(id, "id of a run")


class Deliveries:
    """The waiting and the permanently failed deliveries of one repository: `repo.deliveries`."""

    __module__ = "lakebed.aio"

    def __init__(self, transport: Transport, repository: str) -> None:
        self._transport = transport
        self._repository = repository

    def list(self, limit: int | None = None) -> Listing[HookDelivery]:
        """List deliveries: waiting ones by the time of the next attempt, then failed ones.

            for delivery in repo.deliveries.list():
                print(delivery.id, delivery.state, delivery.action)

        A successful delivery is a run. A delivery that is retried while you iterate may be missing or occur twice.
        Raises PermissionDeniedError.
        """
        return Listing(
            self._transport,
            lambda after, amount: hooks.deliveries_page(self._repository, after, amount),
            HookDelivery.COLUMNS,
            f"deliveries of {self._repository}",
            limit=limit,
        )

    async def redeliver(self, id: str) -> HookDelivery:
        """Retry a failed delivery, from its first hook. It keeps its id. Raises RunNotFoundError.

        Example:

            repo.deliveries.redeliver(delivery.id)
        """
        checked = _checks.check_name(id, "id of a delivery")
        return await self._transport.call(hooks.redeliver(self._repository, checked))
