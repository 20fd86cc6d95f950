"""`ref.ranges()`: the files of a commit, read without the server."""

from __future__ import annotations

from pathlib import Path

import lakebed
import pyarrow.parquet as pq
import pytest
from lakebed import NotFoundError, RangeInfo
from lakebed_format import decode_range


def test_ranges_lead_to_the_entries(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    assert list(main.ranges()) == []  # the first commit is empty
    main.put_many({f"t/{n:03}": b"x" * n for n in range(100)})
    commit = main.commit("a hundred")
    main.put("uncommitted", b"not in a range")
    ranges = main.ranges()
    assert ranges == repo.ref(commit.id).ranges()
    assert [type(one) for one in ranges] == [RangeInfo] * len(ranges)
    assert sum(one.count for one in ranges) == 100
    assert (ranges[0].min_path, ranges[-1].max_path) == ("t/000", "t/099")
    first = ranges[0]
    namespace = repo.info().storage_namespace
    assert first.physical_address == f"{namespace}/_lakebed/ranges/{first.id}.parquet"
    paths = [path for one in ranges for path in pq.read_table(one.local_path, columns=["path"])["path"].to_pylist()]
    assert paths == [f"t/{n:03}" for n in range(100)]
    # and the same file through the server
    assert repo.metadata_file("range", first.id) == Path(first.local_path).read_bytes()
    assert decode_range(repo.metadata_file("range", first.id), first.id).num_rows == first.count


def test_patches_follow_the_ranges_with_their_level(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put_many({f"t/{n:04}": b"x" for n in range(2000)})
    main.commit("many")
    main.put("t/0000", b"changed")
    main.delete("t/1999")
    main.commit("few")
    ranges = main.ranges()
    assert [one.level for one in ranges] == [0] * (len(ranges) - 1) + [1]
    patch = pq.read_table(ranges[-1].local_path, columns=["path", "deleted"]).to_pylist()
    assert patch == [{"path": "t/0000", "deleted": False}, {"path": "t/1999", "deleted": True}]
    # so small a patch is stored in the metarange's own file
    assert [one.carrier for one in ranges] == [""] * (len(ranges) - 1) + [repo.commit("main").metarange_id]
    assert repo.metadata_file("meta_range", ranges[-1].carrier) == Path(ranges[-1].local_path).read_bytes()
    assert ranges[-1].physical_address.endswith(f"/_lakebed/metaranges/{ranges[-1].carrier}.parquet")


def test_missing_refs_and_ranges_are_not_found(repo: lakebed.Repository) -> None:
    with pytest.raises(NotFoundError):
        repo.ref("nope").ranges()
    with pytest.raises(NotFoundError, match="there is no range"):
        repo.metadata_file("range", "0" * 64)
