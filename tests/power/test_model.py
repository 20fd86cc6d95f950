"""The model of a power loss: it reaches each disk that its rules allow, and none that they forbid."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.power.contents import SECTOR
from tests.power.model import Disk, Machine
from tests.power.record import ROOT, Cut, Event, Linked, Made, Renamed, Synced, Unlinked, Written

FILE, FOLDER, OTHER = 1, 2, 3
OLD, NEW, THIRD = (bytes([byte]) * SECTOR for byte in b"oxt")
A_FILE = Made(ROOT, "a", FILE, False)
TRIES = 3000


def disks(events: Sequence[Event]) -> list[Disk]:
    """Many of the disks that may be left."""
    return [Machine(events).after_loss(random.Random(seed)) for seed in range(TRIES)]


def contents(*events: Event) -> set[bytes]:
    """What a file may hold."""
    return {one.contents[FILE] for one in disks([A_FILE, *events])}


def names(*events: Event, of: int = ROOT) -> set[tuple[tuple[str, int], ...]]:
    """The names that a directory may have."""
    return {tuple(sorted(one.names[of].items())) for one in disks(events)}


def test_synced_data_survives_power_loss() -> None:
    events: list[Event] = [A_FILE, Written(FILE, 0, OLD), Synced(FILE, 2), Synced(ROOT, 2)]
    found = disks(events)
    assert {one.contents[FILE] for one in found} == {OLD}
    assert {tuple(one.names[ROOT]) for one in found} == {("a",)}
    assert all(not one.lost for one in found)


def test_the_sync_of_a_file_leaves_its_name_unsynced() -> None:
    events: list[Event] = [A_FILE, Written(FILE, 0, OLD), Synced(FILE, 2)]
    assert {tuple(one.names[ROOT]) for one in disks(events)} == {(), ("a",)}


def test_a_directory_sync_covers_neither_its_own_name_nor_file_content() -> None:
    events: list[Event] = [
        Made(ROOT, "d", FOLDER, True),
        Made(FOLDER, "a", FILE, False),
        Written(FILE, 0, OLD),
        Synced(FOLDER, 3),
    ]
    found = disks(events)
    assert {tuple(one.names[ROOT]) for one in found} == {(), ("d",)}
    assert {tuple(one.names[FOLDER]) for one in found} == {("a",)}
    assert b"" in {one.contents[FILE] for one in found}


def test_a_sync_covers_what_came_before_its_call() -> None:
    """The second write comes while the sync is under way."""
    found = contents(Written(FILE, 0, OLD), Written(FILE, 0, NEW), Synced(FILE, 2))
    assert found == {OLD, NEW}


def test_a_sector_has_its_bytes_from_one_moment() -> None:
    events = (Written(FILE, 0, OLD), Synced(FILE, 2), Written(FILE, 0, NEW[:100]), Written(FILE, 100, THIRD[100:]))
    assert contents(*events) == {OLD, NEW[:100] + OLD[100:], NEW[:100] + THIRD[100:]}


def test_sectors_are_torn_apart_and_overtake_each_other() -> None:
    found = contents(Written(FILE, 0, OLD * 2), Synced(FILE, 2), Written(FILE, 0, NEW), Written(FILE, SECTOR, NEW))
    assert found == {OLD * 2, NEW + OLD, OLD + NEW, NEW * 2}
    assert contents(Written(FILE, 0, OLD * 2), Synced(FILE, 2), Written(FILE, 0, NEW * 2)) == found


def test_an_appended_file_has_any_size_and_zeros_where_its_bytes_are_lost() -> None:
    found = contents(Written(FILE, 0, OLD), Synced(FILE, 2), Written(FILE, SECTOR, NEW))
    assert {OLD, OLD + NEW, OLD + bytes(SECTOR)} <= found
    assert any(SECTOR < len(one) < 2 * SECTOR for one in found)
    assert all(one.startswith(OLD) for one in found)


def test_a_file_that_is_cut_may_keep_its_end() -> None:
    found = contents(Written(FILE, 0, OLD + OLD), Synced(FILE, 2), Cut(FILE, SECTOR))
    assert {OLD, OLD + OLD} <= found
    assert contents(Written(FILE, 0, OLD), Cut(FILE, 3), Synced(FILE, 3)) == {OLD[:3]}


def test_names_are_lost_independently() -> None:
    made: list[Event] = [Made(ROOT, "a", FILE, False), Made(ROOT, "b", OTHER, False)]
    assert names(*made) == {(), (("a", FILE),), (("b", OTHER),), (("a", FILE), ("b", OTHER))}


def test_an_unsynced_removal_may_be_lost() -> None:
    assert names(A_FILE, Synced(ROOT, 1), Unlinked(ROOT, "a")) == {(), (("a", FILE),)}
    assert names(A_FILE, Unlinked(ROOT, "a"), Synced(ROOT, 2)) == {()}


def test_a_link_is_a_name_of_its_own() -> None:
    events: list[Event] = [A_FILE, Synced(ROOT, 1), Linked(ROOT, "b", FILE), Unlinked(ROOT, "a")]
    assert names(*events) == {(), (("a", FILE),), (("b", FILE),), (("a", FILE), ("b", FILE))}


def test_a_rename_never_loses_both_names() -> None:
    events: list[Event] = [A_FILE, Synced(ROOT, 1), Renamed(ROOT, "a", ROOT, "b", FILE)]
    assert names(*events) == {(("a", FILE),), (("b", FILE),), (("a", FILE), ("b", FILE))}
    replaced: list[Event] = [
        A_FILE,
        Made(ROOT, "b", OTHER, False),
        Synced(ROOT, 2),
        Renamed(ROOT, "a", ROOT, "b", FILE),
    ]
    assert names(*replaced) == {(("a", FILE), ("b", OTHER)), (("b", FILE),), (("a", FILE), ("b", FILE))}


def test_the_sync_of_the_directory_that_a_file_leaves_covers_its_new_name() -> None:
    events: list[Event] = [
        Made(ROOT, "d", FOLDER, True),
        A_FILE,
        Synced(ROOT, 2),
        Renamed(ROOT, "a", FOLDER, "b", FILE),
    ]
    assert names(*events, Synced(ROOT, 4), of=FOLDER) == {(("b", FILE),)}
    assert names(*events, Synced(FOLDER, 4)) == {(("a", FILE), ("d", FOLDER)), (("d", FOLDER),)}
    assert names(*events, of=FOLDER) == {(), (("b", FILE),)}


def test_equal_seeds_make_equal_disks() -> None:
    events: list[Event] = [A_FILE, *(Written(FILE, number * SECTOR, NEW) for number in range(20))]
    assert Machine(events).after_loss(random.Random(7)) == Machine(events).after_loss(random.Random(7))
