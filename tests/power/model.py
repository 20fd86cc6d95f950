"""What a disk may hold after a power loss: the model.

A file system call changes memory. It reaches the disk when a sync covers it, or at any moment before that, or never.
After a loss of power the disk holds all that is synced and, of the rest, any part:

- **Bytes.** The drive writes a sector of 512 bytes whole or not at all. Of a sector with unsynced writes the disk has
  the bytes as they were after the last sync, or after any one of the writes since. Sectors are independent, so a write
  can be lost, torn or overtaken by a later one. A sector that no sync has covered reads as zeros where it was lost.
- **Size.** With unsynced writes a file has any size between the smallest and the largest since its last sync, whatever
  became of its bytes. So a file may have grown and hold zeros, or hold its bytes behind its end.
- **Names.** `fsync` of a file makes its bytes and its size durable, not its name: that takes an `fsync` of the
  directory, and of each directory above that has no durable name itself. Each name that was made, replaced or removed
  since the last sync of its directory is there or not, independently of every other name.
- **Rename.** The new name is never lost together with the old one: a disk has the old name, the new one, or both.
  Where the sync of one of two directories covers the removal of the old name, it covers the new name.
- **Syncs.** A sync covers the calls that had returned when it was called, none that came while it was under way.
- A machine that stops forgets locks and shared memory. The file of SQLite's shared memory is therefore not part of the
  recording: a disk has none, or one of garbage.

Sources: POSIX.1-2024 `fsync`, `fdatasync`, `rename`; Linux `fsync(2)`: "Calling fsync() does not necessarily ensure
that the entry in the directory containing the file has also reached disk. For that an explicit fsync() on a file
descriptor for the directory is also needed."; Pillai et al., "All File Systems Are Not Created Equal" (OSDI 2014), for
what ext3, ext4, XFS and btrfs reorder; SQLite, "Atomic Commit In SQLite" and "Powersafe Overwrite", for what a
database expects of a sector. ext4 and XFS order the changes of names by a journal; the model does not, and so it has
every disk of theirs and more.

Not in the model: a drive that reports "synced" falsely, bytes that rot, blocks of other files that show up in a new one
(ext4 with `data=writeback`), and names that are lost although their directory was synced.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.power.contents import File, Lost, apply, content_after
from tests.power.policy import Policy
from tests.power.record import NEVER, ROOT, Cut, Event, Linked, Made, Renamed, Synced, Unlinked, Written


class Pending(NamedTuple):
    """A change of one name that no sync covers, by event: what it means then. `also`: the new name of a rename."""

    event: int
    number: int | None
    also: tuple[int, str] | None = None


@dataclass(slots=True)
class Directory:
    """A directory: its names as of the last sync, and the changes of each name since."""

    names: dict[str, int] = field(default_factory=dict)
    pending: dict[str, list[Pending]] = field(default_factory=lambda: defaultdict(list))


@dataclass(slots=True)
class Disk:
    """A disk after the loss."""

    names: dict[int, dict[str, int]]
    contents: dict[int, bytes]
    lost: list[Lost]
    way: str


class Machine:
    """The state of a machine after the first events of a recording: what is on disk, and what is not yet."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.files: dict[int, File] = {}
        self.directories: dict[int, Directory] = {ROOT: Directory()}
        for index, event in enumerate(events):
            self._apply(index, event)

    def _apply(self, index: int, event: Event) -> None:
        match event:
            case Made(directory, name, number, is_directory):
                if is_directory:
                    self.directories[number] = Directory()
                else:
                    self.files[number] = File()
                self.directories[directory].pending[name].append(Pending(index, number))
            case Linked(directory, name, number):
                self.directories[directory].pending[name].append(Pending(index, number))
            case Unlinked(directory, name):
                self.directories[directory].pending[name].append(Pending(index, None))
            case Renamed(source, old, target, new, number):
                self.directories[source].pending[old].append(Pending(index, None, (target, new)))
                self.directories[target].pending[new].append(Pending(index, number))
            case Written(number) | Cut(number):
                self.files[number].pending.append((index, event))
            case Synced(number, begun) if number in self.files:
                self._sync_file(self.files[number], begun)
            case Synced(number, begun):
                self._sync_names(self.directories[number], begun)

    def _sync_file(self, file: File, begun: int) -> None:
        for index, change in file.pending:
            if index < begun:
                apply(file.synced, change)
        file.pending = [one for one in file.pending if one[0] >= begun]

    def _sync_names(self, directory: Directory, begun: int) -> None:
        for name in list(directory.pending):
            self._sync_name(directory, name, begun)

    def _sync_name(self, directory: Directory, name: str, begun: int) -> None:
        changes = directory.pending.pop(name, [])
        covered = [one for one in changes if one.event < begun]
        if len(covered) < len(changes):
            directory.pending[name] = changes[len(covered) :]
        for one in covered:
            if one.number is None:
                directory.names.pop(name, None)
            else:
                directory.names[name] = one.number
            if one.also is not None:
                self._sync_name(self.directories[one.also[0]], one.also[1], one.event + 1)

    def after_loss(self, chance: random.Random, way: str = "") -> Disk:
        """One of the disks that the machine may leave behind, by chance. `way`: by that way of losing."""
        policy = Policy(chance, _last(self), way)
        names, lost = self._names(policy)
        contents = {}
        for number, file in self.files.items():
            contents[number], torn = content_after(number, file, policy)
            lost += torn
        return Disk(names, contents, lost, policy.way)

    def now(self) -> Disk:
        """What every process sees, on disk or not."""
        for directory in self.directories.values():
            self._sync_names(directory, NEVER)
        for file in self.files.values():
            self._sync_file(file, NEVER)
        return self.after_loss(random.Random(0))

    def _names(self, policy: Policy) -> tuple[dict[int, dict[str, int]], list[Lost]]:
        """The names of each directory, and the changes that were lost."""
        landed: dict[tuple[int, str], int] = {}  # index of the last change on disk
        for number, directory in self.directories.items():
            for name, changes in directory.pending.items():
                landed[number, name] = max((one.event for one in changes if policy.name(one.event)), default=-1)
        while self._new_names_forced(landed):
            pass
        names, lost = {}, []
        for number, directory in self.directories.items():
            names[number] = dict(directory.names)
            for name, changes in directory.pending.items():
                for one in changes:
                    if one.event > landed[number, name]:
                        lost.append(Lost(one.event, number, f"{'removal' if one.number is None else 'name'} {name}"))
                    elif one.number is None:
                        names[number].pop(name, None)
                    else:
                        names[number][name] = one.number
        return names, lost

    def _new_names_forced(self, landed: dict[tuple[int, str], int]) -> bool:
        """Let the new name of a rename be there where the old one is gone by it. Whether that changed anything."""
        changed = False
        for number, directory in self.directories.items():
            for name, changes in directory.pending.items():
                for one in changes:
                    if one.also in landed and one.event <= landed[number, name] and landed[one.also] < one.event:
                        landed[one.also] = one.event
                        changed = True
        return changed


def paths(disk: Disk) -> Iterator[tuple[str, int]]:
    """Every name on a disk, as a path below its top, with what it means; directories before what is in them."""
    folders = [("", ROOT)]
    while folders:
        folder, number = folders.pop()
        for name, one in disk.names[number].items():
            path = f"{folder}/{name}" if folder else name
            yield path, one
            if one in disk.names:
                folders.append((path, one))


def _last(machine: Machine) -> Sequence[int]:
    """The numbers of all events that no sync covers, in order."""
    found = {index for file in machine.files.values() for index, _ in file.pending}
    for directory in machine.directories.values():
        found.update(one.event for changes in directory.pending.values() for one in changes)
    return sorted(found)
