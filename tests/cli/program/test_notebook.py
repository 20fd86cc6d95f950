"""`%load_ext lakebed` in a real IPython: tables, pictures and errors of the command line."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import lakebed
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from lakebed._bulk import progress_bar
from lakebed.model import TransferProgress

from tests.support.processes.server import RunningServer
from tests.support.waiting import wait_until


@pytest.fixture
def shell(server: RunningServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Any]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    made: Any = InteractiveShell
    shell = made()
    shell.run_line_magic("load_ext", "lakebed")
    yield shell
    shell.run_line_magic("unload_ext", "lakebed")
    shell.history_manager.end_session()


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    branch = repo.branch("main")
    branch.put("orders.csv", b"x" * 1536)
    branch.commit("load <orders>")
    branch.put("orders.csv", b"y")
    branch.put("new.csv", b"n")
    return branch


def html_of(shell: Any, line: str) -> str:
    page: str = shell.run_line_magic("lakebed", line).data
    ET.fromstring(f"<div>{page}</div>")  # well formed
    assert "<script" not in page
    return page


def test_tables(shell: Any, main: lakebed.Branch) -> None:
    name = main.repository.id
    assert "<td>main</td>" in html_of(shell, f"branch list {name}")
    log = html_of(shell, f"log {name}/main")
    assert "load &lt;orders&gt;" in log
    assert "2 rows" in log
    assert " UTC</td>" in log
    assert "<svg" in html_of(shell, f"log {name} --graph")
    status = html_of(shell, f"status {name}/main")
    assert ">added</span>" in status
    assert "uncommitted: 1 added, 1 changed" in status
    assert ">1.5 kB</td>" in html_of(shell, f"fs ls {name}/main~0")
    assert "1 row<" in html_of(shell, f"show {name}/main")
    assert "<pre>" in html_of(shell, f"branch list {name} --json")
    assert "x" * 1536 in html_of(shell, f"fs cat {name}/main@/orders.csv")
    assert shell.run_line_magic("lakebed", "--help").data.count("<pre>") == 1


def test_a_cell_runs_each_line_and_stops_at_an_error(shell: Any, main: lakebed.Branch) -> None:
    name = main.repository.id
    cell = f"# a remark\nbranch create {name}/dev\n\nlakebed branch list {name}\n"
    page = shell.run_cell_magic("lakebed", "", cell).data
    assert "<td>dev</td>" in page
    with pytest.raises(UsageError, match="Did you mean 'main'"):
        shell.run_cell_magic("lakebed", "", f"branch show {name}/mian\nbranch create {name}/never\n")
    assert [info.id for info in main.repository.branches()] == ["dev", "main"]
    result = shell.run_cell("%lakebed swich dev")
    assert not result.success


def test_values_of_the_notebook_are_filled_in(shell: Any, main: lakebed.Branch) -> None:
    shell.push({"where": f"{main.repository.id}/main"})
    result = shell.run_cell("%lakebed log {where} -n 1")
    assert "load &lt;orders&gt;" in result.result.data


class ZMQInteractiveShell:
    """The name of the shell in the kernel of a notebook."""


@pytest.mark.parametrize(("running", "shown"), [(ZMQInteractiveShell(), True), (object(), False), (None, False)])
def test_notebooks_show_progress(monkeypatch: pytest.MonkeyPatch, running: object, shown: bool) -> None:
    monkeypatch.delenv(progress_bar.VARIABLE, raising=False)
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: running)
    assert progress_bar._on_terminal() is shown
    monkeypatch.setenv(progress_bar.VARIABLE, "0")
    assert progress_bar._on_terminal() is False


def test_progress_without_ipywidgets_is_a_line_of_text(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, bool]] = []

    class Output:
        def update(self, data: dict[str, str], *, raw: bool) -> None:
            shown.append((data["text/plain"], raw))

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Output:
        assert display_id
        output = Output()
        output.update(data, raw=raw)
        return output

    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", ZMQInteractiveShell)
    monkeypatch.setattr(sys.modules["IPython.display"], "display", display)
    monkeypatch.setattr(progress_bar, "find_spec", lambda name: None)
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.0)
    with progress_bar.following("upload", None) as report:
        assert report is not None
        wait_until(lambda: shown, "the timer shows the bar, in its thread")
        report(TransferProgress(bytes=1_000, bytes_total=2_000, files=1, files_total=2, complete=True, seconds=1.0))
        report(TransferProgress(bytes=2_000, bytes_total=2_000, files=2, files_total=2, complete=True, seconds=1.0))
    assert shown[-1] == ("upload: 2/2 files, 2.0 kB of 2.0 kB", True)
    assert len(shown) <= 3  # and not one for each report


def test_rows_of_a_table_keep_their_columns_and_zeros(repo: lakebed.Repository) -> None:
    """Columns of a user's table are not those of a listing: `id` stays `id`, and 0 is a value."""
    import pandas as pd

    main = repo.branch("main")
    main.write_parquet("t.parquet", pd.DataFrame({"id": [0, 1], "size": [1000, 2000], "checksum": ["a", "b"]}))
    main.commit("first")
    main.write_parquet("t.parquet", pd.DataFrame({"id": [1], "size": [2000], "checksum": ["b"]}), mode="overwrite")
    main.commit("second")
    page = repo.ref("main~1").diff("main", two_dot=True).table("t.parquet", key="id")._repr_html_()
    assert "<th>id</th><th>size</th><th>checksum</th>" in page
    assert ">0</td>" in page
    assert ">1,000</td>" in page
    assert "1 row removed" in page
    assert "<table><tbody></tbody></table>" not in page
