"""Prints the MD5 of every tracked file at each given Git revision, as JSON. DVC itself checks the files out.

python dvc_checkouts.py REVISION...
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    from dvc.repo import Repo  # type: ignore[import-not-found]  # in the environment of the recipes only

    found: dict[str, dict[str, str]] = {}
    for revision in sys.argv[1:]:
        subprocess.run(["git", "checkout", "-qf", revision], check=True)
        with Repo(".") as repo:
            repo.checkout(force=True, allow_missing=True)
            found[revision] = dict(sorted(_tracked(repo)))
    print(json.dumps(found))


def _tracked(repo: Any) -> Any:
    for out in repo.index.outs:
        top = Path(out.fs_path)
        for file in [top, *top.rglob("*")]:
            if file.is_file():
                yield str(file.relative_to(repo.root_dir)), hashlib.md5(file.read_bytes()).hexdigest()


main()
