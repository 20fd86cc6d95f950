"""Export: plain files with the content of the ref, a manifest that is written last, and resumption after a stop."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import lakebed
import pytest
from lakebed_spark import pipelines
from pyspark.sql import SparkSession

from tests.support.processes.server import lake_of
from tests.support.services.s3 import shared

FINAL = "_lakebed_export.json"


@pytest.fixture
def filled(repo: lakebed.Repository) -> lakebed.Repository:
    main = repo.branch("main")
    main.put_many({f"t/{n % 4}/f{n:03d}": b"content of %d " % n * n for n in range(30)})
    main.put_many({"other": b"not below t", "t/Ü n/!": b"odd"})
    main.commit("first")
    return repo


def files(folder: Path) -> dict[str, bytes]:
    """What an export is made of, without its own files."""
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in found.items() if not name.startswith("_lakebed_export")}


def wanted(ref: lakebed.Ref) -> dict[str, bytes]:
    return {row.path.removeprefix("t/"): ref.get(row.path) for row in ref.list("t/")}


def manifest(folder: Path) -> list[dict[str, Any]]:
    final = json.loads((folder / FINAL).read_text())
    return [json.loads(line) for part in final["parts"] for line in (folder / part).read_text().splitlines()]


@pytest.mark.parametrize("engine", ["here", "spark"])
def test_files_manifest_and_going_on(
    filled: lakebed.Repository, tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    spark: SparkSession | None = request.getfixturevalue("spark") if engine == "spark" else None
    main, where = filled.branch("main"), f"lakebed://{filled.id}/main/t"
    report = pipelines.export(where, tmp_path, spark=spark, lake=lake_of(filled))
    expected = wanted(main)
    assert files(tmp_path) == expected
    assert (report.files, report.copied, report.skipped) == (31, 31, 0)
    assert report.bytes == sum(map(len, expected.values()))
    rows = manifest(tmp_path)
    assert [row["path"] for row in rows] == sorted(expected)
    assert {row["path"]: row["md5"] for row in rows} == {
        path: hashlib.md5(data, usedforsecurity=False).hexdigest() for path, data in expected.items()
    }
    assert {row["commit"] for row in rows} == {main.commit_info().id} == {report.commit_id}
    final = json.loads((tmp_path / FINAL).read_text())
    assert (final["files"], final["bytes"], final["prefix"], final["since"]) == (31, report.bytes, "t/", None)
    (tmp_path / FINAL).unlink()
    (tmp_path / "1/f001").unlink()
    size = len(expected["2/f002"])
    (tmp_path / "2/f002").write_bytes(b"#" * size)
    (tmp_path / "strange").write_text("of somebody else")
    again = pipelines.export(where, tmp_path, spark=spark, lake=lake_of(filled))
    assert (again.files, again.copied, again.skipped, again.removed) == (31, 2, 29, 0)
    assert files(tmp_path) == {**expected, "strange": b"of somebody else"}
    mirrored = pipelines.export(where, tmp_path, spark=spark, mirror=True, lake=lake_of(filled))
    assert (mirrored.skipped, mirrored.removed) == (31, 1)
    assert files(tmp_path) == expected


def test_only_what_changed_since(filled: lakebed.Repository, tmp_path: Path) -> None:
    main, where = filled.branch("main"), f"lakebed://{filled.id}/main/t"
    pipelines.export(where, tmp_path / "whole", lake=lake_of(filled))
    main.put_many({"t/0/f000": b"changed", "t/new/er": b"added"})
    main.delete_many(["t/1/f001", "other"])
    main.commit("second")
    report = pipelines.export(where, tmp_path / "part", since="main~1", lake=lake_of(filled))
    assert files(tmp_path / "part") == {"0/f000": b"changed", "new/er": b"added"}
    assert (report.files, report.copied, report.removed) == (2, 2, 0)
    pipelines.export(where, tmp_path / "whole", since="main~1", lake=lake_of(filled))
    assert "1/f001" in files(tmp_path / "whole")
    report = pipelines.export(where, tmp_path / "whole", since="main~1", mirror=True, lake=lake_of(filled))
    assert (report.skipped, report.removed) == (2, 1)
    assert files(tmp_path / "whole") == wanted(main)


def test_export_with_impossible_file_names_raises_and_writes_no_marker(
    filled: lakebed.Repository, tmp_path: Path
) -> None:
    main = filled.branch("main")
    main.put("t/../escape", b"no")
    main.put("t/_lakebed_export.json", b"ours")
    main.commit("odd")
    (tmp_path / "export").mkdir()
    with pytest.raises(lakebed.PartialFailureError) as caught:
        pipelines.export(f"lakebed://{filled.id}/main/t", tmp_path / "export", lake=lake_of(filled))
    assert {one.path for one in caught.value.failures} == {"t/../escape", "t/_lakebed_export.json"}
    assert len(files(tmp_path / "export")) == 31
    assert not (tmp_path / "export" / FINAL).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


def test_mirror_spares_what_no_export_wrote(filled: lakebed.Repository, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(lakebed.InvalidRequestError, match=r"would delete files .* such as 'thesis.tex'"):
        pipelines.export(filled.ref("main"), tmp_path, mirror=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(lakebed.InvalidRequestError, match="cannot export to 'ftp://x'"):
        pipelines.export(filled.ref("main"), "ftp://x")


def test_a_damaged_object_is_not_exported(filled: lakebed.Repository, server: Any, tmp_path: Path) -> None:
    """The test flips a byte in the storage of the server."""
    info = filled.info()
    row = filled.ref("main").stat("t/3/f007")
    file = Path(info.local_path) / row.physical_address.removeprefix(info.storage_namespace + "/")
    data = bytearray(file.read_bytes())
    data[3] ^= 1
    file.chmod(0o644)
    file.write_bytes(data)
    with pytest.raises(lakebed.PartialFailureError) as caught:
        pipelines.export(f"lakebed://{filled.id}/main/t", tmp_path, lake=lake_of(filled))
    assert [one.path for one in caught.value.failures] == ["t/3/f007"]
    assert not (tmp_path / "3/f007").exists()


def test_into_a_bucket(filled: lakebed.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = shared("seaweedfs")
    variables = {
        "AWS_ENDPOINT_URL": bucket.endpoint,
        "AWS_ACCESS_KEY_ID": bucket.access_key_id,
        "AWS_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "AWS_REGION": "us-east-1",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    folder = f"out-{time.time_ns()}"
    where, to = f"lakebed://{filled.id}/main/t", f"s3://{bucket.bucket}/{folder}"
    report = pipelines.export(where, to, lake=lake_of(filled))
    client = bucket.boto()

    def there() -> dict[str, bytes]:
        listed = client.list_objects_v2(Bucket=bucket.bucket, Prefix=f"{folder}/")["Contents"]
        keys = [row["Key"] for row in listed if f"{folder}/_lakebed_export" not in row["Key"]]
        return {
            key.removeprefix(f"{folder}/"): client.get_object(Bucket=bucket.bucket, Key=key)["Body"].read()
            for key in keys
        }

    assert there() == wanted(filled.ref("main"))
    assert (report.copied, report.manifest) == (31, f"{to}/{FINAL}")
    client.put_object(Bucket=bucket.bucket, Key=f"{folder}/0/f004", Body=b"#" * len(there()["0/f004"]))
    client.put_object(Bucket=bucket.bucket, Key=f"{folder}/strange", Body=b"")
    again = pipelines.export(where, to, mirror=True, lake=lake_of(filled))
    assert (again.copied, again.skipped, again.removed) == (1, 30, 1)
    assert there() == wanted(filled.ref("main"))
