"""The Python that Spark starts for its workers, begun sooner.

Spark puts its own pyspark.zip before everything else, and what is imported from a zip is compiled anew by each process:
a stream's process over Connect takes 1.6 s of CPU time for that, instead of 0.6. It must be there in ten seconds.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def python(folder: Path) -> str:
    """A program in this folder, for PYSPARK_PYTHON: this Python, which has pyspark installed, without the zip."""
    program = folder / "python"
    without = r"""$(printf %s "$PYTHONPATH" | sed 's#[^:]*/pyspark\.zip:##')"""
    program.write_text(f'#!/bin/sh\nPYTHONPATH={without} exec {shlex.quote(sys.executable)} "$@"\n')
    program.chmod(0o755)
    return str(program)
