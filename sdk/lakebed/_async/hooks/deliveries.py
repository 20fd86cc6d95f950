"""The deliveries of a repository: calls of actions after changes."""

from __future__ import annotations

from lakebed import _checks
from lakebed._async.http.pagination import Listing
from lakebed._async.http.transport import Transport
from lakebed._gateway.operations import hooks
from lakebed.model import HookDelivery


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
