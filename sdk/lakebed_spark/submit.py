"""What `spark-submit` runs: `spark-submit $(lakebed spark path) X ...` is `lakebed spark X ...` in its session."""

from __future__ import annotations

import sys

from lakebed.cli.main import run

if __name__ == "__main__":
    code = run(["spark", *sys.argv[1:]])
    if code:
        sys.exit(code)
