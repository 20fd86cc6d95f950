"""Metadata files whose checksum fits and whose rows no writer made: the answer names the file, never `internal`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pyarrow as pa
import pytest

from tests.format.hostile import changed, nullable, wrong_text
from tests.support.faults.scene import Scene, well
from tests.support.processes.server import running_server

pytestmark = pytest.mark.slow

UNCACHED = {"LAKEBED_CACHE_MEMORY": "0"}


def text_column(rows: pa.Table) -> str:
    return "checksum" if "checksum" in rows.column_names else "min_path"


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "a null": lambda file: changed(file, lambda rows: nullable(rows, text_column(rows))),
    "a text that is not UTF-8": lambda file: changed(file, lambda rows: wrong_text(rows, text_column(rows))),
    "no statistics": lambda file: changed(file, lambda rows: rows, write_statistics=False),
    "no columns but one": lambda file: changed(file, lambda rows: rows.select([0])),
    "too many rows": lambda file: changed(file, lambda rows: pa.concat_tables([rows] * (2001 // rows.num_rows + 1))),
}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A range, a metarange, a metarange that carries a patch, and a layer; and a server that keeps none in memory."""
    data_dir = tmp_path_factory.mktemp("hostile") / "data"
    with (
        running_server(data_dir, environment=UNCACHED) as server,
        Scene(server, "local://hostile", UNCACHED) as made,
    ):
        for number in range(60):
            well(made.upload("main", f"p/{number:02}", b"x"))
        well(made.commit("main"))
        well(made.upload("main", "p/07", b"changed"))
        well(made.commit("main"))
        yield made


@pytest.mark.parametrize("damage", DAMAGE)
def test_the_answer_names_the_file(scene: Scene, damage: str) -> None:
    root = scene.server.data_dir / "objects/hostile/_lakebed"
    files = sorted(path for path in root.rglob("*.parquet") if "journal" not in path.parts)
    assert {path.parent.name for path in files} == {"ranges", "metaranges"}
    named: set[str] = set()
    for path in files:
        whole = path.read_bytes()
        path.write_bytes(DAMAGE[damage](whole))
        try:
            for answer in questions(scene):
                if not answer.is_success:
                    assert (answer.status_code, answer.json()["kind"]) == (500, "corrupt_data"), answer.text
                    assert f"local://hostile/_lakebed/{path.relative_to(root)}: " in answer.json()["message"]
                    named.add(path.parent.name)
        finally:
            path.write_bytes(whole)
        assert all(answer.is_success for answer in questions(scene))
    assert "ranges" in named
    assert "metaranges" in named or damage == "no statistics", "a metarange is read as a whole"


def questions(scene: Scene) -> list[httpx.Response]:
    refs = ("main", "main~1", "main~2")
    stats = [scene.get(f"/refs/{ref}/objects/stat", path="p/07") for ref in refs[:2]]
    return [*stats, *(scene.get(f"/refs/{ref}/objects/ls", amount="1000") for ref in refs[:2])]
