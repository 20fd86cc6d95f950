"""Runs benchmarks that need PySpark in the environment of `make spark`. The calling environment has no PySpark."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv-spark" / "bin" / "python"


def run(module: str, folder: Path, *words: object) -> dict[str, float]:
    """Run a module of `benchmarks.spark`, such as `tables`, and return what it prints, without its progress."""
    if not PYTHON.exists():
        raise SystemExit("benchmarks of Spark need its environment: run `make spark` first")
    command = [str(PYTHON), "-m", f"benchmarks.spark.{module}", str(folder), *map(str, words)]
    environment = {**os.environ, "PYSPARK_PYTHON": str(PYTHON)}  # or Spark takes the first python3 on the path
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{module} {words} failed: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
