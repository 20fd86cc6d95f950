"""Programs from npm that tests run, each with a lock file: tests/support/services/npm/NAME/package-lock.json.

    modules = node_modules("oidc_provider")    # installed below .cache/ when first needed, once for each lock file

    python -m tests.support.services.npm_packages       # only installs them, as `make test` does before its tests run

Needs Node.js 20 or newer with npm. A test fails with what npm printed; nothing is skipped.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "npm"
_CACHE = Path(__file__).parents[3] / ".cache"


@functools.cache
def node_modules(name: str) -> Path:
    """The folder `node_modules` with the packages of a lock file."""
    lock = FOLDER / name / "package-lock.json"
    place = _CACHE / f"npm-{name}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"
    if not place.is_dir():
        _install(lock, place)
    return place / "node_modules"


def _install(lock: Path, place: Path) -> None:
    npm = shutil.which("npm")
    assert npm is not None, "these tests need Node.js 20 or newer, with npm"
    _CACHE.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f"{place.name}-", dir=_CACHE))
    for file in (lock, lock.with_name("package.json")):
        shutil.copy(file, fresh)
    done = subprocess.run(
        [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        capture_output=True, text=True, timeout=600, check=False, cwd=fresh, env={**os.environ, **certificates()},
    )  # fmt: skip
    assert done.returncode == 0, f"npm ci of {lock} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    try:
        fresh.rename(place)  # atomic: complete, or not there
    except OSError:
        shutil.rmtree(fresh)
        assert place.is_dir(), f"{place} is in the way: remove it"  # else another run was faster


def certificates() -> dict[str, str]:
    """Node.js trusts its own list of authorities only: the machine's others are named as for Python's tools."""
    names = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")
    known = [os.environ[name] for name in names if os.environ.get(name)]
    return {"NODE_EXTRA_CA_CERTS": known[0]} if known else {}


if __name__ == "__main__":
    for folder in sorted(FOLDER.iterdir()):
        node_modules(folder.name)
