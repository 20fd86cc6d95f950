"""The total of a local tree is known before its first file is sent, and exact at the end."""

from __future__ import annotations

from pathlib import Path

import lakebed
import pytest
from lakebed._bulk.local_tree import count_tree
from lakebed._bulk.progress import Tally
from lakebed.model import TransferProgress, TransferResult


def test_every_report_of_an_upload_has_the_total(
    repo: lakebed.Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed._bulk.progress.INTERVAL", 0.0)
    (tmp_path / "tree").mkdir()
    for number in range(600):
        (tmp_path / "tree" / f"{number:03}").write_bytes(b"12345")
    seen: list[TransferProgress] = []
    with repo.branch("main").workspace("load") as ws:
        done = ws.upload_tree(tmp_path / "tree", "t", progress=seen.append, journal=tmp_path / "journal")
    assert {(one.files_total, one.bytes_total, one.complete) for one in seen} == {(600, 3000, True)}
    assert (seen[-1].files, seen[-1].bytes) == (600, 3000)
    assert repr(done).startswith("<TransferResult 600 files, 3.0 kB in ")


def test_totals_are_exact_when_files_come_and_go() -> None:
    tally = Tally(None)
    tally.announce(3, 300)
    assert (tally.now().files_total, tally.now().bytes_total, tally.now().complete) == (3, 300, True)
    for size in (100, 50):
        tally.expect(size)
    tally.skip(50)
    tally.no_more()
    now = tally.now()
    assert (now.files_total, now.bytes_total, now.skipped) == (2, 100, 1)


def test_counting_reads_no_file_and_emits_no_warning(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_bytes(b"123")
    (tmp_path / "b").write_bytes(b"4")
    (tmp_path / "b").chmod(0)
    (tmp_path / "link").symlink_to(tmp_path / "sub")
    assert count_tree(tmp_path) == (2, 4)


def test_upload_result_has_a_readable_summary() -> None:
    assert repr(TransferResult(300, 629_148_000, 128, 4.7)) == (
        "<TransferResult 300 files, 629.1 MB in 4.7 s, 133.9 MB/s, 128 files of them before>"
    )
    assert repr(TransferResult(1, 0, 0, 0.0)) == "<TransferResult 1 file, 0 B in 0.0 s>"
