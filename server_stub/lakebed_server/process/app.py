"""The whole ASGI application: the API, the S3 gateway, health, the spec and the web page.

`Gateway` handles requests of S3, and `Api` those below `/api/v1`. Starlette handles the others, and runs the background
work between start-up and shutdown.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.reports import ScrubOptions, SweepOptions
from lakebed_wire.operations import API_PREFIX
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from lakebed_server.bounds.admission import CLOSE, Admission
from lakebed_server.hooks.dispatcher import Dispatcher
from lakebed_server.hooks.gate import Hooks
from lakebed_server.http import api_description
from lakebed_server.http.request import Services
from lakebed_server.http.request_cycle import Watch
from lakebed_server.http.web_page import WebPage
from lakebed_server.monitoring.endpoints import Monitoring
from lakebed_server.monitoring.observation import Observation
from lakebed_server.monitoring.readiness import ReadinessCheck
from lakebed_server.monitoring.sampler import Sampled, Sampler
from lakebed_server.network.clients import client_of
from lakebed_server.rest.api import Api
from lakebed_server.rest.operation_handlers import Handler
from lakebed_server.rest.rights.task_rights import may_merge
from lakebed_server.s3.config import S3Config
from lakebed_server.s3.gateway import Gateway
from lakebed_server.settings.schema import LimitSettings
from lakebed_server.signin.opening import Pages
from lakebed_server.signin.token_endpoint import TokenEndpoint
from lakebed_server.vocabulary import Message, Receive, Scope, Send

log = logging.getLogger("lakebed.server")

CLEANUP_INTERVAL = 60.0
LAST_WRITES = 10.0
"""Seconds that a stop waits for the last ref snapshots, and then for the stores to close."""
CLOSING = 1.0
"""Further seconds for the stores to close."""
COMPACTION_INTERVAL = 0.5
DRAIN_INTERVAL = 0.5
"""Seconds between two checks whether events are due for a file."""
MERGE_INTERVAL = 2.0
"""Seconds between two searches for pull requests that wait to be merged."""
SWEEP_CHECK_INTERVAL = 3600.0
"""Seconds between two checks whether a sweep of a repository is due."""
EXPIRE_INTERVAL = 3600.0
"""Seconds between two searches for old runs of hooks."""

_PAGE = """Lakebed {version}: Git-like version control for data lakes.

This is the server's API endpoint; point a client at it:

    lakebed login {endpoint} --access-key-id ...
    lakebed repo list

  {endpoint}/openapi.json   the API, described (also as openapi.yaml)
  {endpoint}/_health        whether the server is up
  {endpoint}/_ready         whether it should get requests
"""


Application = Callable[[Scope, Receive, Send], Awaitable[None]]
"""A part of the server, as ASGI defines it."""


class App:
    """The ASGI callable, which dispatches requests. `life` is the background work, from start to stop."""

    def __init__(
        self,
        api: Api,
        gateway: Gateway,
        site: Starlette,
        life: Callable[[], AbstractAsyncContextManager[None]],
        services: Services,
        monitoring: Monitoring,
    ) -> None:
        self.life = life
        self._services = services
        self._stopping = services.stopping
        self._monitoring = monitoring
        self._api = api
        self._gateway = gateway
        self._site = site
        self._prefix = API_PREFIX.encode() + b"/"
        self._by_port: dict[int | None, Application] = {gateway.port: gateway, monitoring.port: monitoring}
        self._by_port.pop(None, None)  # without a listener of its own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or run the lifespan of the application."""
        if scope["type"] != "http":
            await self._site(scope, receive, send)
            return
        port = (scope.get("server") or ("", None))[1]
        application = self._by_port.get(port) or self._choose(scope)
        await application(scope, receive, send)

    def _choose(self, scope: Scope) -> Application:
        """The part of the application for a request to the common listener."""
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        root: str = scope.get("root_path", "")
        is_api = raw.removeprefix(root.encode()).startswith(self._prefix)
        if self._gateway.is_for(scope, is_api=is_api):
            return self._gateway
        if is_api:
            return self._api
        return self._monitoring if self._monitoring.is_for(scope) else self._show

    async def _show(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a page, for the spec, or for nothing that exists."""
        if self._stopping.refuses:
            await _plain("this server is shutting down: use another one\n", 503, {"retry-after": "1"})(
                scope, receive, functools.partial(_send_closing, send)
            )
            return
        if self._stopping.drains:
            send = functools.partial(_send_closing, send)
        await self._site(scope, receive, send)

    def drain(self) -> None:
        """From now on load balancers see that the server stops, and each answer closes its connection."""
        self._stopping.drains = True

    def refuse(self) -> None:
        """From now on each new request is refused before anything is done for it, and live feeds end."""
        self._stopping.drains = self._stopping.refuses = True
        self.end_feeds()

    def end_feeds(self) -> None:
        """End the live feeds of events: a stop waits for open requests."""
        self._services.feeds.close()


async def _send_closing(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        message = {**message, "headers": [*message["headers"], CLOSE]}
    await send(message)


def create_app(
    services: Services,
    *,
    json_limit: int = 10 << 20,
    limits: LimitSettings | None = None,
    cleanup_interval: float = CLEANUP_INTERVAL,
    snapshot_interval: float | None = None,
    sweep: SweepOptions | None = None,
    scrub: ScrubOptions | None = None,
    on_shutdown: Callable[[], Awaitable[None]] | None = None,
    last_writes: float = LAST_WRITES,
    handlers: Mapping[str, Handler] | None = None,
    s3: S3Config | None = None,
    sign_in_pages: Pages | None = None,
    web_page: WebPage | None = None,
    hooks: Hooks | None = None,
    observation: Observation | None = None,
) -> App:
    """The application for these services. `on_shutdown` runs after the last request. `s3`: the gateway's settings.
    `sign_in_pages`: makes the pages of the sign-in with a provider, if there is one. `web_page`: by default the built
    one. `hooks`: makes the calls that follow changes. `observation`: where metrics and traces go.

    With `snapshot_interval`, in seconds, it writes ref snapshots that often, and once more at the end. With `sweep`, it
    sweeps each repository every `sweep.every` seconds. With `scrub`, it checks all every `scrub.every` seconds.
    """
    admission = Admission(limits or LimitSettings())
    observed = _observed(services, admission, hooks, observation or Observation())
    life = functools.partial(
        _life,
        services,
        cleanup_interval,
        snapshot_interval,
        sweep,
        scrub,
        hooks,
        observed.sampler,
        on_shutdown,
        last_writes,
    )
    site = _site(services, web_page or WebPage(), sign_in_pages, life)
    api = Api(services, json_limit=json_limit, handlers=handlers, admission=admission, watch=observed.watch)
    gateway = Gateway(services, s3 or S3Config(), admission=admission, watch=observed.watch)
    return App(api, gateway, site, life, services, observed.monitoring)


def _site(
    services: Services,
    web_page: WebPage,
    sign_in_pages: Pages | None,
    life: Callable[[], AbstractAsyncContextManager[None]],
) -> Starlette:
    """What is outside of the API, the S3 gateway and the monitoring: the web page, the spec and the sign-in."""

    async def page(request: Request) -> Response:
        if (answer := web_page.answer(request)) is not None:
            return answer
        scheme = "https" if client_of(request.scope, services.proxies).https else "http"
        endpoint = str(request.base_url.replace(scheme=scheme)).rstrip("/")
        return _plain(_PAGE.format(version=services.installation.version, endpoint=endpoint))

    async def unknown(request: Request, _: Exception) -> Response:
        return web_page.answer(request) or _plain(f"not found; the API is below {API_PREFIX}\n", 404)

    identify = services.identify_workload
    return Starlette(
        routes=[
            Route("/", page),
            *api_description.routes(),
            *(() if sign_in_pages is None else sign_in_pages(services)),
            *(() if identify is None else TokenEndpoint(services, identify).routes()),
        ],
        exception_handlers={404: unknown},
        lifespan=lambda _: life(),
    )


class _Observed(NamedTuple):
    """What an application needs to show how it is doing."""

    monitoring: Monitoring
    sampler: Sampler | None
    watch: Watch | None


def _observed(services: Services, admission: Admission, hooks: Hooks | None, observation: Observation) -> _Observed:
    stopping, version = services.stopping, services.installation.version
    readiness = ReadinessCheck(services.engine, stopping)
    counting = observation.counting
    if counting is None:
        return _Observed(Monitoring(readiness, stopping, version), None, observation.watch)
    sampled = Sampled(
        engine=services.engine,
        admission=admission,
        stopping=stopping,
        feeds=services.feeds,
        history=services.history,
        hooks=hooks,
        database=observation.database,
        directories=observation.directories,
        disk_cache=observation.disk_cache,
    )
    sampler = Sampler(counting, sampled, readiness)
    monitoring = Monitoring(readiness, stopping, version, counting, sampler, observation.access)
    return _Observed(monitoring, sampler, observation.watch)


@contextlib.asynccontextmanager
async def _life(
    services: Services,
    cleanup_interval: float,
    snapshot_interval: float | None,
    sweep: SweepOptions | None,
    scrub: ScrubOptions | None,
    hooks: Hooks | None,
    sampler: Sampler | None,
    on_shutdown: Callable[[], Awaitable[None]] | None,
    last_writes: float,
) -> AsyncIterator[None]:
    coroutines = [
        *_always(services),
        *_when_set(services.engine, snapshot_interval, sweep, scrub, hooks),
        _repeat(functools.partial(_clean, services.engine), cleanup_interval, "the cleaner"),
        *(() if services.history is None else (services.history.run(),)),
        *(() if sampler is None else (sampler.run(),)),
    ]
    chores = [asyncio.create_task(one) for one in coroutines]
    try:
        yield
    finally:
        for chore in chores:
            chore.cancel()
        await asyncio.gather(*chores, return_exceptions=True)
        ends = asyncio.get_running_loop().time() + last_writes
        await _finish(services, ends, snapshots=snapshot_interval is not None)
        if on_shutdown is not None:
            await _by(ends + CLOSING, on_shutdown, "the stores could not be closed")


Chore = Coroutine[object, object, None]


def _always(services: Services) -> Iterator[Chore]:
    """The work of every server, but for the cleaner, whose interval is a setting."""
    engine = services.engine
    yield _repeat(engine.maintenance.compact, COMPACTION_INTERVAL, "compaction")
    yield _repeat(functools.partial(_drain, engine), DRAIN_INTERVAL, "the drain of events")
    yield _repeat(functools.partial(_merge_ready, services), MERGE_INTERVAL, "auto-merge")


def _when_set(
    engine: Engine,
    snapshot_interval: float | None,
    sweep: SweepOptions | None,
    scrub: ScrubOptions | None,
    hooks: Hooks | None,
) -> Iterator[Chore]:
    """The work that a setting switches on."""
    if snapshot_interval is not None:
        yield _repeat(functools.partial(_write_snapshots, engine), snapshot_interval, "ref snapshots")
    # both check more often than they are due, so that a server that restarts every day also sweeps and scrubs
    if sweep is not None:
        yield _repeat(functools.partial(_sweep, engine, sweep), min(sweep.every, SWEEP_CHECK_INTERVAL), "the sweep")
    if scrub is not None:
        yield _repeat(functools.partial(_scrub, engine, scrub), min(scrub.every, SWEEP_CHECK_INTERVAL), "the scrub")
    if hooks is not None:
        yield Dispatcher(engine, hooks).run()
        expire = functools.partial(engine.maintenance.expire_hooks, hooks.settings.keep)
        yield _repeat(expire, EXPIRE_INTERVAL, "the expiry of hook runs")


async def _finish(services: Services, ends: float, *, snapshots: bool) -> None:
    """Write what only this process knows: ref snapshots, events and the access history."""
    engine, history = services.engine, services.history
    if snapshots:
        await _by(ends, functools.partial(_write_snapshots, engine), "the last ref snapshots could not be written")
    last_events = functools.partial(engine.maintenance.drain_events, everything=True)
    await _by(ends, last_events, "the last events remain in the KV store until the next start")
    if history is not None:
        await _by(ends, history.flush, "the last rows of the access history could not be written")


async def _repeat(chore: Callable[[], Awaitable[int]], interval: float, name: str) -> None:
    while True:
        await asyncio.sleep(interval)
        try:
            done = await chore()
            if done:
                log.debug("%s: removed %d", name, done)
        except Exception:
            log.exception("%s failed; retrying in %g s", name, interval)


async def _clean(engine: Engine) -> int:
    await engine.maintenance.keep_time()
    return await engine.maintenance.clean()


async def _drain(engine: Engine) -> int:
    await engine.maintenance.drain_events()
    return 0  # nothing was removed


async def _merge_ready(services: Services) -> int:
    await services.engine.maintenance.merge_ready(functools.partial(may_merge, services.permissions))
    return 0  # nothing was removed


async def _write_snapshots(engine: Engine) -> int:
    for repository, why in (await engine.maintenance.snapshot_refs()).failures:
        log.warning("repository %s: no ref snapshot was written: %s", repository, why)
    return 0  # nothing was removed


async def _sweep(engine: Engine, options: SweepOptions) -> int:
    done = await engine.maintenance.sweep("", options)
    for repository, why in done.failures:
        log.warning("%s was not swept: %s", repository, why)
    return done.deleted


async def _scrub(engine: Engine, options: ScrubOptions) -> int:
    await engine.maintenance.scrub(options)
    return 0  # nothing was removed


async def _by(moment: float, job: Callable[[], Awaitable[object]], failed: str) -> None:
    """Run the last work of a server until `moment`. A store that does not answer must not keep it from stopping."""
    try:
        async with asyncio.timeout_at(moment):
            await job()
    except Exception:
        log.exception(failed)


def _plain(text: str, status: int = 200, more: Mapping[str, str] | None = None) -> Response:
    return PlainTextResponse(text, status_code=status, headers={**api_description.SAFE, **(more or {})})
