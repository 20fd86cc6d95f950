"""The code that the web page shows on its page Connect, read from the page's own source.

    snippet("dbt", endpoint="http://127.0.0.1:8000", repo="sales", branch="main")

Jobs without a browser run it with the tool that it is for. tests/browser/data/test_ui_connect.py compares it with what
the page shows.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

SOURCE = Path(__file__).parents[2] / "ui" / "src" / "screens" / "connect" / "snippets.ts"
_CASE = r"    case '%s':\n      return \{\n        extension: '\w+',\n        text: `([^`]*)`"
_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")


def snippet(tool: str, *, endpoint: str, repo: str, branch: str) -> str:
    """The code for a tool. Raises KeyError when the source has a placeholder that this module does not know."""
    found = re.search(_CASE % tool, SOURCE.read_text())
    assert found, f"{SOURCE.name} has no code for {tool}"
    values = {
        "endpoint": endpoint,
        "repo": repo,
        "branch": branch,
        "place": f"lakebed://{repo}/{branch}",
        "new URL(endpoint).host": urlsplit(endpoint).netloc,
        "endpoint.startsWith('https:')": "true" if endpoint.startswith("https:") else "false",
    }
    return _PLACEHOLDER.sub(lambda placeholder: values[placeholder[1]], found[1])
