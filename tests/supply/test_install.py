"""The wheel and the sdist of a release install in a clean environment with nothing else, and work there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.supply.sources import PAGE, build, copy_sources, make_page
from tests.support.processes.server import clean_environment
from tests.support.waiting import PATIENCE, wait_until
from tools import lock

pytestmark = pytest.mark.slow

READY = re.compile(r"is ready at (http://\S+)")
KEY = re.compile(r"access key id\W+(\S+)\s+secret access key\W+(\S+)", re.IGNORECASE)
LISTED = "from importlib.metadata import distributions; print(*(one.name.lower() for one in distributions()))"
UV_SETTINGS = {name: value for name, value in os.environ.items() if name.startswith("UV_")}
USE = """
import lakebed
print(lakebed.__file__)
with lakebed.connect() as lake:
    main = lake.repository("packed").create("local://packed").branch("main")
    main.put("a.txt", b"from a package")
    commit = main.commit("one object")
    assert main.get("a.txt") == b"from a package"
    print(commit.id)
"""


def constraints(place: Path) -> Path:
    """The versions of locks/all.txt, without hashes: a file of constraints for the resolver of pip."""
    text = (lock.ROOT / "locks/all.txt").read_text()
    versions = re.findall(r"^([A-Za-z0-9._-]+==[^ \\]+)(.*?)\\?$", text, re.MULTILINE)
    file = place / "constraints.txt"
    file.write_text("".join(f"{name}{marker.rstrip()}\n" for name, marker in versions))
    return file


@pytest.fixture(
    params=[
        ("wheel", "uv"),
        pytest.param(("wheel", "pip"), marks=pytest.mark.soak),
        pytest.param(("sdist", "pip"), marks=pytest.mark.soak),
    ],
    ids="-".join,
)
def installed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of the commands of an environment that has one package and what that needs."""
    kind, by = request.param
    tree, home = tmp_path / "tree", tmp_path / "home"
    copy_sources(tree)
    make_page(tree)
    done = build(tree, kind, LAKEBED_RELEASE="1")
    assert done.returncode == 0, done.stderr
    (file,) = (tree / "dist").iterdir()
    home.mkdir()
    wanted = ["-q", "-c", str(constraints(home)), f"{file}[server]"]
    python = home / "venv/bin/python"
    {"uv": install_by_uv, "pip": install_by_pip}[by](python, wanted, home)
    return python.parent


def install_by_pip(python: Path, wanted: list[str], home: Path) -> None:
    """With a pip that has no files of earlier downloads. That takes a minute of processor time, uv some seconds."""
    subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    # --no-compile: of all packages; the test imports a part of them
    run([str(python), "-m", "pip", "install", "--no-compile", *wanted], home)


def install_by_uv(python: Path, wanted: list[str], home: Path) -> None:
    """With the uv that installs what the tests need, and its files of earlier downloads."""
    uv = shutil.which("uv", path=f"{lock.ROOT / '.venv-uv/bin'}{os.pathsep}{os.environ['PATH']}")
    assert uv is not None, "there is no uv: make .venv-uv/bin/uv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", python.parents[1]], check=True)
    index = {"UV_DEFAULT_INDEX": os.environ["PIP_INDEX_URL"]} if "PIP_INDEX_URL" in os.environ else {}
    run([uv, "pip", "install", "--python", str(python), *wanted], Path.home(), **{**index, **UV_SETTINGS})


def run(command: list[str], home: Path, **more: str) -> str:
    """What a command prints, without the environment of this checkout."""
    environment = clean_environment(HOME=str(home), **more)
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        environment.pop(name, None)
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def served(commands: Path, home: Path) -> Iterator[str]:
    """What `lakebed serve` prints until it is ready."""
    log = home / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(commands / "lakebed"), "serve", "--port", "0"],
            cwd=home, env=clean_environment(HOME=str(home)), stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:

        def ready() -> bool:
            assert process.poll() is None, log.read_text()
            return READY.search(log.read_text()) is not None

        wait_until(ready, log.read_text, every=0.05)
        yield log.read_text()
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_a_package_works_alone(installed: Path) -> None:
    home = installed.parents[1]
    with served(installed, home) as said:
        endpoint = READY.findall(said)[0]
        page = httpx.get(endpoint, headers={"accept": "text/html"}, timeout=PATIENCE)
        assert (page.status_code, page.text) == (200, PAGE)
        key = home / ".lakebed/data/admin.env"
        variables = dict(re.findall(r"(LAKEBED_[A-Z_]+)=(\S+)", key.read_text()))
        printed = run([str(installed / "python"), "-c", USE], home, **variables)
        assert printed.startswith(str(home)), "another Lakebed than that of the package was imported"
        log = run([str(installed / "lakebed"), "log", "packed/main"], home, **variables)
        assert printed.split()[-1][:12] in log
    listed = run([str(installed / "python"), "-c", LISTED], home)
    assert {"lakebed", "starlette"} <= {*listed.split()}
    for package in ("pytest", "hatchling", "pyspark", "asyncpg", "obstore"):
        assert package not in listed
    assert os.path.isdir(home / ".lakebed/data")


def test_import_loads_neither_pandas_nor_pyarrow() -> None:
    code = "import sys, lakebed; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "lakebed" in loaded
    heavy = {
        "pandas",
        "pyarrow",
        "numpy",
        "httpx",
        "aiohttp",
        "urllib3",
        "fsspec",
        "rich",
        "click",
        "yaml",
        "lakebed_api",
    }
    assert not loaded & heavy
