"""Runs the server: starts it from settings, and stops it without losing requests.

It uses uvicorn with httptools and uvloop. Several processes may share a store, and with `--workers` a port (`workers`).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import math
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import uvicorn
from lakebed_engine.vocabulary.reports import ScrubOptions, SweepOptions

from lakebed_server.auth.records import Credential
from lakebed_server.bounds import connections
from lakebed_server.bounds.connections import Address, Connections
from lakebed_server.monitoring.observation import Observation
from lakebed_server.network import hangup
from lakebed_server.network.clients import read_proxies
from lakebed_server.network.listeners import Listeners, clear_text, endpoint_of, listen_all, s3_port
from lakebed_server.network.tls import Tls, open_tls
from lakebed_server.process import announcement, data_directory, logs, observe, wiring, workers
from lakebed_server.process.app import LAST_WRITES, App, create_app
from lakebed_server.process.server import Server
from lakebed_server.rest.operation_handlers import Handler
from lakebed_server.s3.config import S3Config, read_config
from lakebed_server.settings.schema import Settings
from lakebed_server.transport.protocol import Protocol
from lakebed_server.vocabulary import SettingError

log = logging.getLogger("lakebed.server")

KEEP_ALIVE_SECONDS = 75  # longer than our clients keep a connection, so that no request meets a closing connection

Say = Callable[[str], None]
Announce = Callable[[announcement.Started], None]


def run(settings: Settings, say: Say, announce: Announce, count: int = 1) -> None:
    """Serve until SIGTERM or SIGINT, in `count` processes. `say` gets warnings.

    `announce` gets the addresses when the server accepts connections. Raises StartError.
    """
    hangup.hold()
    tls = open_tls(settings.listen.tls)
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(listener) for listener in listen_all(settings, _s3_config(settings).listen)]
        metrics = observe.open_metrics(settings, count)
        observe.check_tracing(settings)
        if metrics is not None and metrics.listener is not None:
            stack.enter_context(metrics.listener)
        opened = _Opened(listeners, tls, metrics)
        if stack.enter_context(data_directory.in_use(settings)):
            say(
                f"lakebed: warning: another server runs on the data directory {settings.data_dir}: both serve the same "
                "lake; for a separate lake, give another --data-dir"
            )
        if count == 1:
            _work(settings, opened, 0, lambda admin: announce(_started(settings, admin, opened)))
            return
        if settings.kv.type == "memory":
            raise SettingError("--workers needs a KV store that processes can share; kv.type is memory")
        # before the workers start, so that the admin's key is made, and shown, only once
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            admin = runner.run(_first_admin(settings))
        workers.run(
            count,
            lambda ready, number: _work(settings, opened, number, lambda _: ready()),
            lambda: announce(_started(settings, admin, opened, count)),
            say,
        )


class _Opened(NamedTuple):
    """What is opened before the fork, for all processes."""

    listeners: Listeners
    tls: Tls | None
    metrics: observe.Metrics | None


def _work(settings: Settings, opened: _Opened, number: int, on_ready: Callable[[Credential | None], None]) -> None:
    """Run one server process: the one with this number, from 0."""
    style: Literal["text", "json"] = "json" if settings.logging.format == "json" else "text"
    connections.raise_limit()
    log_handler = logs.configure(style, settings.logging.level, settings.logging.output)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(settings, opened, number, log_handler, on_ready))


async def _first_admin(settings: Settings) -> Credential | None:
    parts = await wiring.build(settings)
    await parts.close()
    return parts.first_admin


async def _serve(
    settings: Settings,
    opened: _Opened,
    number: int,
    log_handler: logs.LogHandler | None,
    on_ready: Callable[[Credential | None], None],
) -> None:
    listeners, tls, metrics = opened
    seen = observe.begin(settings, metrics, number)
    parts = await wiring.build(settings, observer=seen.observer)
    if settings.durability == "process":
        log.warning(
            "durability is process: SQLite and local:// are not synced, and a power failure can lose or damage any "
            "repository; to keep data, restart it with LAKEBED_DURABILITY=disk"
        )
    for sentence in data_directory.open_to_others(settings):
        log.warning(sentence)
    if tls is None:
        for sentence in clear_text(listeners):
            log.warning(sentence)
    observation = seen.observation(settings, parts)
    app = application(settings, parts, s3_port=s3_port(listeners), observation=observation)
    connections = open_connections(settings)
    server = Server(
        http_config(app, settings, connections),
        lambda: on_ready(parts.first_admin),
        functools.partial(_drain, app, settings),
        functools.partial(_stop, app, number),
        None if tls is None else (tls, connections),
    )

    _handle_signals(server, log_handler, tls)
    log.info("the server starts", extra={"fields": _start_fields(settings, listeners, number)})
    sockets = list(listeners)
    if metrics is not None and metrics.listener is not None:
        sockets.append(metrics.listener)
    await server.serve(sockets=sockets)
    seen.close()
    log.info("the server has stopped", extra={"fields": {"process": os.getpid(), "worker": number}})


def _handle_signals(server: Server, log_handler: logs.LogHandler | None, tls: Tls | None) -> None:
    """SIGTERM and SIGINT stop the server, SIGHUP opens the log file again and reads the certificates again."""

    def stop(*_: object) -> None:
        server.should_exit = True

    # Until uvicorn handles signals itself. After it has stopped, it raises them again: without a handler, a clean stop
    # would seem to be a kill by a signal.
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, stop)

    def reload() -> None:
        if log_handler is not None:
            log_handler.reopen()
        if tls is not None:
            tls.reload()

    hangup.listen(reload, stop)


def _start_fields(settings: Settings, listeners: Listeners, number: int) -> dict[str, object]:
    """The fields of the log line of a start. No secret is among them."""
    host, port = listeners[0].getsockname()[:2]
    return {
        "version": wiring.version(),
        "host": host,
        "port": port,
        "process": os.getpid(),
        "worker": number,
        "kv": settings.kv.type,
        "durability": settings.durability,
        "auth": settings.auth.mode,
    }


def _stop(app: App, number: int) -> None:
    """Called before the server waits for the last requests."""
    log.info("the server stops", extra={"fields": {"process": os.getpid(), "worker": number}})
    app.end_feeds()


async def _drain(app: App, settings: Settings) -> None:
    """Continue for `server.drain` seconds, so that load balancers see the stop. Then refuse requests for
    `server.refuse` seconds, so that clients with open connections go to another server.
    """
    app.drain()
    await asyncio.sleep(settings.server.drain)
    if settings.server.refuse:
        app.refuse()
        await asyncio.sleep(settings.server.refuse)


def application(
    settings: Settings,
    parts: wiring.Components,
    handlers: Mapping[str, Handler] | None = None,
    *,
    s3_port: int | None = None,
    observation: Observation | None = None,
) -> App:
    """The application of a server. It closes `parts` at its end. `s3_port`: a port on which all requests are S3.
    `observation`: where metrics and traces go.
    """
    return create_app(
        parts.services,
        json_limit=settings.limits.json_body,
        limits=settings.limits,
        cleanup_interval=settings.cleanup.interval,
        snapshot_interval=None if settings.refs.snapshot == "off" else settings.refs.interval,
        sweep=_sweep_options(settings),
        scrub=_scrub_options(settings),
        on_shutdown=parts.close,
        last_writes=min(LAST_WRITES, settings.server.shutdown_timeout),
        handlers=handlers,
        s3=_s3_config(settings, s3_port),
        sign_in_pages=parts.sign_in_pages,
        hooks=parts.hooks,
        observation=observation,
    )


def _s3_config(settings: Settings, port: int | None = None) -> S3Config:
    return read_config(settings.gateway.s3, port)


def open_connections(settings: Settings) -> Connections:
    """The connection limits of one event loop."""
    limits = settings.limits
    return Connections(limits, most=connections.allowed_connections(limits.connections), exempt=_exempt(settings))


def http_config(
    app: Callable[..., Any],
    settings: Settings,
    connections: Connections,
    *,
    protocol: type[Protocol] = Protocol,
    lifespan: Literal["on", "off"] = "on",
) -> uvicorn.Config:
    """The configuration of uvicorn for an ASGI application. `connections` limits its connections."""
    bounded: Any = functools.partial(protocol, connections)
    return uvicorn.Config(
        app,
        interface="asgi3",
        http=bounded,
        ws="none",
        lifespan=lifespan,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # `network.clients` reads them: the middleware would cost time in every request
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=math.ceil(settings.server.shutdown_timeout),
    )


def _exempt(settings: Settings) -> Callable[[Address], bool]:
    """A test for addresses that many clients share: trusted proxies, and any proxy on this machine."""
    proxies = read_proxies(settings.listen.trusted_proxies)
    return lambda address: address.is_loopback or proxies.trusts(address)


def _scrub_options(settings: Settings) -> ScrubOptions | None:
    scrub = settings.scrub
    if not scrub.interval:
        return None
    return ScrubOptions(every=scrub.interval, rate=float(scrub.rate), objects=scrub.objects)


def _sweep_options(settings: Settings) -> SweepOptions | None:
    cleanup = settings.cleanup
    if not cleanup.sweep_interval:
        return None
    return SweepOptions(grace=cleanup.grace, age=cleanup.orphan_age, every=cleanup.sweep_interval)


def _started(settings: Settings, admin: Credential | None, opened: _Opened, count: int = 1) -> announcement.Started:
    """Describe the server, and write the key of a first start. Raises StartError."""
    listeners, _, metrics = opened
    scheme = "https" if settings.listen.tls.certificate else "http"
    endpoint = endpoint_of(listeners[0], scheme)
    own_metrics = None if metrics is None or metrics.listener is None else endpoint_of(metrics.listener, scheme)
    return announcement.Started(
        version=wiring.version(),
        endpoint=endpoint,
        s3_endpoint=endpoint_of(listeners[1], scheme) if len(listeners) > 1 else None,
        metrics=None if own_metrics is None else f"{own_metrics}/metrics",
        processes=count,
        data_dir=None if settings.kv.type == "memory" else settings.data_dir,
        durability=settings.durability,
        is_first_start=admin is not None,
        admin_key_file=announcement.key_file(settings, admin, endpoint),
    )


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The factory of event loops for servers: uvloop's if possible, else None for asyncio's own."""
    if sys.platform == "win32":
        return None
    import uvloop

    factory: Any = uvloop.new_event_loop
    return factory  # type: ignore[no-any-return]
