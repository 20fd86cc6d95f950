"""If Java cannot prepare Spark's classes, the start only takes longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark import classes


def test_failed_class_archive_returns_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    archive = tmp_path / "classes.jsa"
    why = classes.make(archive)
    assert why is not None
    assert "no-java" in why
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(classes, "ARCHIVE", archive)
    assert classes.options() == classes.HASTY


def test_java_option_quotes_a_path_with_a_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "a folder" / "classes.jsa"
    archive.parent.mkdir()
    archive.touch()
    monkeypatch.setattr(classes, "ARCHIVE", archive)
    assert f'-XX:SharedArchiveFile="{archive}"' in classes.options()
