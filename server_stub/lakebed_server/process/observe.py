"""Opens the metrics and the traces of a server: what is shared before the fork, and the rest in each process."""

from __future__ import annotations

import importlib.util
import socket
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed_engine.vocabulary.observer import Observer
from lakebed_format.installation import install_command
from lakebed_wire.operations import OPERATIONS

from lakebed_server.http.request_cycle import Watch
from lakebed_server.metrics.catalogue import catalogue
from lakebed_server.metrics.cells import Cells, layout
from lakebed_server.metrics.counting import Counting
from lakebed_server.monitoring.endpoints import MetricsAccess
from lakebed_server.monitoring.observation import Both, BothWatches, Observation, RequestCounting
from lakebed_server.network.listeners import listen, read_address
from lakebed_server.process.wiring import Components, version
from lakebed_server.s3 import dispatch
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import SettingError, StartError

if TYPE_CHECKING:
    from lakebed_server.monitoring.tracing import Tracing

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
    return Metrics(cells, None if address is None else listen(*address, "metrics.listen"))


@dataclass(frozen=True)
class Begun:
    """What one process observes, from its start."""

    counting: Counting | None = None
    access: MetricsAccess = field(default_factory=MetricsAccess)
    tracing: Tracing | None = None

    @property
    def observer(self) -> Observer | None:
        """Gets the reports of the engine."""
        if self.counting is None or self.tracing is None:
            return self.counting or self.tracing
        return Both(self.counting, self.tracing)

    @property
    def watch(self) -> Watch | None:
        """Gets the reports of requests."""
        counting = None if self.counting is None else RequestCounting(self.counting)
        if counting is None or self.tracing is None:
            return counting or self.tracing
        return BothWatches(counting, self.tracing)

    def close(self) -> None:
        """Send the last spans."""
        if self.tracing is not None:
            self.tracing.close()

    def observation(self, settings: Settings, parts: Components) -> Observation:
        """The observation of a server with these parts."""
        directories = {"data": Path(settings.data_dir), "temporary": Path(tempfile.gettempdir())}
        if settings.objects.local.root:
            directories["objects"] = Path(settings.objects.local.root)
        return Observation(
            counting=self.counting,
            watch=self.watch,
            access=self.access,
            database=Path(settings.kv.sqlite.path) if settings.kv.type == "sqlite" else None,
            directories=directories,
            disk_cache=parts.stores.cache_use,
        )


def begin(settings: Settings, metrics: Metrics | None, number: int) -> Begun:
    """Begin to observe in the process with this number."""
    tracing = _tracing(settings) if settings.tracing.enabled else None
    if metrics is None:
        return Begun(tracing=tracing)
    port = None if metrics.listener is None else metrics.listener.getsockname()[1]
    return Begun(Counting(metrics.cells, number), MetricsAccess(port, settings.metrics.token), tracing)


def check_tracing(settings: Settings) -> None:
    """Raises StartError if the settings want traces and OpenTelemetry is not installed."""
    if settings.tracing.enabled and not _otel_installed():
        raise StartError(f"tracing.enabled needs OpenTelemetry; run: {install_command('otel')}")


def _otel_installed() -> bool:
    names = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    try:
        return all(importlib.util.find_spec(name) is not None for name in names)
    except ModuleNotFoundError:  # of a parent package
        return False


def _tracing(settings: Settings) -> Tracing:
    from lakebed_server.monitoring.tracing import Tracing

    return Tracing(version(), settings.tracing.endpoint)
