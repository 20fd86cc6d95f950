"""Objects that arrive in parts: what became of each upload, by its rows, and when an answer about it is true.

An upload is open, then planned, then completed or given up, then forgotten. It ends once, and all of it with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import md5
from typing import Final, Literal, NamedTuple

from lakebed_engine.operations.multipart.records import REMEMBERED, Ended, decode_ended, decode_part, decode_upload
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.vocabulary.multipart import Upload, UploadedPart
from lakebed_engine.vocabulary.records import Entry
from lakebed_format import identity
from lakebed_format.keys import PARTS

from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import CONTENT_TYPE, Op, Value, Violation
from tests.simulation.world.scheduler import Scheduler

LIFETIME = 2.0
"""Of uploads, in virtual seconds: a cleaner gives up what is older."""

COMPLETE: Final = "mp_complete"
KINDS = (b"upload/", b"part/", b"ended/")
LEFT = (*KINDS, b"upload-due/")
"""Rows that are gone when every upload is forgotten."""

Stage = Literal["open", "planned", "completed", "given up", "forgotten"]
Parts = Sequence[tuple[int, str]]
"""Numbers of parts and their ETags, as a client names them."""


class Moment(NamedTuple):
    """An upload from a step on, in this stage since that time. `reported`: the parts to complete, once planned."""

    step: int
    stage: Stage
    since: float
    parts: Mapping[int, str] = {}
    reported: Parts = ()
    entry: Entry | None = None


class Uploads:
    """Every upload of one schedule."""

    def __init__(self, contents: Contents, scheduler: Scheduler) -> None:
        self._contents = contents
        self._scheduler = scheduler
        self._moments: dict[str, list[Moment]] = {}

    # reports of the audit

    def applied(self, batch: Batch, op: Op | None) -> None:
        """A KV batch took effect. Raises Violation."""
        own = self._contents.partition
        keys = [key for part, key, _ in batch.puts if part == own] + [key for part, key in batch.deletes if part == own]
        for one in dict.fromkeys(_id_of(key) for key in keys if key.startswith(KINDS)):
            self._changed(one, op)

    def _changed(self, one: str, op: Op | None) -> None:
        moments = self._moments.setdefault(one, [])
        new = self._now(one, op, moments[-1] if moments else None)
        if moments:
            _check_step(op, one, moments[-1], new)
        elif new.stage != "open":
            raise Violation(f"{op} begins upload {one[-6:]} as {new.stage}")
        moments.append(new)

    def _now(self, one: str, op: Op | None, old: Moment | None) -> Moment:
        upload, ended, parts = self._rows(one)
        stage: Stage = "forgotten"
        reported: Parts = old.reported if old is not None else ()
        if upload is not None and ended is not None:
            raise Violation(f"{op} ends upload {one[-6:]}, which goes on")
        if ended is not None:
            stage = "given up" if ended.entry is None else "completed"
        elif upload is not None:
            stage = "planned" if upload.plan else "open"
            reported = reported if reported or not upload.plan else _reported(op)
        same = old is not None and old.stage == stage
        since = old.since if old is not None and same else self._scheduler.time
        sent = {number: part.md5 for number, part in parts.items()}
        return Moment(self._scheduler.step, stage, since, sent, reported, None if ended is None else ended.entry)

    def _rows(self, one: str) -> tuple[Upload | None, Ended | None, dict[int, UploadedPart]]:
        rows = self._contents.rows(self._contents.partition)
        uploads = [row for key, row in rows.items() if key.startswith(b"upload/") and _id_of(key) == one]
        ended = rows.get(b"ended/" + one.encode())
        folder = f"part/{one}/".encode()
        parts = [decode_part(row.value) for key, row in rows.items() if key.startswith(folder)]
        return (
            decode_upload(uploads[0].value) if uploads else None,
            None if ended is None else decode_ended(ended.value),
            {part.number: part for part in parts},
        )

    def staged(self, op: Op, rows: Mapping[str, Value | None]) -> None:
        """The row of a completed upload. It is its object whole, and the upload ends with it. Raises Violation."""
        one = op.args["upload"]
        moment = self._moments[one][-1]
        if moment.stage != "completed" or moment.step != self._scheduler.step:
            raise Violation(f"{op} stages its object, and its upload is {moment.stage}")
        for path, value in rows.items():
            data = None if value is None else self._contents.need(value.address)
            if data != op.args["content"].encode():
                raise Violation(f"{op} makes {path!r} of other bytes than those of its parts")

    def deleted(self, keys: Sequence[str], op: Op | None) -> None:
        """Objects are about to be deleted. Raises Violation."""
        for key in keys:
            parts = key.startswith(PARTS)
            one = key.removeprefix(PARTS).partition("/")[0] if parts else key.rpartition("/")[2]
            stage = self.stage(one)
            if stage in ("open", "planned"):
                raise Violation(f"{op} deletes {key}, whose upload is {stage}")

    # what answers are judged by

    def stage(self, one: str) -> Stage | None:
        """That of an upload at present; None: no upload is called so."""
        moments = self._moments.get(one)
        return moments[-1].stage if moments else None

    def was_given_up(self, one: str) -> bool:
        """Whether an upload of this id has ended so."""
        return any(moment.stage == "given up" for moment in self._moments.get(one, ()))

    def ids(self) -> Sequence[str]:
        """Every upload there ever was."""
        return list(self._moments)

    def during(self, op: Op) -> list[Moment]:
        """Every moment of an upload from when a call was made to its answer."""
        moments = self._moments[op.args["upload"]]
        last = [one for one in moments if one.step <= (1 << 60 if op.returned is None else op.returned)]
        before = [one for one in last if one.step <= op.invoked]
        return last[max(len(before) - 1, 0) :]

    def acknowledged(self, op: Op) -> None:
        """What was said to be done, was. Raises Violation."""
        moments = self.during(op)
        if op.kind == COMPLETE:
            entry = op.answer.entry
            landed = [one for one in moments if one.entry is not None and one.entry == entry]
            if not landed or identity_of(op.args["texts"]) != entry.identity:
                raise Violation(f"{op} was acknowledged, and its object is another one or none")
        elif op.kind == "mp_abort":
            if not any(one.stage == "given up" for one in moments):
                raise Violation(f"{op} was acknowledged, and the upload was not given up")
        elif not any(one.parts.get(op.args["number"]) == op.answer.md5 for one in moments):
            raise Violation(f"{op} was acknowledged, and the part never counted")

    def gone(self, op: Op) -> bool:
        """There was no such upload, or none that takes parts, at some moment of the call."""
        moments = self.during(op)
        if op.kind == COMPLETE:
            return any(one.stage in ("given up", "forgotten") or _is_another(op, one) for one in moments)
        wrong = ("completed", "forgotten") if op.kind == "mp_abort" else ("planned", "completed", "given up")
        return any(one.stage in (*wrong, "forgotten") for one in moments)

    def other_parts(self, op: Op) -> bool:
        """The parts differ from the acknowledged ones, or from the planned ones."""
        reported = op.args.get("reported", ())
        for one in self.during(op):
            if one.stage == "open" and any(one.parts.get(number) != etag for number, etag in reported):
                return True
            if one.stage == "planned" and one.reported != reported:
                return True
        return False

    def was_completed(self, op: Op) -> bool:
        """It had been completed with these very parts when the call was made: nothing but that may be answered."""
        first = self.during(op)[0]
        return first.stage == "completed" and not _is_another(op, first)


def identity_of(texts: Sequence[str]) -> bytes:
    """The identity of an object of these parts."""
    sizes = [len(text) for text in texts]
    runs: list[list[int]] = []
    for size in sizes:
        if runs and runs[-1][1] == size:
            runs[-1][0] += 1
        else:
            runs.append([1, size])
    reported = {"::s3::parts": ",".join(f"{count}x{size}" for count, size in runs)} if len(sizes) > 1 else {}
    return identity(sum(sizes), checksum_of([etag_of(text) for text in texts]), CONTENT_TYPE, reported)


def etag_of(text: str) -> str:
    """The ETag of a part."""
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def checksum_of(etags: Sequence[str]) -> str:
    """The checksum of an object of parts with these ETags."""
    return md5(b"".join(map(bytes.fromhex, etags)), usedforsecurity=False).hexdigest()


def nothing_left(contents: Contents, uploads: Uploads) -> None:
    """Once every upload is forgotten there is no row and no part, and an aborted upload left no object."""
    rows = [key for key in contents.rows(contents.partition) if key.startswith(LEFT)]
    blobs = [key for key in contents.blobs._blobs if key.startswith(PARTS)]
    if rows or blobs:
        raise Violation(f"of uploads that have ended are left: {rows} {blobs}")
    for key in contents.blobs._blobs:
        if uploads.was_given_up(key.rpartition("/")[2]):
            raise Violation(f"{key} is left of an upload that was given up")


def _is_another(op: Op, moment: Moment) -> bool:
    """Whether an upload was completed with other parts."""
    etags = [etag for _, etag in op.args["reported"]]
    return moment.entry is not None and moment.entry.etag != f"{checksum_of(etags)}-{len(etags)}"


def _reported(op: Op | None) -> Parts:
    if op is None or op.kind != COMPLETE:
        raise Violation(f"{op} plans an upload")
    reported: Parts = op.args["reported"]
    return reported


_NEXT: Mapping[Stage, tuple[Stage, ...]] = {
    "open": ("open", "planned", "given up"),
    "planned": ("planned", "completed", "given up"),
    "completed": ("completed", "forgotten"),
    "given up": ("given up", "forgotten"),
    "forgotten": ("forgotten",),
}


def _check_step(op: Op | None, one: str, old: Moment, new: Moment) -> None:
    """One change of an upload's rows. Raises Violation."""
    what = f"{op} makes upload {one[-6:]}, which is {old.stage}"
    if new.stage not in _NEXT[old.stage]:
        raise Violation(f"{what}, {new.stage}")
    if new.stage == old.stage and new.entry != old.entry:
        raise Violation(f"{what}, completed once more")
    if new.stage == "completed" != old.stage and (op is None or op.kind != COMPLETE):
        raise Violation(f"{what}, completed")
    gone, came = old.parts.keys() - new.parts.keys(), new.parts.items() - old.parts.items()
    if gone and new.stage in ("open", "planned"):
        raise Violation(f"{what}, forget parts {sorted(gone)}")
    if came and old.stage != "open":
        raise Violation(f"{what}, take a part")
    if new.stage == "forgotten" != old.stage and new.since - old.since < REMEMBERED - 1:
        raise Violation(f"{what}, forgotten after {new.since - old.since:.0f} s")


def _id_of(key: bytes) -> str:
    kind, _, rest = key.partition(b"/")
    if kind == b"upload":
        return rest.rpartition(b"\0")[2].decode()
    return rest.partition(b"/")[0].decode()
