"""The actions that apply to an operation: which of them run for an event, and which errors block it."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lakebed_hooks import action_files
from lakebed_hooks.syntax import branches
from lakebed_hooks.vocabulary import Action, ActionFile, ActionFileError

MOST_FILES: Final = 1000
"""Action files of one set."""
CACHE_BYTES: Final = 32 << 20
"""Maximum bytes of the files in a cache. Each file counts at least CACHE_ENTRY."""
CACHE_ENTRY: Final = 4096

_ORIGINS = ("server", "settings", "repository")
_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Chosen:
    """The actions to run for an event, and the errors that block it."""

    actions: tuple[Action, ...] = ()
    errors: tuple[ActionFileError, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionSet:
    """Actions that can run, and the errors of the files that cannot be used."""

    actions: tuple[Action, ...] = ()
    errors: tuple[ActionFileError, ...] = ()

    def choose(self, event: str, branch: str = "") -> Chosen:
        """Return the actions to run for an event on a branch. An event of a tag has no branch."""
        return Chosen(
            tuple(
                action
                for action in self.actions
                if event in action.on and (not branch or branches.matches(branch, action.on[event].branches))
            ),
            tuple(error for error in self.errors if not error.events or event in error.events),
        )

    def has(self, event: str) -> bool:
        """Whether anything may run for an event, or block it, on any branch."""
        return any(event in action.on for action in self.actions) or bool(self.choose(event).errors)


class ParsedFiles:
    """A cache of parsed files, so that a file is parsed once and not for each commit. Safe for threads."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._parsed: OrderedDict[tuple[str, str, str], Action | ActionFileError] = OrderedDict()
        self._sizes: dict[tuple[str, str, str], int] = {}
        self._lock = threading.Lock()

    def get(self, file: ActionFile) -> Action | ActionFileError:
        """Return the action of a file, or the reason why it has none."""
        key = (file.digest, file.path, file.origin)
        with self._lock:
            if key in self._parsed:
                self._parsed.move_to_end(key)
                return self._parsed[key]
        result = _parse(file)
        with self._lock:
            if key not in self._parsed:
                self._parsed[key] = result
                self._sizes[key] = max(len(file.content), CACHE_ENTRY)
                self._bytes += self._sizes[key]
            while self._bytes > self._most_bytes:
                oldest, _ = self._parsed.popitem(last=False)
                self._bytes -= self._sizes.pop(oldest)
        return result


def build(files: Sequence[ActionFile], parsed: ParsedFiles) -> ActionSet:
    """Return the set of the actions of all files that apply: those of the repository, its settings and the server."""
    if len(files) > MOST_FILES:
        error = ActionFileError(f"there are {len(files)} action files, at most {MOST_FILES}", path=files[0].path)
        return ActionSet((), (error,))
    results = [parsed.get(file) for file in files]
    errors = [result for result in results if isinstance(result, ActionFileError)]
    by_name = defaultdict[str, list[Action]](list)
    for result in results:
        if isinstance(result, Action):
            by_name[result.name].append(result)
    return ActionSet(
        tuple(action for group in by_name.values() if (action := _first(group))),
        (*errors, *(_same_name(group) for group in by_name.values() if len(group) > 1)),
    )


def _first(actions: Sequence[Action]) -> Action | None:
    """Return the one action of a name that runs. Data must not be able to turn off an action of the server."""
    for origin in _ORIGINS:
        found = [action for action in actions if action.file.origin == origin]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _parse(file: ActionFile) -> Action | ActionFileError:
    try:
        return action_files.parse(file)
    except ActionFileError as error:
        return error.with_traceback(None)


def _same_name(actions: Sequence[Action]) -> ActionFileError:
    paths = [action.file.path for action in actions]
    shown = ", ".join(paths[:_MOST_SHOWN]) + (", ..." if len(paths) > _MOST_SHOWN else "")
    return ActionFileError(
        f"{len(paths)} action files have the name {actions[0].name!r}, but a name must be unique: {shown}",
        path=paths[-1],
        events=frozenset(event for action in actions for event in action.on),
    )
