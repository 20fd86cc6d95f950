"""The files that a process reads, kept where another process can read them after a crash.

Damaged files can make a C++ library end the process. Then the files that were read last are all that is known.
"""

from __future__ import annotations

import mmap
import threading
from typing import Final

_SLOTS: Final = 16
_BYTES: Final = 1024
_LENGTH: Final = 2


class Progress:
    """The last path of each thread, in memory that a process shares with its forks."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SLOTS * _BYTES)
        self._slots: dict[int, int] = {}

    def note(self, path: str) -> None:
        """This thread reads a file."""
        slot = self._slots.setdefault(threading.get_ident(), len(self._slots) % _SLOTS)
        data = path.encode()[: _BYTES - _LENGTH]
        self._memory[slot * _BYTES : slot * _BYTES + _LENGTH + len(data)] = len(data).to_bytes(_LENGTH, "big") + data

    def paths(self) -> list[str]:
        """The last paths of all threads."""
        found = []
        for start in range(0, _SLOTS * _BYTES, _BYTES):
            length = int.from_bytes(self._memory[start : start + _LENGTH], "big")
            data = self._memory[start + _LENGTH : start + _LENGTH + min(length, _BYTES)]
            if data:
                found.append(data.decode(errors="replace"))
        return list(dict.fromkeys(found))
