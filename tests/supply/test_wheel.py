"""The wheel has the files of the web page, and a release is not built without them."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.supply.sources import BUILT, build, copy_sources, make_page
from tools import installed_sizes

pytestmark = pytest.mark.slow


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The sources without the built page."""
    copy_sources(tmp_path)
    return tmp_path


def names(tree: Path) -> list[str]:
    (wheel,) = (tree / "dist").glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_a_wheel_has_the_built_page(tree: Path) -> None:
    make_page(tree)
    done = build(tree, LAKEBED_RELEASE="1")
    assert done.returncode == 0, done.stderr
    assert {"lakebed_server/ui/index.html", "lakebed_server/ui/assets/index-abc.js.br"} <= set(names(tree))


def test_an_sdist_has_the_built_page(tree: Path) -> None:
    make_page(tree)
    done = build(tree, "sdist", LAKEBED_RELEASE="1")
    assert done.returncode == 0, done.stderr
    (sdist,) = (tree / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert any(name.endswith(f"{BUILT}/assets/index-abc.js.br") for name in archive.getnames())


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_release_needs_the_built_page(tree: Path, kind: str) -> None:
    done = build(tree, kind, LAKEBED_RELEASE="1")
    assert done.returncode != 0
    assert "run `make ui` first" in done.stderr + done.stdout


def test_a_wheel_for_oneself_does_not_need_the_page(tree: Path) -> None:
    done = build(tree)
    assert done.returncode == 0, done.stderr
    assert not [name for name in names(tree) if name.startswith("lakebed_server/ui/")]


def test_the_page_has_the_size_of_each_extra() -> None:
    page = installed_sizes.PAGE.read_text()
    rows = re.findall(r"^\| `lakebed(?:\[(\w+)\])?` \| .* \| (\d+) \| ([\d,]+) MiB \|$", page, re.MULTILINE)
    assert {extra for extra, _, _ in rows} == installed_sizes.extras()
    sizes = {extra: int(size.replace(",", "")) for extra, _, size in rows}
    assert sizes[""] <= sizes["server"] <= sizes["all"]
    assert all(size > 50 for size in sizes.values())
