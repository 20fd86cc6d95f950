"""The installed size of each extra, written into the table of docs/install.md.

    python tools/installed_sizes.py UV      # UV: the path of uv; takes a minute, and downloads what is not cached

It installs the locked packages of each extra into a folder of its own and adds up the files. What Python compiles later
(`__pycache__`) is not counted.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/install.md"
BEGIN: Final = "<!-- made by tools/installed_sizes.py -->\n"
END: Final = "<!-- end -->\n"
MIB: Final = 1 << 20
USE: Final = {
    "": "SDK, the `lakebed` command, fsspec, pandas and Arrow tables",
    "server": "the server, with SQLite and local files",
    "postgres": "the server on PostgreSQL",
    "s3": "the server on S3, Google Cloud Storage and Azure",
    "ldap": "sign-in with a directory",
    "saml": "sign-in with SAML",
    "otel": "traces of the server by OpenTelemetry",
    "all": "everything above",
    "spark": "PySpark, without Java",
    "testing": "the server inside of tests, and pytest",
}
"""The extras that users install, and what each is for. `demo` and `dev` are for this repository."""


def extras() -> set[str]:
    """The extras of pyproject.toml for users, with an empty text for none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {"", *project["optional-dependencies"]} - {"demo", "dev"}


def measure(uv: str, extra: str) -> tuple[int, int]:
    """The packages of an extra with those of the base, and their bytes."""
    lock = ROOT / f"locks/{extra or 'base'}.txt"
    with tempfile.TemporaryDirectory() as folder:
        command = [uv, "pip", "install", "-q", "--target", folder, "--require-hashes", "-r", str(lock)]
        subprocess.run([*command, "--build-constraints", str(ROOT / "locks/build.txt")], check=True)
        files = [path for path in Path(folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        return len(list(Path(folder).glob("*.dist-info"))), sum(path.stat().st_size for path in files)


def own() -> int:
    """The bytes of Lakebed itself, without the web page."""
    folders = [ROOT / "generated", ROOT / "sdk", ROOT / "server_stub"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files if "__pycache__" not in path.parts and "ui" not in path.parts)


def table(uv: str) -> str:
    """The table, with a line that says where it was measured."""
    of_lakebed = own()
    rows = []
    for extra, use in USE.items():
        count, size = measure(uv, extra)
        name = f"`lakebed[{extra}]`" if extra else "`lakebed`"
        rows.append(f"| {name} | {use} | {count + 1} | {(size + of_lakebed) / MIB:,.0f} MiB |")
    version = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    head = f"Linux x86_64, {version}, with the locked versions of each package.\n\n"
    return head + "| what | for | packages | installed size |\n|---|---|--:|--:|\n" + "\n".join(rows) + "\n"


def main() -> None:
    """Write the table."""
    made = table(sys.argv[1])
    text = PAGE.read_text("utf-8")
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: BEGIN + made + END, text), "utf-8")


if __name__ == "__main__":
    main()
