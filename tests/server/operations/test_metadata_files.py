"""getMetaRange, getRange and getMetadataObject: the addresses of a commit's files, and their bytes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lakebed_format import decode_metarange, decode_range

from tests.server.lake import REPO, Lake
from tests.server.support import ask

AT = REPO + "/metadata"


@pytest.fixture
def lake() -> Iterator[Lake]:
    lake = Lake()
    lake("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    yield lake
    lake.close()


def test_from_a_commit_to_its_entries(lake: Lake) -> None:
    lake.put("a.csv", b"1")
    lake.put("b.csv", b"22")
    metarange = lake.commit("two")["meta_range_id"]
    key = f"_lakebed/metaranges/{metarange}.parquet"
    answer = lake("GET", f"{AT}/meta_range/{metarange}")
    assert answer == {"location": key}
    rows = decode_metarange(lake("GET", f"{AT}/object/meta_range/{metarange}").body, metarange).to_pylist()
    assert [(row["min_path"], row["max_path"], row["count"]) for row in rows] == [("a.csv", "b.csv", 2)]
    range_id = rows[0]["range_id"]
    assert lake("GET", f"{AT}/range/{range_id}") == {"location": f"_lakebed/ranges/{range_id}.parquet"}
    file = lake("GET", f"{AT}/object/range/{range_id}")
    assert file.headers["etag"] == f'"{range_id}"'
    assert "immutable" in file.headers["cache-control"]
    assert file.headers["last-modified"].endswith(" GMT")
    assert decode_range(file.body, range_id).column("size_bytes").to_pylist() == [1, 2]


def test_location_header_has_the_address(lake: Lake) -> None:
    lake.put("a.csv", b"1")
    metarange = lake.commit("one")["meta_range_id"]
    answer = ask(lake.app, f"/api/v1{AT}/meta_range/{metarange}", runner=lake.runner)
    assert answer.headers["location"] == answer.json["location"] == f"_lakebed/metaranges/{metarange}.parquet"


@pytest.mark.parametrize("path", ["meta_range/{}", "range/{}", "object/meta_range/{}", "object/range/{}"])
@pytest.mark.parametrize("unknown", ["0" * 64, "nonsense", "..%2Frepository", "%20"])
def test_unknown_metadata_files_are_not_found(lake: Lake, path: str, unknown: str) -> None:
    assert lake("GET", f"{AT}/{path.format(unknown)}", expect=404)["kind"] == "object_not_found"


def test_a_metarange_is_no_range(lake: Lake) -> None:
    lake.put("a.csv", b"1")
    metarange = lake.commit("one")["meta_range_id"]
    assert lake("GET", f"{AT}/object/range/{metarange}", expect=404)["kind"] == "object_not_found"


def test_invalid_requests_for_metadata_files_are_refused(lake: Lake) -> None:
    some = "0" * 64
    assert lake("GET", f"{AT}/object/other/{some}", expect=400)["kind"] == "invalid_request"
    assert lake("GET", f"{AT}/object/range/{some}?presign=true", expect=400)["kind"] == "invalid_request"
    missing = f"/repositories/nope/metadata/range/{some}"
    assert lake("GET", missing, expect=404)["kind"] == "repository_not_found"
