"""`lakebed upgrade check`: whether this build can open the stores of a server, what a start would change, and the way
back.

It runs the steps of a start over the real rows, with every change kept in memory.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, Final, NamedTuple

from lakebed_engine.stores.kv.base import KvState
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.records import Repository
from lakebed_engine.vocabulary.reports import FsckOptions

from lakebed_server.access import opening
from lakebed_server.access.directory import Directory
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.key_file import ensure_admin, key_file, new_secret
from lakebed_server.auth.secret_key import KeyRing, SecretKey, configured
from lakebed_server.process import wiring
from lakebed_server.process.inspection import Rehearsal, kv_state, rehearse
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import StartError

MOST_BRANCHES: Final = 1000
"""Branches of one repository whose trees are opened."""


class Forms(NamedTuple):
    """The versions of what a release stores: the tables, the function `apply`, and the forms of files."""

    tables: int
    function: int
    files: str


RELEASES: Final = {
    "0.1": Forms(1, 1, "commit/1 layer/1 metarange/3 patch/1 range/1 refs/1 repository/1"),
}
"""What each release can open. The last one is this build. A test compares it with the code."""


class Report(NamedTuple):
    """The result. `checks` are as in `lakebed doctor`, `changes` sentences about what a start would change."""

    checks: list[dict[str, Any]]
    changes: list[str]
    downgrade: str

    @property
    def ok(self) -> bool:
        """Whether this build can open the stores."""
        return all(check["ok"] for check in self.checks)


async def check(settings: Settings, *, every_file: bool = False) -> Report:
    """Inspect the stores of a server. `every_file`: read the metadata of all commits, not only of the heads.

    Changes nothing. Raises StartError when a store does not answer.
    """
    report = Report([], [], _downgrade())
    state = await kv_state(settings)
    if state is None or state.version is None:
        place = settings.kv.sqlite.path if state is None else state.place
        _add(report, "tables", True, f"there are none in {place}: the first start makes a new store")
        report.changes.append(f"makes a new KV store: {place}")
        return report
    _tables(report, state)
    if not report.ok:
        return report
    async with rehearse(settings) as rehearsal:
        await _rows(report, settings, rehearsal)
        async for repository in _repositories(report, rehearsal):
            await _repository(report, rehearsal, repository, every_file=every_file)
    return report


def _add(report: Report, name: str, ok: bool, message: str) -> None:
    report.checks.append({"check": name, "ok": ok, "message": message})


def _tables(report: Report, state: KvState) -> None:
    fits = state.version is not None and state.version <= state.known
    text = f"{state.place}: version {state.version}, and this build knows {state.known} ({state.software})"
    _add(report, "tables", fits, text if fits else f"{text}; upgrade this build")
    if fits and state.version != state.known:
        report.changes.append(f"migrates the tables from version {state.version} to {state.known}")
    if state.function < state.known_function:
        report.changes.append(
            f"replaces the SQL function apply, version {state.function}, by version {state.known_function}"
        )


async def _rows(report: Report, settings: Settings, rehearsal: Rehearsal) -> None:
    """Run the steps of a start that write rows."""
    kv, now = rehearsal.kv, int(time.time())
    try:
        ring = _ring(report, settings)
        store = CredentialStore(kv, ring)
        await ensure_admin(settings, store)
        await opening.prepare(kv, Directory(kv), settings.auth.mode, now)
        await store.current()
    except StartError as error:
        _add(report, "rows", False, str(error))
        return
    except EngineError as error:
        _add(report, "rows", False, error.message)
        return
    except Exception as error:  # a row that this build cannot decode, whatever the decoder raises
        _add(report, "rows", False, f"a row of access keys, users or policies cannot be read: {type(error).__name__}")
        return
    _add(report, "rows", True, "access keys, users, groups and policies can be read")
    written = Counter((change.partition, change.value is None) for change in kv.changes)
    for (partition, deleted), count in sorted(written.items()):
        report.changes.append(f"{'deletes' if deleted else 'writes'} {count} rows of {partition!r} in the KV store")


def _ring(report: Report, settings: Settings) -> KeyRing:
    """The secret keys, as at a start, but no file is made."""
    if settings.auth.secret_key:
        return configured(settings.auth.secret_key, settings.auth.previous_secret_key)
    file = key_file(settings)
    keys = file.read()
    if not keys:
        report.changes.append(f"makes the secret key {file.path}, if the store holds no access key")
    return KeyRing(keys or [SecretKey(new_secret())])


async def _repositories(report: Report, rehearsal: Rehearsal) -> AsyncIterator[Repository]:
    after, count = "", 0
    while True:
        try:
            page = await rehearsal.engine.repositories.list(after=after, amount=1000)
        except EngineError as error:
            _add(report, "repositories", False, error.message)
            return
        for repository in page.items:
            yield repository
        count += len(page.items)
        if not page.has_more:
            break
        after = page.items[-1].name
    if not count:
        _add(report, "repositories", True, "there are none")


async def _repository(report: Report, rehearsal: Rehearsal, repository: Repository, *, every_file: bool) -> None:
    name, engine = f"repository {repository.name}", rehearsal.engine
    try:
        trees = 0
        async for commit in _heads(rehearsal, repository.name):
            await engine.objects.list(repository.name, commit, amount=1)
            trees += 1
        await engine.tags.list(repository.name, amount=1000)
        text = f"the trees of {trees} branch heads can be read"
        if every_file:
            found = await engine.maintenance.fsck(repository.name, FsckOptions())
            if found.problem_count:
                problems = f"`lakebed fsck {repository.name}` lists {found.problem_count} problems"
                _add(report, name, False, f"{text}, but {problems}: solve them before the upgrade")
                return
            text += f", and so can all {found.counts.get('files', 0):,} metadata files"
    except EngineError as error:
        _add(report, name, False, error.message)
        return
    _add(report, name, True, text)


async def _heads(rehearsal: Rehearsal, repository: str) -> AsyncIterator[str]:
    after, seen = "", set[str]()
    while len(seen) < MOST_BRANCHES:
        page = await rehearsal.engine.branches.list(repository, after=after, amount=1000, show_hidden=True)
        for branch in page.items:
            if branch.commit_id not in seen:
                seen.add(branch.commit_id)
                yield branch.commit_id
        if not page.has_more:
            return
        after = page.items[-1].name


def _downgrade() -> str:
    """The oldest release that can open what this build writes, in a sentence."""
    build = list(RELEASES.values())[-1]
    oldest = next(release for release, forms in RELEASES.items() if forms == build)
    return (
        f"possible to {oldest} and newer: they know the tables and files of this build ({wiring.version()}). An older "
        "build ignores what it does not know, such as rows of newer features"
    )
