"""The action files that a change meets: of the data, of the settings of the repository, and of the server."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Final

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import NotFoundError
from lakebed_engine.vocabulary.hooks import MOST_ACTION_FILES, Delivery, Proposal, StoredFile
from lakebed_engine.vocabulary.records import Repository
from lakebed_hooks import Action, ActionFile, ActionFileError, action_set
from lakebed_hooks.action_set import ActionSet, ParsedFiles
from lakebed_hooks.applicable_files import applicable_files

from lakebed_server.hooks.occasions import MOVING
from lakebed_server.vocabulary import SettingError

MOST_SETTINGS: Final = 1000
"""Repositories whose hook settings a process keeps."""
MOST_SETS: Final = 256
"""Sets of actions that a process keeps: most changes meet the same files as the change before."""
LARGEST_KEPT_SET: Final = 64 << 10
"""Bytes of the files of a set that is kept."""


def files_of_server(paths: str) -> tuple[ActionFile, ...]:
    """The action files of `hooks.actions`, a list with commas. Raises SettingError for a file that cannot be used."""
    return tuple(_file_of_server(path.strip()) for path in paths.split(",") if path.strip())


def _file_of_server(path: str) -> ActionFile:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise SettingError(f"hooks.actions: cannot read {path}: {error.strerror}") from None
    file = ActionFile(path, hashlib.sha256(content).hexdigest(), content, "server")
    found = ParsedFiles().get(file)
    if isinstance(found, ActionFileError):
        raise SettingError(f"hooks.actions: {found.message}")
    return file


class ActionSources:
    """Finds action files, and parses each of them once."""

    def __init__(self, engine: Engine, of_server: Sequence[ActionFile]) -> None:
        self._engine = engine
        self.of_server = tuple(of_server)
        self._parsed = ParsedFiles()
        self._settings: OrderedDict[tuple[str, str], tuple[ActionFile, ...]] = OrderedDict()
        self._sets: OrderedDict[Hashable, ActionSet] = OrderedDict()

    async def of_change(self, proposal: Proposal) -> ActionSet:
        """The actions that apply to a change, and the errors of the files that cannot be used.

        A change that brings an action file that cannot be used is refused, whichever events the file names, and also
        on a protected branch: otherwise the next change would be the first one to be refused.
        """
        others = (*await self.of_settings(proposal.repository), *self.of_server)
        key = (
            proposal.is_protected,
            proposal.operation in MOVING,
            tuple((one.path, one.digest, one.problem) for one in proposal.before_files),
            tuple((one.path, one.digest, one.problem) for one in proposal.files),
            tuple((one.path, one.digest, one.origin) for one in others),
        )
        found = self._sets.get(key)
        if found is None:
            found = self._set_of(proposal, others)
            stored = sum(len(one.content) for one in (*proposal.before_files, *proposal.files))
            if stored + sum(len(one.content) for one in others) <= LARGEST_KEPT_SET:
                self._sets[key] = found
                if len(self._sets) > MOST_SETS:
                    self._sets.popitem(last=False)
        return found

    def _set_of(self, proposal: Proposal, others: Sequence[ActionFile]) -> ActionSet:
        head, candidate = _files(proposal.before_files), _files(proposal.files)
        applied = applicable_files(
            head=head, candidate=candidate, is_protected=proposal.is_protected, parsed=self._parsed
        )
        problems = {one.path: one.problem for one in (*proposal.before_files, *proposal.files) if one.problem}
        found = action_set.build([*applied, *others], self._parsed)
        new = () if proposal.operation not in MOVING else self._broken(set(candidate) - set(head))
        errors = [*found.errors, *(error for error in new if error.path not in {one.path for one in found.errors})]
        return ActionSet(found.actions, (*(_reported(error, problems) for error in errors), *_too_many(applied)))

    async def of_commit(self, repository: Repository, files: Sequence[StoredFile]) -> ActionSet:
        """The actions of a commit, with those of the settings and of the server."""
        others = (*await self.of_settings(repository), *self.of_server)
        found = action_set.build([*_files(files), *others], self._parsed)
        problems = {one.path: one.problem for one in files if one.problem}
        return ActionSet(found.actions, tuple(_reported(error, problems) for error in found.errors))

    async def of_delivery(self, delivery: Delivery) -> Action | None:
        """The action of a delivery. None: its file is not there any more, or has no such action.

        Files of the settings and of the server may have changed since: the new file counts. Raises NotFoundError when
        the repository no longer exists.
        """
        call, event = delivery.call, delivery.event
        repository = await self._engine.repositories.get(event.repository)
        if repository.uid != event.repository_uid:
            return None
        files: Iterable[ActionFile] = self.of_server
        if call.origin == "settings":
            files = await self.of_settings(repository)
        elif call.origin == "repository":
            files = await self._of_data(event.repository, call.commit_id, call.digest)
        for file in files:
            found = self._parsed.get(file) if file.path == call.path else None
            if isinstance(found, Action) and found.name == call.action:
                return found
        return None

    async def of_settings(self, repository: Repository) -> tuple[ActionFile, ...]:
        """The action files of the settings of a repository."""
        if not repository.hooks:
            return ()
        key = (repository.uid, repository.hooks)
        known = self._settings.get(key)
        if known is not None:
            self._settings.move_to_end(key)
            return known
        settings = await self._engine.hooks.settings(repository.name)
        found = tuple(
            ActionFile(name, hashlib.sha256(text.encode()).hexdigest(), text.encode(), "settings")
            for name, text in settings.actions.items()
        )
        if (await self._engine.repositories.get(repository.name)).hooks == repository.hooks:  # they did not change
            self._settings[key] = found
            if len(self._settings) > MOST_SETTINGS:
                self._settings.popitem(last=False)
        return found

    async def _of_data(self, repository: str, commit_id: str, digest: str) -> list[ActionFile]:
        try:
            files = await self._engine.hooks.files(repository, commit_id)
        except NotFoundError:  # the commit was removed
            return []
        return [file for file in _files(files) if file.digest == digest]

    def _broken(self, files: Iterable[ActionFile]) -> list[ActionFileError]:
        """Errors that block every event."""
        found = [self._parsed.get(file) for file in sorted(files, key=lambda file: file.path)]
        return [
            ActionFileError(error.message, path=error.path, line=error.line)
            for error in found
            if isinstance(error, ActionFileError)
        ]


def _files(stored: Sequence[StoredFile]) -> list[ActionFile]:
    """A file that was not read has no content, so it cannot be parsed. `_reported` says why."""
    return [ActionFile(one.path, one.digest, b"" if one.problem else one.content) for one in stored]


def _reported(error: ActionFileError, problems: dict[str, str]) -> ActionFileError:
    if error.path not in problems:
        return error
    return ActionFileError(f"{error.path}: {problems[error.path]}", path=error.path)


def _too_many(files: Sequence[ActionFile]) -> tuple[ActionFileError, ...]:
    if len(files) <= MOST_ACTION_FILES:
        return ()
    return (ActionFileError(f"there are more than {MOST_ACTION_FILES} action files", path=files[-1].path),)
