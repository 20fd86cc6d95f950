"""Displays for people: pictures of a history, notebooks, conflicts as tables, and progress."""

from __future__ import annotations

import io
import pickle
import sys
import threading
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from typing import Any

import lakebed
import lakebed.aio
import pytest
from lakebed._bulk import progress_bar as progress
from lakebed._render import html
from lakebed._sync.bulk.ingest import Ingest
from lakebed._sync.http.pagination import Listing
from lakebed._sync.http.target import Storage, Target
from lakebed._values import graph as render_graph
from lakebed._values import graph_svg
from lakebed._values.ingest import IngestPage, Source
from lakebed.errors import Conflict, Conflicts, MergeConflictError
from lakebed.model import Commit, CommonPrefix, IngestReport, Page, RefInfo, TransferProgress

from tests.support.waiting import PATIENCE

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert('&')</script>"


def commit(id: str, *parents: str, at: int = 0, message: str = "") -> Commit:
    when = datetime.fromtimestamp(at, UTC)
    return Commit(id * 12, tuple(p * 12 for p in parents), message or f"message {id}", "me", when)


def drawn(*commits: Commit, heads: dict[str, str] | None = None, limit: int = 50) -> ET.Element:
    branches = [RefInfo(name, id * 12) for name, id in (heads or {}).items()]
    return ET.fromstring(render_graph.both(commits, branches, [], limit).svg)


def ends(path: ET.Element) -> tuple[tuple[float, float], tuple[float, float]]:
    words = path.attrib["d"].replace("M", " ").replace("C", " ").replace("V", " ").split()
    numbers = [float(word) for word in words]
    return (numbers[0], numbers[1]), (numbers[-2], numbers[-1])


def test_graph_links_each_commit_to_its_parents() -> None:
    commits = [commit("d", "b", "c", at=4), commit("c", "a", at=3), commit("b", "a", at=2), commit("a", at=1)]
    picture = drawn(*commits, heads={"main": "d", "dev": "c"})
    dots = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in picture.iter(f"{SVG}circle")]
    at = dict(zip("dcba", dots, strict=True))
    assert len({y for _, y in dots}) == 4
    links = {ends(path) for path in picture.iter(f"{SVG}path")}
    assert links == {(at["d"], at["b"]), (at["d"], at["c"]), (at["c"], at["a"]), (at["b"], at["a"])}
    assert at["c"][0] != at["b"][0]  # two lines of work, two columns
    texts = ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]
    assert texts[0] == "dddddddddddd (main) message d"
    assert texts[1] == "cccccccccccc (dev) message c"


def test_graph_columns_never_cross_commits_of_other_lines() -> None:
    commits = [commit("f", "d", "e", at=6), commit("e", "b", at=5), commit("d", "c", at=4), commit("c", "a", at=3),
               commit("b", "a", at=2), commit("a", at=1), commit("z", "c", at=7)]  # fmt: skip
    ordered = render_graph.in_order(commits)
    columns, links = graph_svg._laid_out(ordered)
    rows = {one.id: row for row, one in enumerate(ordered)}
    for (child, parent), (column, _) in links.items():
        between = [one.id for one in ordered if rows[child] < rows[one.id] < rows[parent]]
        assert all(columns[one] != column for one in between), (child, parent)


def test_graph_picture_is_capped_and_escaped() -> None:
    commits = [commit(chr(97 + n), *([chr(96 + n)] if n else []), at=n, message=EVIL + "x" * 500) for n in range(26)]
    picture = drawn(*commits, heads={f"{EVIL}{n}": "z" for n in range(50)}, limit=5)
    assert len(list(picture.iter(f"{SVG}circle"))) == 5
    assert len(list(picture.iter(f"{SVG}path"))) == 5  # the last one leads out of the picture
    assert not list(picture.iter(f"{SVG}script"))
    assert max(len("".join(text.itertext())) for text in picture.iter(f"{SVG}text")) < 200
    assert drawn(commit("a", message="\x00\x1b[31m")) is not None


def test_str_of_a_graph_is_its_text() -> None:
    graph = render_graph.both([commit("a")], [], [], 5)
    assert graph == "* aaaaaaaaaaaa  message a"
    assert graph._repr_svg_() == graph.svg
    again = pickle.loads(pickle.dumps(graph))
    assert (again, again.svg) == (graph, graph.svg)


def test_conflicts_are_a_table() -> None:
    error = MergeConflictError("no").with_conflicts(Conflict(f"p{n}", None, "a", "b") for n in range(30))
    assert error.paths[:2] == ("p0", "p1")
    frame = error.conflicts.to_pandas()
    assert list(frame.columns) == ["path", "base", "ours", "theirs"]
    assert len(frame) == 30
    assert error.conflicts.to_arrow().column("base").null_count == 30
    assert error.conflicts._repr_html_().count("<tr>") == 1 + html.ROWS
    again = pickle.loads(pickle.dumps(error))
    assert again.conflicts == error.conflicts
    assert isinstance(again.conflicts, Conflicts)
    assert MergeConflictError("none").conflicts.to_arrow().num_rows == 0


def test_notebooks(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put_many({f"{EVIL}/{n:02}": b"" for n in range(30)} | {f"{n:02}": b"" for n in range(30)})
    dirty = main._repr_html_()
    assert "20+ paths" in dirty
    main.commit(EVIL * 9)
    repo.tag("v1").create("main")
    shown: list[Any] = [repo, main, repo.tag("v1"), repo.ref("main~1"), main.workspace("w").create()]
    shown += [
        main.log(),
        main.list(),
        main.diff("v1"),
        main.changes_since("main~1"),
        repo.branches(),
        repo.workspaces(),
    ]
    for one in shown:
        page = one._repr_html_()
        ET.fromstring(page.replace("&nbsp;", " "))  # well formed
        assert "<script" not in page
        assert page.count("<tr>") < 60
        assert len(page) < 20_000
        assert len(repr(one)) < 100
    assert main.list()._repr_html_().count("<tr>") == 1 + html.ROWS
    assert "there are more" in main.list()._repr_html_()
    assert "2 rows" in main.log()._repr_html_()
    assert "5 rows" in main.list(limit=5)._repr_html_()


def test_notebook_display_never_raises(repo: lakebed.Repository) -> None:
    page = repo.branch("nowhere")._repr_html_()
    assert "NotFoundError" in page
    assert "&lt;Branch" in page
    through = lakebed.aio.connect("https://nowhere.test", "k", "s").repository("sales")
    assert through.branch("main")._repr_html_() == "<div class='lakebed'><code>&lt;Branch sales/main&gt;</code></div>"


# progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bars_are_drawn_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.delenv(progress.VARIABLE, raising=False)

    def draws_a_bar(given: Any = None) -> bool:
        with progress.following("work", given) as report:
            return report is not None

    assert not draws_a_bar()
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert draws_a_bar()
    assert not draws_a_bar(False)
    monkeypatch.setenv(progress.VARIABLE, "0")
    assert not draws_a_bar()
    assert draws_a_bar(True)
    monkeypatch.setattr(sys, "stderr", None)
    assert not draws_a_bar()


def test_progress_bar_appears_after_its_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    appeared = threading.Event()
    draw = progress.Meter._draw

    def watched(self: progress.Meter) -> None:
        draw(self)
        appeared.set()

    monkeypatch.setattr(progress.Meter, "_draw", watched)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.counting("write orders/", None) as tally:
        tally.expect(100)
        tally.moved(50)
        assert appeared.wait(PATIENCE)
    assert "write orders/" in terminal.getvalue()
    appeared.clear()
    monkeypatch.setattr(progress, "PATIENCE", 3600.0)
    quick = Terminal()
    monkeypatch.setattr(sys, "stderr", quick)
    with progress.counting("quick", None) as tally:
        tally.moved(50)
    assert quick.getvalue() == ""


def test_listings_and_ingests_are_counted_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(tuple(CommonPrefix(f"{n}/") for n in range(1000)), None)
    reached: list[int] = []
    monkeypatch.setattr(progress.Meter, "reached", lambda self, count: reached.append(count))
    monkeypatch.setattr(progress, "PATIENCE", 3600.0)
    monkeypatch.delenv(progress.VARIABLE, raising=False)

    class OnePage:
        def call(self, asked: object) -> Page[CommonPrefix]:
            return page

    listing: Listing[CommonPrefix] = Listing(OnePage(), lambda after, amount: None, (), "things")  # type: ignore[arg-type, return-value]
    assert listing.all() == list(page.items)
    assert reached == []
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert listing.all() == list(page.items)
    assert reached == [1000]
    source = Source("mem://x", "", (), (), 0, True)
    reported: list[IngestReport] = []
    for callback in (None, reported.append):
        job = Ingest(Target(None, Storage(), "repo", "main"), source, callback)  # type: ignore[arg-type]
        pages = IngestPage("c", None, 5, 0, 0, 0, 5, 0, 0, ())
        monkeypatch.setattr(job, "_page", lambda *_, pages=pages, **__: pages)
        job.commit("m", None, "rebase", allow_empty_source=False)
    assert reached == [1000, 5]
    assert [one.listed for one in reported] == [5]


def test_count_is_drawn_but_never_over_another_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 3600.0)
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    for _ in range(2):
        with (
            progress.Meter("outer", enabled=True, unit="rows") as outer,
            progress.Meter("inner", enabled=True) as inner,
        ):
            outer.reached(1234567)
            outer._draw()
            inner._draw()
            assert inner._bar is None
            assert outer._bar is not None
    assert "1,234,567 rows" in terminal.getvalue()
    assert "inner" not in terminal.getvalue()


def test_progress_callback_receives_the_end() -> None:
    reported: list[TransferProgress] = []
    with progress.counting("work", reported.append) as tally:
        tally.expect(7)
        tally.moved(7)
        tally.done(1)
        tally.no_more()
    assert (reported[-1].bytes, reported[-1].files, reported[-1].complete) == (7, 1, True)
