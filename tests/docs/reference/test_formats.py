"""The column tables of docs/formats.md are those of the code."""

from __future__ import annotations

import dataclasses
import re

import msgspec
import pyarrow as pa
import pytest
from lakebed_engine.vocabulary.records import Layer, LayerPart
from lakebed_format import DELTA_SCHEMA, METARANGE_SCHEMA, PATCH_SCHEMA, RANGE_SCHEMA, CommitRecord
from lakebed_format.bloom import BITS_A_PATH, PROBES
from lakebed_format.keys import FILE_BYTES, LAYERS
from lakebed_format.schemas import FORMAT_VERSIONS, ID_KEY, LEVELED_SCHEMA, VERSION_KEY
from lakebed_format.tree.files import BLOOM_FROM, BLOOM_KEY, ROW_GROUP_ROWS
from lakebed_format.tree.metaranges import TREE_KEY
from lakebed_format.tree.split import MAX_BYTES, MIN_BYTES, RAGGEDNESS

from tests.docs.snippets import ROOT

PAGE = (ROOT / "docs/formats.md").read_text("utf-8")


def rows(section: str) -> list[tuple[str, str]]:
    """The first two cells of each row of the first table under a heading."""
    return rows_of(PAGE.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0])


def rows_of(text: str) -> list[tuple[str, str]]:
    """The same of the first table in a text."""
    text = ("\n" + text).partition("\n\n|")[2].partition("\n\n")[0]
    return re.findall(r"^\| `([^`]+)` \| ([^|]*[^| ]) \|", text, re.MULTILINE)


def columns(schema: pa.Schema) -> list[tuple[str, str]]:
    return [(field.name, re.sub(r" \('\w+'\)| not null", "", str(field.type))) for field in schema]


@pytest.mark.parametrize(("section", "schema"), [("Range", RANGE_SCHEMA), ("Metarange", METARANGE_SCHEMA)])
def test_columns(section: str, schema: pa.Schema) -> None:
    assert rows(section) == columns(schema)
    assert not any(field.nullable for field in schema)


def test_a_layer_has_one_column_more() -> None:
    assert columns(RANGE_SCHEMA) + rows("Layer") == columns(DELTA_SCHEMA)


def test_patches_have_these_columns_more() -> None:
    level, *more = rows("Patches")
    assert [*columns(METARANGE_SCHEMA), level] == columns(LEVELED_SCHEMA)
    assert columns(DELTA_SCHEMA) + rows_of(PAGE.split("with the columns of a layer and these", 1)[1]) == columns(
        PATCH_SCHEMA
    )
    assert more == []


def test_a_layer_in_a_branch_record() -> None:
    assert [key for key, _ in rows("Layers of a branch")] == list(Layer.__struct_fields__)
    fields = [(field.name, {str: "string", int: "integer"}[field.type]) for field in msgspec.structs.fields(LayerPart)]
    assert [(key, value.partition(":")[0]) for key, value in rows("Parts of a layer")] == fields


def test_the_filter_of_a_layer() -> None:
    assert rows("The filter of a layer")[0][0] == BLOOM_KEY.decode()
    assert f"at least {BLOOM_FROM:,} rows" in PAGE
    assert f"at least {BITS_A_PATH} n" in PAGE
    assert f"sets {PROBES} bits" in " ".join(PAGE.split())
    assert LAYERS + "<id>.parquet" in PAGE


def test_a_commit_has_these_keys() -> None:
    assert {key for key, _ in rows("Commit")} == {field.name for field in dataclasses.fields(CommitRecord)} | {
        "format",
        "id",
    }


def test_the_numbers() -> None:
    assert FORMAT_VERSIONS == {"range": 1, "patch": 1, "layer": 1, "metarange": 3}
    assert "A metarange is of version 1, of\nversion 2 when it names patches, or of version 3 when it has" in PAGE
    assert rows_of(PAGE.split("### A metarange that carries", 1)[1])[0][0] == TREE_KEY.decode()
    assert f"at most {ROW_GROUP_ROWS:,} rows" in PAGE
    assert f"({MAX_BYTES:,})" in PAGE
    assert f"({MIN_BYTES:,})" in PAGE
    assert f"multiple of {RAGGEDNESS:,}" in PAGE
    assert [key for key, _ in rows("Around the rows")] == [VERSION_KEY.decode(), ID_KEY.decode()]


def test_the_largest_files() -> None:
    table = PAGE.split("A reader takes only files of bounded size", 1)[1]
    stated = dict(rows_of(table))
    sizes = {key: f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB" for key, most in FILE_BYTES.items()}
    assert {key: stated[key].partition(":")[0] for key in sizes} == sizes
