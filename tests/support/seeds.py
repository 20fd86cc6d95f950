"""Where tests that draw at random begin: elsewhere after each change of the engine, and at one place until the next.

So a change meets new cases, and the same cases on each machine: no run is refused for
a case that another run of the same sources did not have.
"""

from __future__ import annotations

import functools
import hashlib
from importlib.util import find_spec
from pathlib import Path


def packages() -> list[Path]:
    """The folders of the engine and of its formats."""
    found = [find_spec(name) for name in ("lakebed_engine", "lakebed_format")]
    return [Path(one.origin).parent for one in found if one is not None and one.origin is not None]


@functools.cache
def seed_of_the_engine() -> int:
    """40 bits of a hash over their sources."""
    found = hashlib.sha256()
    for root in packages():
        for file in sorted(root.rglob("*.py")):
            content = file.read_bytes()
            found.update(f"{file.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return int(found.hexdigest()[:10], 16)
