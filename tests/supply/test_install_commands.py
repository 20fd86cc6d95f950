"""No message and no page recommends a name on a package index that Lakebed may not own."""

from __future__ import annotations

import json
import re
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from lakebed_format.installation import install_command, packages_of

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = re.compile(r"""(?:pipx?|uv pip|uv tool|uv)\s+(?:install|add)\s[^\n`#]*?(?<![\w./-])['"]?lakebed(?![\w-])""")
"""`pip install lakebed`, `pip install -U 'lakebed[s3]' x`; not `pip install ./lakebed`."""

ALLOWED = {
    "CHANGELOG.md",  # says that this is over
    "docs/decisions/0084-profiles-and-the-first-key.md",
    "sdk/lakebed_format/installation.py",  # says why
    "tests/supply/test_install_commands.py",
}
KINDS = (".py", ".md", ".ipynb", ".yaml", ".yml", ".toml", ".ts", ".tsx", ".html", ".txt", ".sh")

pytestmark = pytest.mark.slow  # asks git for the files


def test_no_source_and_no_page_says_so() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.split("\0") if name.endswith(KINDS) and name not in ALLOWED]
    assert len(files) > 1000
    found = []
    for name in files:
        path = ROOT / name
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        found += [f"{name}: {match[0]}" for match in BY_NAME.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    ["pip install lakebed", "pip install -U 'lakebed[s3]'", 'uv pip install "lakebed[spark]" x', "uv add lakebed"],
)
def test_the_scan_finds_install_commands(text: str) -> None:
    assert BY_NAME.search(text)


class Installed:
    """A distribution with this origin."""

    requires = (
        'obstore>=1; extra == "s3"',
        "uvloop>=0.2; sys_platform != 'win32' and extra == \"server\"",
        'lakebed[s3,server]; extra == "all"',
        "httpx>=0.27",
    )

    def __init__(self, origin: object) -> None:
        self._origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self._origin is None else json.dumps(self._origin)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ({"url": f"file://{ROOT}", "dir_info": {"editable": True}}, f"pip install -e '{ROOT}[s3]'"),
        ({"url": f"file://{ROOT}", "dir_info": {}}, f"pip install '{ROOT}[s3]'"),
        (
            {"url": "https://git.example/l.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pip install 'lakebed[s3] @ git+https://git.example/l.git@abc'",
        ),
        (
            {"url": "https://files.example/lakebed-1-py3-none-any.whl", "archive_info": {}},
            "pip install 'lakebed[s3] @ https://files.example/lakebed-1-py3-none-any.whl'",
        ),
        ({"url": "file:///gone/lakebed-1.whl", "archive_info": {}}, "pip install 'obstore>=1'"),
        (None, "pip install 'obstore>=1'"),
        ("no object", "pip install 'obstore>=1'"),
    ],
)
def test_the_command_of_each_origin(origin: object, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distribution", lambda name: Installed(origin))
    assert install_command("s3") == command


def test_extras_that_name_extras() -> None:
    assert packages_of([*Installed.requires], "all") == ["obstore>=1", "uvloop>=0.2; sys_platform != 'win32'"]


def test_without_an_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("s3") == "pip install '.[s3]' in the source of Lakebed"
