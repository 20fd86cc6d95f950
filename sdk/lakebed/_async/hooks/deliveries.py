"""The calls of actions after changes of a repository."""

from __future__ import annotations

from lakebed import _checks
from lakebed._async.http.pagination import Listing
from lakebed._async.http.transport import Transport
from lakebed._gateway.operations import hooks
from lakebed.model import HookDelivery


class Deliveries:
    """The calls after changes of one repository that wait or have failed for good: `repo.deliveries`."""

    __module__ = "lakebed.aio"

    def __init__(self, transport: Transport, repository: str) -> None:
        self._transport = transport
        self._repository = repository

    def list(self, limit: int | None = None) -> Listing[HookDelivery]:
        """List deliveries: the waiting ones, by the time of the next attempt, then the failed ones.

            for delivery in repo.deliveries.list():
                print(delivery.id, delivery.state, delivery.action)

        A call that succeeded is a run. A call that is tried again while this is read may be missing, or be there twice.
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
        """Make a failed delivery due again, from its first hook. Its id stays. Raises RunNotFoundError.

        Example:

            repo.deliveries.redeliver(delivery.id)
        """
        checked = _checks.check_name(id, "id of a delivery")
        return await self._transport.call(hooks.redeliver(self._repository, checked))
