"""The bytes of a file after a power loss: writes that reached the disk, whole, torn or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.power.policy import Policy
from tests.power.record import Cut, Written

SECTOR = 512
"""Bytes that a drive writes whole or not at all."""


@dataclass(slots=True)
class File:
    """A file: its bytes as of the last sync, and the writes since, by the number of their event."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, Written | Cut]] = field(default_factory=list)


class Lost(NamedTuple):
    """One thing that did not reach the disk, for people: of which event, on which file."""

    event: int
    number: int
    what: str


def content_after(number: int, file: File, policy: Policy) -> tuple[bytes, list[Lost]]:
    """The bytes of a file after the loss, and the writes that are not whole."""
    if not file.pending:
        return bytes(file.synced), []
    sizes = [len(file.synced)]
    for _, change in file.pending:
        sizes.append(change.size if isinstance(change, Cut) else max(sizes[-1], change.offset + len(change.data)))
    found = file.synced + bytes(max(sizes) - len(file.synced))
    lost = []
    for (index, change), sectors, all_of in _landed(file.pending, max(sizes), policy):
        for start, end in _runs(sectors):
            _write(found, change, start * SECTOR, end * SECTOR)
        if len(sectors) < all_of:
            said = f"cut to {change.size}" if isinstance(change, Cut) else f"write of {len(change.data)}"
            lost.append(Lost(index, number, f"{said}: {all_of - len(sectors)} of {all_of} sectors"))
    size = policy.size(sizes)
    if size != sizes[-1]:
        lost.append(Lost(file.pending[-1][0], number, f"size {sizes[-1]}: it is {size}"))
    return bytes(found[:size]), lost


def _landed(
    pending: Sequence[tuple[int, Written | Cut]], end: int, policy: Policy
) -> list[tuple[tuple[int, Written | Cut], set[int], int]]:
    """Each write, in order, with the sectors of it that are on disk, and how many it had.

    A sector that has a later write has the earlier ones too: memory is what reaches the disk, not calls.
    """
    later: set[int] = set()
    found = []
    for index, change in reversed(pending):
        touched = _sectors(change, end)
        share = policy.bytes(index)
        if share == 1.0:
            sectors = set(touched)
        elif share == 0.0:
            sectors = {one for one in touched if one in later} if later else set()
        else:
            sectors = {one for one in touched if one in later or policy.chance.random() < share}
        later |= sectors
        found.append(((index, change), sectors, len(touched)))
    return found[::-1]


def _sectors(change: Written | Cut, end: int) -> range:
    if isinstance(change, Cut):
        return range(change.size // SECTOR, -(-end // SECTOR))
    return range(change.offset // SECTOR, -(-(change.offset + len(change.data)) // SECTOR))


def _runs(sectors: set[int]) -> Iterator[tuple[int, int]]:
    """Sectors as ranges."""
    start = end = -1
    for one in sorted(sectors):
        if one != end:
            if end > start:
                yield start, end
            start = one
        end = one + 1
    if end > start:
        yield start, end


def _write(found: bytearray, change: Written | Cut, start: int, end: int) -> None:
    """Do the part of a change between two places of a file."""
    if isinstance(change, Cut):
        start, end = max(start, change.size), min(end, len(found))
        found[start:end] = bytes(max(end - start, 0))
        return
    start, end = max(start, change.offset), min(end, change.offset + len(change.data))
    found[start:end] = change.data[start - change.offset : end - change.offset]


def apply(content: bytearray, change: Written | Cut) -> None:
    """Do a whole change."""
    if isinstance(change, Cut):
        content[change.size :] = bytes(max(change.size - len(content), 0))
        return
    content.extend(bytes(max(change.offset + len(change.data) - len(content), 0)))
    content[change.offset : change.offset + len(change.data)] = change.data
