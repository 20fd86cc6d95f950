"""Opens the metrics of a server: their memory and their listener before the fork, and their counts in each process."""

from __future__ import annotations

import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lakebed_engine.vocabulary.observer import Observer
from lakebed_wire.operations import OPERATIONS

from lakebed_server.metrics.catalogue import catalogue
from lakebed_server.metrics.cells import Cells, layout
from lakebed_server.metrics.counting import Counting
from lakebed_server.monitoring.endpoints import MetricsAccess
from lakebed_server.monitoring.observation import Observation
from lakebed_server.network.listeners import listen, read_address
from lakebed_server.process.wiring import Components
from lakebed_server.s3 import dispatch
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import SettingError

SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Metrics:
    """What all processes share. `listener`: the listener of the metrics, if they have one."""

    cells: Cells
    listener: socket.socket | None


def operation_ids() -> list[str]:
    """The ids of all operations: of the REST API, and of the S3 gateway with `s3:` before them."""
    s3 = {f"s3:{route.name}" for route in dispatch.ROUTES.values() if ":" not in route.name}
    return sorted({one.operation_id for one in OPERATIONS} | s3 | {"s3:CopyObject"})


def open_metrics(settings: Settings, processes: int) -> Metrics | None:
    """The memory and the listener of the metrics, before the fork. None: they are off. Raises StartError."""
    address = read_address("metrics.listen", settings.metrics.listen)
    token = settings.metrics.token
    if token and len(token) < SHORTEST_TOKEN:
        raise SettingError(f"metrics.token has {len(token)} characters: give it at least {SHORTEST_TOKEN}")
    if address is None and not token:
        return None
    if address is not None and address[1] and address[1] == settings.listen.port:
        raise SettingError(f"metrics.listen: port {address[1]} is that of listen.port; choose another one")
    cells = Cells(layout(catalogue(operation_ids())), processes)
    return Metrics(cells, None if address is None else listen(*address))


@dataclass(frozen=True)
class Begun:
    """What one process observes, from its start."""

    counting: Counting | None
    access: MetricsAccess

    @property
    def observer(self) -> Observer | None:
        """Gets the reports of the engine."""
        return self.counting

    def observation(self, settings: Settings, parts: Components) -> Observation:
        """The observation of a server with these parts."""
        directories = {"data": Path(settings.data_dir), "temporary": Path(tempfile.gettempdir())}
        if settings.objects.local.root:
            directories["objects"] = Path(settings.objects.local.root)
        return Observation(
            counting=self.counting,
            access=self.access,
            database=Path(settings.kv.sqlite.path) if settings.kv.type == "sqlite" else None,
            directories=directories,
            disk_cache=parts.stores.cache_use,
        )


def begin(settings: Settings, metrics: Metrics | None, number: int) -> Begun:
    """Begin to observe in the process with this number."""
    if metrics is None:
        return Begun(None, MetricsAccess())
    port = None if metrics.listener is None else metrics.listener.getsockname()[1]
    return Begun(Counting(metrics.cells, number), MetricsAccess(port, settings.metrics.token))
