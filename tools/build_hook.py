"""The build hook of wheel and sdist: adds the files of the web page, and refuses a release without them.

The files are not in the repository: `make ui` makes them. A package without them works, and its server explains how
to get the page. A wheel that is built from the sdist has the page of the sdist. `make release` sets LAKEBED_RELEASE.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface  # type: ignore[import-not-found,unused-ignore]

BUILT = "server_stub/lakebed_server/ui"


class WebPageHook(BuildHookInterface):  # type: ignore[misc,type-arg,unused-ignore]
    """Adds the built files to the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Runs before the package is built. `version` is `editable` when the sources stay where they are."""
        if version == "editable":
            return
        built = Path(self.root, BUILT)
        if (built / "index.html").is_file():
            build_data["force_include"][str(built)] = BUILT if self.target_name == "sdist" else "lakebed_server/ui"
        elif os.environ.get("LAKEBED_RELEASE"):
            raise SystemExit(f"a release needs the web page: {BUILT} has no index.html; run `make ui` first")
