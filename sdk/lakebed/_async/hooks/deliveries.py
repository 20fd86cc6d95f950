"""The calls of actions after changes of a repository."""

from __future__ import annotations

from lakebed import _checks
from lakebed._async.http.transport import Transport
from lakebed._gateway.operations import hooks
from lakebed.model import HookDeliveries, HookDelivery


class Deliveries:
    """The calls after changes of one repository that wait or have failed for good: `repo.deliveries`."""

    __module__ = "lakebed.aio"

    def __init__(self, transport: Transport, repository: str) -> None:
        self._transport = transport
        self._repository = repository

    async def list(self, limit: int = 100) -> HookDeliveries:
        """Return deliveries: at most `limit` (up to 1000) that wait, and as many that failed. A call that succeeded is
        a run.

        Raises PermissionDeniedError, InvalidRequestError.

            for delivery in repo.deliveries.list().items:
                print(delivery.id)
        """
        return await self._transport.call(hooks.deliveries(self._repository, limit))

    async def redeliver(self, id: str) -> HookDelivery:
        """Make a failed delivery due again, from its first hook. Its id stays. Raises RunNotFoundError.

        Example:

            repo.deliveries.redeliver(delivery.id)
        """
        checked = _checks.check_name(id, "id of a delivery")
        return await self._transport.call(hooks.redeliver(self._repository, checked))
