"""`lakebed doctor --server`: a report on the settings, stores, clocks, directories and packages of a server.

It starts no server. It writes only what it removes: a small object in each store, and a row in the KV store. No secret
and no home directory is in the report.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import platform
import re
import shutil
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, KvState, KVStore, Put
from lakebed_engine.vocabulary.errors import EngineError, PredicateFailed

from lakebed_server.process import check_settings, data_directory, object_stores, wiring
from lakebed_server.process.inspection import kv_state, rehearse
from lakebed_server.process.store_self_test import self_test
from lakebed_server.settings.load import MASK, Loaded, load, rows
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import SettingError, StartError

PACKAGES: Final = (
    ("apsw", "server"),
    ("uvicorn", "server"),
    ("starlette", "server"),
    ("msgspec", "server"),
    ("cryptography", "server"),
    ("pyarrow", "server"),
    ("asyncpg", "postgres"),
    ("obstore", "s3"),
    ("botocore", "s3"),
    ("ldap3", "ldap"),
    ("signxml", "saml"),
)
"""Packages of a server, and the extra that installs each."""
MOST_SKEW: Final = 5.0
"""Seconds that two clocks may differ without a warning."""
LEAST_DISK: Final = 1 << 30
"""Free bytes of a file system below which there is a warning."""
_SELF_TEST: Final = "doctor"
_NAMED: Final = ("access_key_id",)
_USER_INFO: Final = re.compile(r"(://)[^/@\s]+@")


class _Report:
    def __init__(self) -> None:
        self.checks: list[dict[str, Any]] = []
        self.warnings: list[str] = []

    def add(self, name: str, ok: bool, message: str) -> None:
        self.checks.append({"check": name, "ok": ok, "message": message})

    def failed(self, name: str, error: Exception) -> None:
        self.add(name, False, error.message if isinstance(error, EngineError) else str(error))


async def examine(config: str | None, env: Mapping[str, str], namespaces: Sequence[str] = ()) -> dict[str, Any]:
    """The report of a server with these settings: `ok`, `versions`, `settings`, `checks` and `warnings`.

    `namespaces`: further storage namespaces to test. Each store of a repository is tested without them.
    """
    report = _Report()
    refused: list[SettingError] = []
    try:
        loaded = load(env=env, config=config, problems=refused)
    except StartError as error:
        report.failed("settings", error)
        return _finished(report, [], [])
    _settings(report, loaded, refused)
    settings = loaded.settings
    _directories(report, settings)
    state = await _kv(report, settings)
    await _object_stores(report, settings, state, namespaces)
    shown = [row for row in rows(loaded) if row.source != "default"]
    listed = [{"key": row.key, "value": _short(row.key, row.shown), "source": row.source} for row in shown]
    secrets = [str(loaded.values[key.name]) for key in loaded.keys.values() if key.secret]
    return _finished(report, listed, secrets)


def _finished(report: _Report, settings: list[dict[str, str]], secrets: list[str]) -> dict[str, Any]:
    ok = all(check["ok"] for check in report.checks)
    whole = {"ok": ok, "versions": _versions(), "settings": settings}
    whole |= {"checks": report.checks, "warnings": report.warnings}
    cleaned: dict[str, Any] = _clean(whole, [one for one in secrets if one])
    return cleaned


def _clean(value: Any, secrets: list[str]) -> Any:
    """The report without secrets, without passwords in addresses, and with `~` for the home directory."""
    if isinstance(value, dict):
        return {name: _clean(one, secrets) for name, one in value.items()}
    if isinstance(value, list):
        return [_clean(one, secrets) for one in value]
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return _USER_INFO.sub(r"\1...@", value).replace(str(Path.home()), "~")
    return value


def _short(key: str, value: str) -> str:
    return f"{value[:4]}..." if value and key.rpartition(".")[2] in _NAMED else value


def _versions() -> dict[str, str]:
    found = {
        "lakebed": wiring.version(),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        "processors": str(os.cpu_count()),
        "sqlite of Python": sqlite3.sqlite_version,
    }
    for package, extra in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = f"not installed: the extra lakebed[{extra}]"
    return found


def _settings(report: _Report, loaded: Loaded, refused: Sequence[SettingError]) -> None:
    found = [check_settings.Problem("error", str(error)) for error in refused]
    found += check_settings.problems(loaded.settings)
    errors = [problem.message for problem in found if problem.level == "error"]
    for message in errors:
        report.add("settings", False, message)
    if not errors:
        given = sum(source != "default" for source in loaded.sources.values())
        report.add("settings", True, f"{given} of {len(loaded.sources)} are set, and they fit together")
    report.warnings += loaded.warnings
    report.warnings += [problem.message for problem in found if problem.level == "warning"]


def _directories(report: _Report, settings: Settings) -> None:
    report.warnings += data_directory.open_to_others(settings)
    for path in data_directory.places(settings):
        owner = path.stat().st_uid
        if owner != os.geteuid():
            report.warnings.append(
                f"{path} belongs to account {owner}, and this command runs as {os.geteuid()}: run it as the "
                "server's account, or the results can differ from the server's"
            )
        free = shutil.disk_usage(path).free
        report.add("disk", free >= LEAST_DISK, f"{path}: {free / (1 << 30):,.1f} GiB free")


async def _kv(report: _Report, settings: Settings) -> KvState | None:
    """The state of the KV store, if it exists and this build can open it."""
    try:
        state = await kv_state(settings)
    except StartError as error:
        report.failed("KV store", error)
        return None
    if state is None or state.version is None:
        place = state.place if state is not None else settings.kv.sqlite.path
        kept = "kv.type is memory" if settings.kv.type == "memory" else f"{place} is empty: the first start makes it"
        report.add("KV store", True, kept)
        return None
    text = f"{state.place}, {state.software}, tables of version {state.version}, {state.size / (1 << 20):,.1f} MiB"
    report.add("KV store", state.version <= state.known, text)
    report.warnings += [f"{state.place}: {remark}" for remark in state.remarks]
    if state.ahead is not None:
        _clock(report, "clock of the database", state.ahead)
    if state.version > state.known:
        report.warnings.append("the KV store was written by a newer Lakebed: upgrade this installation")
        return None
    await _kv_self_test(report, settings)
    return state


async def _kv_self_test(report: _Report, settings: Settings) -> None:
    """Of two conditional puts of one row at the same time exactly one may win."""
    key = uuid.uuid4().bytes
    put = Batch(checks=[Check(_SELF_TEST, key, ABSENT)], puts=[Put(_SELF_TEST, key, b"")])
    began = time.monotonic()
    try:
        async with wiring.open_kv(settings) as kv:
            try:
                outcomes = await asyncio.gather(kv.apply(put), kv.apply(put), return_exceptions=True)
                lost = [one for one in outcomes if isinstance(one, BaseException)]
                for one in lost:
                    if not isinstance(one, PredicateFailed):
                        raise one
                ok = len(lost) == 1 and await kv.get(_SELF_TEST, key) is not None
            finally:
                await _forget(kv, key)
    except (EngineError, StartError) as error:
        report.failed("conditional put of the KV store", error)
        return
    spent = f"{(time.monotonic() - began) * 1000:.0f} ms"
    text = f"of two at the same time one won ({spent})" if ok else f"{2 - len(lost)} of two at the same time won"
    report.add("conditional put of the KV store", ok, text)


async def _forget(kv: KVStore, key: bytes) -> None:
    await kv.apply(Batch(deletes=[Delete(_SELF_TEST, key)]))


class _Place(NamedTuple):
    """A namespace to test, in the default store or in a named one."""

    store: str
    uri: str

    def __str__(self) -> str:
        return f"{self.uri} in {self.store}" if self.store else self.uri


async def _object_stores(report: _Report, settings: Settings, state: KvState | None, namespaces: Sequence[str]) -> None:
    """Test one namespace of each bucket that repositories have or get, of each unused store, and the given ones."""
    try:
        chosen = dict.fromkeys(_given(one) for one in namespaces)
        if state is not None:
            chosen |= dict.fromkeys(await _in_use(settings))
        chosen |= dict.fromkeys(_next(settings, {_bucket(place.uri) for place in chosen if not place.store}))
        chosen |= dict.fromkeys(_unused(report, settings, {(place.store, place.uri[:5]) for place in chosen}))
        stores = object_stores.build(settings, cached=False)
    except (EngineError, StartError) as error:
        report.failed("object stores", error)
        return
    try:
        for place in chosen:
            try:
                result = await self_test(stores.open(place.uri, place.store), uuid.uuid4().hex)
            except EngineError as error:
                report.failed(f"object store {place}", error)
                continue
            text = f"conditional put, read, list, copy and delete work ({result.seconds * 1000:.0f} ms)"
            report.add(f"object store {place}", not result.failure, result.failure or text)
            if not result.failure:
                _clock(report, f"clock of {place}", result.skew)
    finally:
        stores.close()
    for place in chosen:
        if place.uri.startswith("local://"):
            _tidy(Path(_root(settings, place.store)), place.uri)


def _given(text: str) -> _Place:
    """A namespace of the command line: URI, or NAME=URI for a named store."""
    name, equals, uri = text.partition("=")
    return _Place(name, uri) if equals and "://" not in name else _Place("", text)


def _root(settings: Settings, store: str) -> str:
    return settings.stores[store].root if store in settings.stores else settings.objects.local.root


def _bucket(uri: str) -> str:
    scheme, _, path = uri.partition("://")
    return scheme if scheme == "local" else f"{scheme}://{path.partition('/')[0]}"


def _next(settings: Settings, used: set[str]) -> Iterator[_Place]:
    """The bucket of the next repository, which may have none yet."""
    prefix = settings.objects.default_namespace_prefix.rstrip("/")
    if prefix.startswith(("s3://", "gs://", "az://")) and _bucket(prefix) not in used:
        yield _Place("", prefix)


def _unused(report: _Report, settings: Settings, used: set[tuple[str, str]]) -> Iterator[_Place]:
    """Namespaces of the stores that no repository is in."""
    if settings.objects.local.root and ("", "local") not in used:
        yield from _local(report, "", settings.objects.local.root)
    names = {store for store, _ in used}
    for name, store in settings.stores.items():
        if name in names:
            continue
        if store.type == "local":
            yield from _local(report, name, store.root)
        elif prefixes := object_stores.allowed(store.prefixes):
            yield _Place(name, prefixes[0].removesuffix("/"))
        else:
            report.warnings.append(
                f"stores.{name} was not tested: it has no repository and no prefixes; name a namespace: "
                f"--namespace {name}={store.type}://BUCKET/FOLDER"
            )


def _local(report: _Report, store: str, root: str) -> Iterator[_Place]:
    """A namespace of its own for `local://`."""
    if Path(root).exists():
        yield _Place(store, f"local://_doctor-{uuid.uuid4().hex}")
    else:
        report.add("object store local://", not store, f"{root} is not there; the first start makes objects.local.root")


def _tidy(root: Path, uri: str) -> None:
    """Remove the empty directories that a test of `local://` leaves."""
    place = root / uri.removeprefix("local://")
    shutil.rmtree(place / "_doctor", ignore_errors=True)
    if place.name.startswith("_doctor-"):
        shutil.rmtree(place, ignore_errors=True)


async def _in_use(settings: Settings) -> list[_Place]:
    """One namespace of each bucket that a repository is in."""
    found: dict[tuple[str, str], _Place] = {}
    after = ""
    async with rehearse(settings) as rehearsal:
        while True:
            page = await rehearsal.engine.repositories.list(after=after, amount=1000)
            for repository in page.items:
                uri, store = repository.storage_namespace, repository.storage_id
                if not uri.startswith("mem://"):
                    found.setdefault((store, _bucket(uri)), _Place(store, uri))
            if not page.has_more:
                return list(found.values())
            after = page.items[-1].name


def _clock(report: _Report, name: str, ahead: float) -> None:
    ok = abs(ahead) <= MOST_SKEW
    direction = "ahead of" if ahead > 0 else "behind"
    text = f"{abs(ahead):.1f} s {direction} this machine's clock"
    report.add(name, ok, "agrees with this machine's clock" if abs(ahead) < 1 else text)
