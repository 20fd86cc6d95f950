"""The power fails at many moments of real servers, and no disk lacks what was acknowledged; mutants are noticed.

Here some moments of a few recordings; `python -m tests.power.run --disks 20000` has every moment of many.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from lakebed_engine.stores.objects.local.syscalls import SystemCalls

from tests.power.expected import Expected
from tests.power.model import Machine
from tests.power.mutants import ROOT, hunt, hunt_mutant, mutated, patches
from tests.power.pool import run
from tests.power.record import Cut, Event, Linked, Made, Operation, Record, Renamed, Synced, Unlinked, Written
from tests.power.recording.os_calls import recording
from tests.power.recording.recorder import Recorder
from tests.power.recording.starts import Trees, after_kill, first_start
from tests.power.replay import SEEDS, build, look, moment
from tests.support.sampling import sampled
from tests.support.seeds import seed_of_the_engine
from tests.support.sizes import sized

START = seed_of_the_engine()
DISKS = sized(180, soak=360)
CELL = "object", "main", "a"


def name(patch: Path) -> str:
    return patch.stem


@pytest.mark.slow
def test_no_disk_lacks_what_was_acknowledged(
    tmp_path: Path, record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(tmp_path, DISKS, start=START, recordings=3, served=1, jobs=2)
    assert found.failures == []
    assert found.disks >= DISKS
    assert found.served == 3
    assert found.lost > found.disks, "hardly anything was lost"
    record_property("disks", found.disks)


@pytest.mark.slow
def test_a_first_start_is_killed_at_each_event_and_the_power_fails_after_the_second(tmp_path: Path) -> None:
    """The second start makes durable what the first has left, too: nothing unsynced reaches these disks."""
    (tmp_path / "first").mkdir()
    begun = first_start(START, tmp_path / "first")
    answered = begun.operations[0].answered
    assert answered > 20
    for killed in range(answered + 1):
        top, disk = tmp_path / f"{killed}", tmp_path / f"{killed}-disk"
        top.mkdir()
        disk.mkdir()
        record = after_kill(begun, killed, top, random.Random(killed), _nothing)
        build(Machine(record.events).after_loss(random.Random(killed), "nothing"), disk, record)
        expected = Expected(record, len(record.events))
        assert any(cell[0] == "key" for one in expected.acknowledged for cell in one.effects) or killed > 1
        assert look(disk / record.data_directory, record, expected, random.Random(0)) == [], f"killed at {killed}"


async def _nothing(*_: object) -> Trees:
    return {}


@pytest.mark.slow
@pytest.mark.parametrize("patch", patches(), ids=name)
def test_a_mutant_still_applies(patch: Path, tmp_path: Path) -> None:
    assert (mutated(patch, tmp_path) / "lakebed_engine" / "engine.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize("patch", sampled(patches(), 2, name))
def test_a_mutant_is_caught(patch: Path, record_property: Callable[[str, object], None]) -> None:
    (found,) = hunt_mutant(patch, [START])
    assert found.needed is not None
    record_property("disks_needed", found.needed)


@pytest.mark.slow
def test_unchanged_code_loses_nothing() -> None:
    """From the same start as the mutants; in `make soak` as many disks as the slowest of them took, and more."""
    assert hunt(ROOT / "server_stub", START, sized(50, soak=100)).needed is None


def recorded(top: Path) -> Recorder:
    return Recorder(str(top), random.Random(0))


def kinds(recorder: Recorder) -> list[type[Event]]:
    return [type(event) for event in recorder.events]


def test_recorder_resolves_all_ways_to_name_a_file(tmp_path: Path) -> None:
    recorder = recorded(tmp_path)
    calls = SystemCalls()
    with recording(recorder):
        (tmp_path / "d").mkdir()
        folder = os.open(tmp_path / "d", os.O_RDONLY)
        file = os.open("a", os.O_CREAT | os.O_WRONLY, dir_fd=folder)
        calls.write(file, b"one")
        calls.writev(file, [b"two", b"three"])
        os.pwrite(file, b"T", 3)
        os.ftruncate(file, 10)
        calls.fsync_all([file, folder])
        os.rename("a", "b", src_dir_fd=folder, dst_dir_fd=folder)
        os.link("b", tmp_path / "c", src_dir_fd=folder)
        os.unlink("b", dir_fd=folder)
        os.close(folder)
        os.close(file)
        with os.fdopen(os.open(tmp_path / "e", os.O_CREAT | os.O_WRONLY), "w") as text:
            text.write("text")
            text.flush()
            os.fsync(text.fileno())
        (tmp_path / "f").write_text("more")
    record = recorder.finish("d", {})
    changes = [Made, Made, Written, Written, Written, Cut, Synced, Synced, Renamed, Linked, Unlinked]
    assert kinds(recorder) == [*changes, Made, Written, Synced, Made, Cut, Written]
    assert record.events[3] == Written(2, 3, b"twothree")
    assert (tmp_path / "c").read_bytes() == b"oneTwothre"


def test_a_change_behind_the_recorder_s_back_is_noticed(tmp_path: Path) -> None:
    recorder = recorded(tmp_path)
    with recording(recorder):
        (tmp_path / "a").write_text("seen")
    recorder.finish(".", {})
    (tmp_path / "a").write_text("more")
    with pytest.raises(AssertionError, match="the recorder has missed changes"):
        recorder.finish(".", {})


def promised(answered: int, *, done: bool = True, value: bytes | None = b"new") -> Record:
    """Value `old` was acknowledged at event 1; another operation begins at 2 and is answered then."""
    first = Operation(0, "first", {CELL: b"old"}, 0, 1, True)
    second = Operation(1, "second", {CELL: value, ("tag", "t"): b"x"}, 2, answered, done)
    return Record([], [first, second], {}, ".", {}, {})


@pytest.mark.parametrize(
    ("record", "seen", "wrong"),
    [
        (promised(3), {CELL: b"new", ("tag", "t"): b"x"}, []),
        (promised(3), {CELL: b"old", ("tag", "t"): b"x"}, ["acknowledged, and not there"]),
        (promised(3, value=None), {CELL: b"old", ("tag", "t"): b"x"}, ["acknowledged as deleted, and there"]),
        (promised(9), {CELL: b"old"}, []),
        (promised(9), {CELL: b"new", ("tag", "t"): b"x"}, []),
        (promised(9), {CELL: b"new"}, ["there in part"]),
        (promised(9), {}, ["acknowledged, and not there"]),
        (promised(3, done=False), {CELL: b"old"}, []),
        (promised(3, done=False), {CELL: b"new"}, ["acknowledged, and not there"]),
        (promised(3, done=False), {CELL: b"old", ("tag", "t"): b"x"}, ["there, and never acknowledged"]),
        (promised(3), {CELL: b"new", ("tag", "t"): b"x", ("tag", "u"): b""}, ["there, and never acknowledged"]),
    ],
)
def test_violated_promises_are_found(record: Record, seen: dict[tuple[str, ...], bytes], wrong: list[str]) -> None:
    found = list(Expected(record, 5).violations(seen))
    assert len(found) == len(wrong)
    assert all(one.startswith(said) for one, said in zip(found, wrong, strict=True))


def test_the_seeds_of_a_recording_meet_each_moment_once() -> None:
    record = Record([Unlinked(0, "a")] * 1234, [], {}, ".", {}, {})
    assert sorted(moment(record, SEEDS + turn) for turn in range(1235)) == list(range(1235))
    record.first = 1000
    assert sorted(moment(record, SEEDS + turn) for turn in range(235)) == list(range(1000, 1235))
