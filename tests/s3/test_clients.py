"""Other clients of Python: s3fs, pyarrow's S3FileSystem, obstore, minio's, PyIceberg's file IO, an old boto3."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import fsspec
import lakebed
import obstore
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from minio import Minio
from minio.commonconfig import CopySource
from minio.deleteobjects import DeleteObject
from minio.error import S3Error
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import S3Store
from pyarrow.fs import FileSelector, FileType, S3FileSystem

from tests.s3.target import REGION, Target

LARGE = os.urandom((12 << 20) + 3)
TABLE = pa.table({"day": [1, 1, 2, 3], "price": [1.0, 2.0, 3.0, 4.0]})


@pytest.fixture
def s3fs(target: Target) -> Any:
    """An fsspec file system, without its caches."""
    return fsspec.filesystem(
        "s3",
        endpoint_url=target.endpoint,
        key=target.access_key_id,
        secret=target.secret_access_key,
        client_kwargs={"region_name": REGION},
        skip_instance_cache=True,
        use_listings_cache=False,
    )


def test_s3fs(target: Target, s3fs: Any, repo: lakebed.Repository) -> None:
    with s3fs.open(target.url("f/large"), "wb", block_size=5 << 20) as file:
        file.write(LARGE)
    with s3fs.open(target.url("f/large"), "rb") as file:
        file.seek(1 << 20)
        assert file.read(100) == LARGE[1 << 20 :][:100]
    assert repo.branch("main").get("f/large") == LARGE
    s3fs.pipe(target.url("f/a b+ü"), b"1")
    s3fs.pipe(target.url("f/deep/c"), b"2")
    below = f"{target.bucket}/{target.prefix}f"
    assert sorted(s3fs.find(target.url("f"))) == [f"{below}/a b+ü", f"{below}/deep/c", f"{below}/large"]
    assert sorted(s3fs.ls(target.url("f"), detail=False)) == [f"{below}/a b+ü", f"{below}/deep", f"{below}/large"]
    assert s3fs.info(target.url("f/large"))["size"] == len(LARGE)
    assert s3fs.glob(target.url("f/*/c")) == [f"{below}/deep/c"]
    s3fs.mv(target.url("f/a b+ü"), target.url("f/moved"))
    assert s3fs.cat(target.url("f/moved")) == b"1"
    with pytest.raises(OSError, match="already exists"):
        s3fs.pipe(target.url("f/moved"), b"3", mode="create")
    s3fs.rm(target.url("f"), recursive=True)
    assert not s3fs.exists(target.url("f/moved"))
    assert [one.path for one in repo.branch("main").list()] == []
    with pytest.raises(FileNotFoundError):
        s3fs.cat(target.url("f/moved"))


def test_pandas(target: Target, s3fs: Any) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    options = {"endpoint_url": target.endpoint, "key": target.access_key_id, "secret": target.secret_access_key}
    for name, write, read in (
        ("t.parquet", frame.to_parquet, pd.read_parquet),
        ("t.csv", lambda *a, **n: frame.to_csv(*a, index=False, **n), pd.read_csv),
    ):
        write(target.url(name), storage_options=options)
        pd.testing.assert_frame_equal(read(target.url(name), storage_options=options), frame)


@pytest.fixture
def arrow(target: Target) -> S3FileSystem:
    """pyarrow's own, which is the AWS SDK for C++."""
    return S3FileSystem(
        endpoint_override=target.address,
        scheme="http",
        region=REGION,
        access_key=target.access_key_id,
        secret_key=target.secret_access_key,
    )


def test_directory_marks(target: Target, s3fs: Any, arrow: S3FileSystem, repo: lakebed.Repository) -> None:
    root, branch = f"{target.bucket}/{target.prefix}orders", repo.branch("main")
    ds.write_dataset(TABLE, root, format="parquet", partitioning=["day"], filesystem=arrow)
    arrow.create_dir(f"{root}/none")
    marks = [one.path for one in branch.list() if one.path.endswith("/")]
    assert marks == ["orders/", "orders/1/", "orders/2/", "orders/3/", "orders/none/"]
    assert arrow.get_file_info(f"{root}/none").type is FileType.Directory
    options = {"endpoint_url": target.endpoint, "key": target.access_key_id, "secret": target.secret_access_key}

    def read_by_pandas() -> int:
        return len(pd.read_parquet(target.url("orders"), storage_options=options))

    with pytest.raises(FileNotFoundError):  # s3fs takes a mark for a file
        read_by_pandas()
    branch.commit("orders")
    assert [one.path for one in branch.list() if one.path.endswith("/")] == []
    assert read_by_pandas() == TABLE.num_rows
    assert len(s3fs.find(target.url("orders"))) == 3
    assert ds.dataset(root, partitioning=["day"], filesystem=arrow).count_rows() == TABLE.num_rows
    assert arrow.get_file_info(root).type is FileType.Directory
    assert arrow.get_file_info(f"{root}/none").type is FileType.NotFound
    arrow.delete_dir(root)
    assert not branch.list().all()


def test_pyarrow(target: Target, arrow: S3FileSystem, repo: lakebed.Repository) -> None:
    root = f"{target.bucket}/{target.prefix}t"
    ds.write_dataset(TABLE, root, format="parquet", partitioning=["day"], filesystem=arrow)
    found = ds.dataset(root, format="parquet", partitioning=["day"], filesystem=arrow)
    assert found.to_table(filter=ds.field("day") == 1).num_rows == 2
    assert sorted(found.to_table()["price"].to_pylist()) == [1.0, 2.0, 3.0, 4.0]
    with arrow.open_output_stream(f"{root}/large") as out:
        out.write(LARGE)
    assert repo.branch("main").get("t/large") == LARGE
    with arrow.open_input_file(f"{root}/large") as file:
        assert file.read_at(10, 5 << 20) == LARGE[5 << 20 :][:10]
    infos = {one.base_name: one.type for one in arrow.get_file_info(FileSelector(root))}
    assert infos == {"1": FileType.Directory, "2": FileType.Directory, "3": FileType.Directory, "large": FileType.File}
    arrow.copy_file(f"{root}/large", f"{root}/copy")
    arrow.move(f"{root}/copy", f"{root}/moved")
    assert arrow.get_file_info(f"{root}/moved").size == len(LARGE)
    assert arrow.get_file_info(f"{root}/copy").type == FileType.NotFound
    arrow.delete_dir(root)
    assert arrow.get_file_info(f"{root}/moved").type == FileType.NotFound
    assert [one.path for one in repo.branch("main").list("t/1")] == []


@pytest.fixture
def store(target: Target) -> S3Store:
    """obstore's, which is Rust's object_store, as many newer tools use it."""
    return S3Store(
        target.bucket,
        prefix=target.prefix or None,
        endpoint=target.endpoint,
        access_key_id=target.access_key_id,
        secret_access_key=target.secret_access_key,
        region=REGION,
        client_options={"allow_http": True},
    )


def test_obstore(store: S3Store, repo: lakebed.Repository) -> None:
    done = obstore.put(store, "a/large", LARGE, chunk_size=5 << 20)
    assert bytes(obstore.get(store, "a/large").bytes()) == LARGE
    assert repo.branch("main").get("a/large") == LARGE
    assert obstore.head(store, "a/large")["e_tag"] == done["e_tag"]
    ranges = obstore.get_ranges(store, "a/large", starts=[0, 7 << 20], ends=[3, (7 << 20) + 5])
    assert [bytes(one) for one in ranges] == [LARGE[:3], LARGE[7 << 20 :][:5]]
    obstore.put(store, "a/new", b"1", mode="create")
    with pytest.raises(AlreadyExistsError):
        obstore.put(store, "a/new", b"2", mode="create")
    etag = obstore.put(store, "a/new", b"2")["e_tag"]
    obstore.put(store, "a/new", b"3", mode={"e_tag": etag})
    with pytest.raises(PreconditionError):
        obstore.put(store, "a/new", b"4", mode={"e_tag": etag})
    assert bytes(obstore.get(store, "a/new").bytes()) == b"3"
    obstore.copy(store, "a/new", "a/copy")
    obstore.rename(store, "a/copy", "a/moved ü+")
    names = [one["path"] for page in obstore.list(store, "a") for one in page]
    assert sorted(names) == ["a/large", "a/moved ü+", "a/new"]
    assert obstore.list_with_delimiter(store)["common_prefixes"] == ["a"]
    obstore.delete(store, ["a/large", "a/moved ü+", "a/new"])
    assert list(obstore.list(store)) == []


async def test_obstore_reads_in_parallel(store: S3Store) -> None:
    async def both() -> list[bytes]:
        await asyncio.gather(*(obstore.put_async(store, f"p/{n}", str(n).encode()) for n in range(50)))
        answers = await asyncio.gather(*(obstore.get_async(store, f"p/{n}") for n in range(50)))
        return [bytes(await one.bytes_async()) for one in answers]

    assert await both() == [str(n).encode() for n in range(50)]


def test_minio(target: Target, repo: lakebed.Repository, tmp_path: Path) -> None:
    client = Minio(
        target.address,
        access_key=target.access_key_id,
        secret_key=target.secret_access_key,
        secure=False,
        region=REGION,
    )
    assert client.bucket_exists(target.bucket)
    assert not client.bucket_exists("no-such-bucket-here")
    key = target.key("m/ü large")
    client.put_object(target.bucket, key, BytesIO(LARGE), -1, part_size=5 << 20, metadata={"kept": "1"})
    assert repo.branch("main").get("m/ü large") == LARGE
    reported = client.stat_object(target.bucket, key)
    assert (reported.size, (reported.metadata or {})["x-amz-meta-kept"]) == (len(LARGE), "1")
    client.fget_object(target.bucket, key, str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == LARGE
    answer = client.get_object(target.bucket, key, offset=7, length=9)
    assert answer.read() == LARGE[7:16]
    answer.release_conn()
    client.copy_object(target.bucket, target.key("m/copy"), CopySource(target.bucket, key))
    names = [one.object_name for one in client.list_objects(target.bucket, prefix=target.key("m/"), recursive=True)]
    assert names == [target.key("m/copy"), key]
    url = client.presigned_get_object(target.bucket, target.key("m/copy"), expires=timedelta(hours=1))
    with fsspec.open(url) as file:
        assert file.read(4) == LARGE[:4]
    gone = [DeleteObject(key), DeleteObject(target.key("m/copy"))]
    assert list(client.remove_objects(target.bucket, gone)) == []
    with pytest.raises(S3Error) as caught:
        client.stat_object(target.bucket, key)
    assert caught.value.code == "NoSuchKey"


@pytest.mark.parametrize("kind", ["pyarrow.PyArrowFileIO", "fsspec.FsspecFileIO"])
def test_pyiceberg(target: Target, tmp_path: Path, kind: str, repo: lakebed.Repository) -> None:
    """A table whose files are on the branch; its catalog is SQLite's."""
    from pyiceberg.catalog.sql import SqlCatalog

    properties = {
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": target.url("warehouse"),
        "py-io-impl": f"pyiceberg.io.{kind}",
        "s3.endpoint": target.endpoint,
        "s3.access-key-id": target.access_key_id,
        "s3.secret-access-key": target.secret_access_key,
        "s3.region": REGION,
    }
    catalog = SqlCatalog("lake", **properties)
    catalog.create_namespace("sales")
    table = catalog.create_table("sales.orders", schema=TABLE.schema)
    table.append(TABLE)
    table.append(TABLE)
    table.delete("day = 3")
    again = SqlCatalog("lake", **properties).load_table("sales.orders")
    assert sorted(again.scan().to_arrow()["day"].to_pylist()) == [1, 1, 1, 1, 2, 2]
    repo.branch("main").commit("an Iceberg table")
    assert any(one.path.endswith(".metadata.json") for one in repo.branch("main").list("warehouse/"))
    catalog.drop_table("sales.orders")
    catalog.engine.dispose()


def test_parquet_through_memory(target: Target, arrow: S3FileSystem) -> None:
    """Column chunks by range, of a file that another client wrote."""
    buffer = BytesIO()
    pq.write_table(TABLE, buffer)
    target.boto().put_object(Bucket=target.bucket, Key=target.key("x.parquet"), Body=buffer.getvalue())
    read = pq.read_table(f"{target.bucket}/{target.prefix}x.parquet", columns=["price"], filesystem=arrow)
    assert read["price"].to_pylist() == TABLE["price"].to_pylist()


def test_boto3_before_1_36(target: Target, repo: lakebed.Repository) -> None:
    """This version sends checksums only on request. It is installed in a folder of its own."""
    folder = Path(sys.prefix) / "boto3-before-1.36"
    assert folder.is_dir(), f"{folder} is not there: `make s3` installs it"
    program = Path(__file__).with_name("old_boto3.py")
    said = target.run(sys.executable, program, target.bucket, target.prefix, variables={"PYTHONPATH": str(folder)})
    version, _, reported = said.partition(" ")
    assert tuple(map(int, version.split(".")[:2])) < (1, 36)
    assert reported.strip() == "well"
    assert repo.branch("main").get("old/large") == bytes(9 << 20)
