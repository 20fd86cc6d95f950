"""The report of a rebuild about commits without a ref: newest first, with their messages and their number."""

from __future__ import annotations

from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.reports import LooseCommit, RebuildReport
from lakebed_server.cli.maintenance_reports import rebuild_text

from tests.engine.support import REPO, CountingIds, FakeClock, make_engine, new_engine, put_commit


async def loose(count: int) -> tuple[Stores, list[LooseCommit]]:
    """A repository of which only commits are left: one a minute, each on a branch of its own. Newest first."""
    stores, clock = Stores(None), FakeClock()
    engine = await make_engine(stores=stores, clock=clock, ids=CountingIds())
    made: list[LooseCommit] = []
    for number in range(count):
        clock.forward(60)
        await engine.branches.create(REPO, f"b{number}", "main")
        commit = await put_commit(engine, {str(number): "1"}, f"b{number}", message=f"load {number}")
        made.append(LooseCommit(commit.id, commit.creation_date, commit.message))
    return stores, made[::-1]


async def test_the_newest_ones_are_shown_and_all_are_counted() -> None:
    tuning = Tuning(shown_heads=4)

    async def job(dry_run: bool) -> None:
        stores, made = await loose(7)
        assert [one.id for one in made] != sorted(one.id for one in made), "the order of ids tells nothing here"
        report = await new_engine(MemoryKV(), stores, tuning=tuning).maintenance.rebuild("mem://lake", dry_run=dry_run)
        assert list(report.heads) == made[:4]
        assert report.head_count == 7

    await job(dry_run=True)
    await job(dry_run=False)


def test_rebuild_command_prints_the_loose_commits() -> None:
    heads = [LooseCommit("f" * 64, 1_700_000_060, "load\x1b[2J orders\n\nof May"), LooseCommit("0" * 64, 1 << 60, "")]
    report = RebuildReport(
        repository="sales", namespace="local://sales", dry_run=True, commits=9, branches=0, tags=0, snapshot="",
        snapshot_time=0, problems=(), problem_count=0, heads=heads, head_count=1_502,
    )  # fmt: skip
    assert rebuild_text(report).splitlines()[1:5] == [
        "No branch, tag or commit leads to these commits (1,502, newest first); "
        "`lakebed branch create sales/NAME --source COMMIT` makes a branch of one:",
        f"  {'f' * 64}  2023-11-14 22:14:20  load\\x1b[2J orders",
        f"  {'0' * 64}  at {1 << 60} s",
        "  and 1,500 older ones",
    ]
