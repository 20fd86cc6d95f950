"""The Python that Spark starts for its workers, begun sooner.

Spark puts its own pyspark.zip before everything else, and each process compiles again what it imports from a
zip: a stream's process over Connect takes 1.6 s of CPU time for that, instead of 0.6. And a process that must be
there in ten seconds connects before it imports (`early`): CI was once so slow that twelve in a row came too late.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

_PROGRAM = r"""#!/bin/sh
PYTHONPATH=$(printf %s "$PYTHONPATH" | sed 's#[^:]*/pyspark\.zip:##')
if [ -n "$PYTHON_WORKER_FACTORY_PORT" ] && [ "$1" = -m ]; then
    exec {python} -S {early} "$@"
fi
exec {python} "$@"
"""


def python(folder: Path) -> str:
    """A program in this folder, for PYSPARK_PYTHON: this Python, which has pyspark installed, without the zip."""
    program = folder / "python"
    early = Path(__file__).with_name("early.py")
    program.write_text(_PROGRAM.format(python=shlex.quote(sys.executable), early=shlex.quote(str(early))))
    program.chmod(0o755)
    return str(program)
