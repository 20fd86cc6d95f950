"""Records what a server in this process does to a directory: every change of the disk, and every sync.

It receives each call after its return: from `os_calls`, which wraps `local://` and everything else that
Python writes, and by `sqlite_vfs`. Files are found by their path at the moment of the call, so a call by descriptor, or
relative to the descriptor of a directory, is noted as well.

The recording must be complete: `Recorder.finish` compares it with the directory.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.power.model import Machine, paths
from tests.power.record import (
    ROOT,
    Answered,
    Begun,
    Cell,
    Cut,
    Event,
    Linked,
    Made,
    Operation,
    Record,
    Renamed,
    Synced,
    Unlinked,
    Written,
)

_SHARED_MEMORY = "-shm"


class Recorder:
    """What happened below one directory, which is there already. Its methods may be called from any thread.

    `chance` says how long each sync takes: a memory file system has none of the waits in which others go on.
    """

    def __init__(self, top: str, chance: random.Random) -> None:
        self.top = os.path.realpath(top)
        self.lock = threading.RLock()
        self.events: list[Event] = []
        self.operations: list[Operation] = []
        self._chance = chance
        self._first = 0
        self._numbers: dict[str, int] = {self.top: ROOT}
        self._names: dict[int, str] = {ROOT: ""}

    def begin_on(self, disk: str) -> None:
        """The content of the directory is on disk: the recording begins with it."""
        for folder, folders, files in os.walk(disk):
            for name in folders:
                self.made(os.path.join(folder, name), is_directory=True)
            for path in (os.path.join(folder, name) for name in files):
                self.made(path)
                with open(path, "rb") as file:
                    self.written(path, 0, file.read())
        self.events.extend([Synced(number, len(self.events)) for number in self._names])
        self._first = len(self.events)

    def go_on(self, begun: Record, moment: int) -> None:
        """A process was killed at a moment of a recording, and its files are in the directory: continue from there.

        What it had not synced still is not.
        """
        self.events.extend(begun.events[:moment])
        self.operations.extend(begun.before(moment))
        self._names = dict(begun.files)
        for path, number in paths(Machine(self.events).now()):
            self._numbers[os.path.join(self.top, path)] = number
        self._first = moment

    def number_of(self, path: str) -> int | None:
        """The number of the file or directory that has this name now; None for files outside the recording."""
        return self._numbers.get(path)

    def path_of(self, path: Any, directory: int | None = None) -> str:
        """The path, whole, of what a call names: by path, by descriptor, or relative to a directory's descriptor."""
        if isinstance(path, int):
            return os.readlink(f"/proc/self/fd/{path}")
        name = os.fsdecode(path)
        if not os.path.isabs(name):
            name = os.path.join(os.getcwd() if directory is None else os.readlink(f"/proc/self/fd/{directory}"), name)
        return os.path.normpath(name)

    def made(self, path: str, *, is_directory: bool = False) -> None:
        """Record a new file or directory. Does nothing if it existed before, or is elsewhere."""
        with self.lock:
            parent, name = self._split(path)
            if parent is None or path in self._numbers or path.endswith(_SHARED_MEMORY):
                return
            number = len(self._names)
            self._numbers[path] = number
            self._names[number] = os.path.relpath(path, self.top)
            self.events.append(Made(parent, name, number, is_directory))

    def linked(self, source: str, target: str) -> None:
        """A file has one more name."""
        with self.lock:
            parent, name = self._split(target)
            if parent is not None:
                number = self._numbers[target] = self._numbers[source]
                self._names[number] = os.path.relpath(target, self.top)
                self.events.append(Linked(parent, name, number))

    def unlinked(self, path: str) -> None:
        """A name is gone."""
        with self.lock:
            parent, name = self._split(path)
            if parent is not None and self._numbers.pop(path, None) is not None:
                self.events.append(Unlinked(parent, name))

    def renamed(self, source: str, target: str) -> None:
        """A file has another name."""
        with self.lock:
            (old_parent, old), (new_parent, new) = self._split(source), self._split(target)
            if old_parent is not None and new_parent is not None:
                number = self._numbers[target] = self._numbers.pop(source)
                self._names[number] = os.path.relpath(target, self.top)
                self.events.append(Renamed(old_parent, old, new_parent, new, number))

    def written(self, path: str, offset: int, data: bytes) -> None:
        """Bytes of a file are others now."""
        with self.lock:
            number = self._numbers.get(path)
            if number is not None and data:
                self.events.append(Written(number, offset, bytes(data)))

    def cut(self, path: str, size: int) -> None:
        """A file has another size."""
        with self.lock:
            number = self._numbers.get(path)
            if number is not None:
                self.events.append(Cut(number, size))

    @contextmanager
    def syncing(self, *paths: str) -> Iterator[None]:
        """Note a sync of some files or directories, unless it fails."""
        with self.lock:
            begun = len(self.events)
            numbers = [self._numbers[path] for path in paths if path in self._numbers]
        if numbers:
            time.sleep(self._chance.choice((0.0, 0.0005, 0.002)))
        yield
        with self.lock:
            self.events.extend(Synced(number, begun) for number in numbers)

    def begin(self, what: str, effects: Mapping[Cell, bytes | None] | None = None) -> Operation:
        """A client is about to send a request to the server."""
        with self.lock:
            one = Operation(len(self.operations), what, dict(effects or {}), len(self.events))
            self.operations.append(one)
            self.events.append(Begun(one.number))
            return one

    def answer(self, number: int, done: bool) -> None:
        """The server is about to answer an operation. Only the first time counts."""
        with self.lock:
            one = self.operations[number]
            if one.answered < 0:
                one.answered, one.done = len(self.events), done
                self.events.append(Answered(number, done))

    def finish(self, data_directory: str, trees: dict[str, dict[str, str]]) -> Record:
        """The recording. Raises AssertionError when the disk holds something else than the recording says."""
        disk = Machine(self.events).now()
        said = {os.path.join(self.top, path): disk.contents.get(number, b"") for path, number in paths(disk)}
        there: dict[str, bytes] = {}
        for folder, folders, files in os.walk(self.top):
            there |= dict.fromkeys((os.path.join(folder, name) for name in folders), b"")
            for path in (os.path.join(folder, name) for name in files if not name.endswith(_SHARED_MEMORY)):
                with open(path, "rb") as file:
                    there[path] = file.read()
        wrong = sorted(path for path in said.keys() | there.keys() if said.get(path) != there.get(path))
        assert not wrong, f"the recorder has missed changes of {wrong[:5]}"
        times = {number: os.stat(path).st_mtime_ns for path, number in self._numbers.items()}
        return Record(self.events, self.operations, trees, data_directory, self._names, times, self._first)

    def _split(self, path: str) -> tuple[int | None, str]:
        folder, name = os.path.split(path)
        return self._numbers.get(folder), name
