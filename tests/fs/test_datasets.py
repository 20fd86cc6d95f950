"""A pyarrow data set reads its original files or reports that they changed; a new one reads the new files."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from lakebed import Repository
from lakebed._direct.shared_directory import SharedDirectory
from lakebed._fsspec import arrow
from lakebed.errors import PreconditionFailedError
from lakebed.fsspec import arrow_filesystem

from tests.fs.conftest import Requests

OLD = pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"]})
NEW = pa.table({"x": list(range(20_000)), "y": ["z"] * 20_000})


@pytest.fixture
def folder(fs: Any, top: str) -> str:
    for name in ("a", "b"):
        pq.write_table(OLD, f"{top}/t/{name}.parquet", filesystem=fs)
    return f"{top}/t"


def replace(repo: Repository, name: str = "t/a.parquet") -> None:
    """Write without the file system, which might remember its own writes."""
    repo.branch("main").write_parquet(name, NEW)


def test_dataset_reads_the_files_of_its_discovery(fs: Any, folder: str, repo: Repository) -> None:
    dataset = pads.dataset(folder, filesystem=arrow_filesystem(fs))
    replace(repo)
    repo.branch("main").delete("t/b.parquet")
    assert dataset.to_table().to_pydict() == pa.concat_tables([OLD, OLD]).to_pydict()
    again = pads.dataset(folder, filesystem=arrow_filesystem(fs))
    assert again.to_table().to_pydict() == NEW.to_pydict()
    assert dataset.count_rows() == 6


def test_dataset_opens_known_files_without_requests(fs: Any, folder: str, requests: Requests) -> None:
    dataset = pads.dataset(folder, filesystem=arrow_filesystem(fs))
    dataset.to_table()  # where the files are is asked for once
    requests.clear()
    assert dataset.to_table().num_rows == 6
    assert requests.names == []


def test_replaced_file_error_of_a_read_through_the_server(
    fs: Any, folder: str, repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, it read the new file by the footer of the old one: `Unexpected end of stream`."""
    monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
    proxied = type(fs)(skip_instance_cache=True)
    dataset = pads.dataset(folder, filesystem=arrow_filesystem(proxied))
    assert dataset.to_table().num_rows == 6
    replace(repo)
    with pytest.raises(PreconditionFailedError, match="create it again") as failed:
        dataset.to_table()
    assert (failed.value.repository, failed.value.ref, failed.value.path) == (repo.id, "main", "t/a.parquet")
    assert pads.dataset(folder, filesystem=arrow_filesystem(proxied)).to_table().num_rows == NEW.num_rows + OLD.num_rows
    repo.branch("main").delete("t/b.parquet")
    with pytest.raises(FileNotFoundError):
        pads.dataset([f"{folder}/b.parquet"], filesystem=proxied).to_table()


def test_file_missing_on_this_machine_is_requested(
    fs: Any, folder: str, repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = pads.dataset(folder, filesystem=arrow_filesystem(fs))
    monkeypatch.setattr(SharedDirectory, "find", lambda *_: None)
    assert dataset.to_table().num_rows == 6
    replace(repo)
    with pytest.raises(PreconditionFailedError):
        dataset.to_table()


def test_read_table_opens_a_new_data_set(way: str, fs: Any, folder: str, repo: Repository) -> None:
    assert pq.read_table(folder, filesystem=fs).num_rows == 6
    replace(repo)
    assert pq.read_table(folder, filesystem=fs).num_rows == NEW.num_rows + OLD.num_rows


def test_users_own_file_system_makes_a_request_each_time(way: str, fs: Any, folder: str, repo: Repository) -> None:
    own = pafs.PyFileSystem(pafs.FSSpecHandler(fs))
    pads.dataset(folder, filesystem=own)
    own.get_file_info(pafs.FileSelector(folder))
    replace(repo)
    assert pads.dataset([f"{folder}/a.parquet"], filesystem=own).to_table().to_pydict() == NEW.to_pydict()
    assert pq.read_table(f"{folder}/a.parquet", filesystem=own).num_rows == NEW.num_rows


def test_data_set_that_lists_again_sees_the_present_files(fs: Any, folder: str, repo: Repository) -> None:
    dataset = pads.dataset(folder, filesystem=arrow_filesystem(fs))
    replace(repo)
    again = pads.dataset(folder, filesystem=dataset.filesystem)
    assert again.to_table().num_rows == NEW.num_rows + OLD.num_rows


def test_data_set_in_another_process_makes_requests(fs: Any, folder: str, repo: Repository) -> None:
    sent = pickle.dumps(pads.dataset(folder, filesystem=arrow_filesystem(fs)))
    replace(repo)
    assert pickle.loads(sent).to_table().num_rows == NEW.num_rows + OLD.num_rows


def test_memory_is_bounded(fs: Any, folder: str, repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "MOST", 1)
    dataset = pads.dataset(folder, filesystem=arrow_filesystem(fs))
    replace(repo, "t/a.parquet")
    repo.branch("main").write_parquet("t/b.parquet", NEW)
    assert dataset.count_rows() == OLD.num_rows + NEW.num_rows
