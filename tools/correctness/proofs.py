"""The proofs: what each is, how it is run at a given size, and the reader of its report.

In arguments and environment, `{seeds}`, `{start}`, `{sets}`,
`{kills}`, `{workspaces}`, `{history}`, `{inputs}` and `{examples}` are the sizes; `paths` are test files or
patterns of them, found when the proof is run.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.correctness.page import Proof
from tools.correctness.reports import (
    Report,
    of_histories,
    of_mutants,
    of_power,
    of_pytest,
    of_schedules,
    of_schemathesis,
)

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Job:
    """A proof and how to run it: arguments of Python, the option that says where the report goes, and its reader.

    `silent`: arguments that a reader need not type, because they only make the report.
    """

    proof: Proof
    read: Callable[[bytes], Report]
    arguments: Sequence[str]
    report: str
    silent: Sequence[str] = ()
    paths: Callable[[], Sequence[str]] = tuple
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, sizes: Mapping[str, int]) -> tuple[list[str], dict[str, str]]:
        """The arguments and the environment of a run of this size."""
        arguments = [one.format(**sizes) for one in self.arguments]
        return [*arguments, *self.paths()], {name: one.format(**sizes) for name, one in self.environment.items()}

    def command(self, sizes: Mapping[str, int]) -> str:
        """What a reader types to run it again."""
        arguments, environment = self.run(sizes)
        setting = [f"{name}={value}" for name, value in environment.items()]
        return " ".join([*setting, "python", shlex.join(arguments)])


_FRESH = ("--hypothesis-seed", "random")
"""Other cases each time: `make test` draws the same ones until the engine changes."""


def _tests(
    proof: Proof,
    *patterns: str,
    paths: Callable[[], Sequence[str]] | None = None,
    only: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Job:
    return Job(
        proof,
        of_pytest,
        ("-m", "pytest", "-q", *only),
        "--junitxml=",
        paths=paths or (lambda: found(patterns)),
        environment=environment or {},
    )


def found(patterns: Sequence[str]) -> list[str]:
    """The test files of these patterns. A pattern without a match stays as it is, so that pytest fails on it."""
    files = [sorted(ROOT.glob(one)) or [ROOT / one] for one in patterns]
    return [str(one.relative_to(ROOT)) for some in files for one in some]


def generated() -> list[str]:
    """The test files of engine and formats that generate their cases, without the state machine: a proof of its own."""
    files = found(["tests/engine/test_*.py", "tests/format/test_*.py"])
    return [one for one in files if "from hypothesis" in (ROOT / one).read_text("utf-8") and "machine" not in one]


PROOFS: Sequence[Job] = (
    Job(
        Proof(
            "schedules",
            "Simulated schedules",
            "The real engine on in-memory stores whose every call is a scheduling point of a seeded scheduler "
            "(random, sticky random, PCT), with crashes, lost, late and refused answers, and pauses past the "
            "clean-up's grace. Every effect on the store and every answer is judged against the history of each "
            "branch: nothing acknowledged is lost, nothing refused is visible, commits hold what was shown, merges "
            "are three-way, a workspace is in history once and just when nothing stood in its way, scans and ingests "
            "register what is there, nothing referenced is deleted, no orphan rows are left. The seeds are fresh each "
            "time; one seed is one schedule, and replays exactly.",
            ("make simulate SEEDS=100000", "python -m tests.simulation.run --seed N --trace"),
        ),
        of_schedules,
        ("-m", "tests.simulation.run", "--seeds", "{seeds}", "--start", "{start}"),
        "--json=",
    ),
    Job(
        Proof(
            "mutants",
            "Mutants",
            "The test of the simulation: each patch in `tests/simulation/mutants` breaks the protocol in one place "
            "of a copy of the engine, and the simulation must see it within a bounded number of seeds, from every "
            "one of several fresh starting seeds. The same seeds must pass on the engine as it is.",
        ),
        of_mutants,
        ("-m", "tests.simulation.run", "--mutants", "--sets", "{sets}"),
        "--json=",
    ),
    _tests(
        Proof(
            "apart",
            "Pauses and sweeps",
            "Separate schedules under the same scheduler, for cases that the schedules above meet too seldom: callers "
            "that pause past the clean-up's grace while the cleaner runs all the time, and sweeps of orphans during "
            "work. They have separate mutants, in `tests/simulation/mutants_apart`: each is caught, and the same seed "
            "passes without it.",
            (
                "python -m tests.simulation.apart --seeds 10000",
                "python -m tests.simulation.apart --only pauses --seed N --trace",
            ),
        ),
        "tests/simulation/test_apart.py",
        "tests/simulation/test_sweeps.py",
    ),
    _tests(
        Proof(
            "kills",
            "Kills under load",
            "A real server under writers and committers gets SIGKILL at random moments, and starts again over the "
            "same data: every acknowledged upload, delete and commit is there, and nothing else. "
            "On SQLite and on PostgreSQL.",
            ("LAKEBED_KILLS=200 python -m pytest tests/crash/test_sigkill.py",),
        ),
        "tests/crash/test_sigkill.py",
        environment={"LAKEBED_KILLS": "{kills}"},
    ),
    Job(
        Proof(
            "histories",
            "Histories of real servers",
            "Three real servers on one PostgreSQL and one S3 server, eight clients, and faults that are drawn from a "
            "seed: servers are paused, killed and started again; connections to the database are dropped, refused, "
            "stalled, delayed and half-closed, or lose their answers; the bucket stalls; the database crashes. A "
            "checker searches for each object, tag, branch and head an order of all operations that explains every "
            "answer, the answers that were lost included. Every acknowledged commit and merge must be in the history "
            "of its branch once, and hold what the branch showed. Servers with a mistake in them must be caught: a "
            "stale cache, a commit answered before its batch, and a database that answers before it has written. "
            "In the table, `done` counts what was acknowledged, `refused` answers that a condition did not hold, "
            "`failed` answers that nothing was changed, and `unknown` lost answers.",
            (
                "python -m tests.histories.run --seconds 600 --seed N",
                "python -m tests.histories.run --only-mutant stale_cache",
            ),
        ),
        of_histories,
        ("-m", "tests.histories.run", "--seconds", "{history}", "--mutants"),
        "--json=",
    ),
    _tests(
        Proof(
            "kill-points",
            "Every kill point",
            "A process that runs one operation kills itself right before, or right after, its k-th call to a store, "
            "for every k until the operation ends. Each time the operation is there as a whole or not at all, and "
            "running it again gives what one run gives.",
        ),
        "tests/crash/test_kill_points.py",
    ),
    Job(
        Proof(
            "power",
            "Power loss",
            "A server over SQLite and a local disk is recorded from its first start on: every write, every change "
            "of a name, every sync of a file or a directory, and the moment at which each answer left. After every "
            "prefix of the record the power fails: what was synced is on the disk, and of the rest any part is "
            "lost, reordered, or torn at sectors of 512 bytes. On each such disk the server's parts start, "
            "everything that had been acknowledged is compared, byte for byte, `fsck --data --deep` runs, and the "
            "server writes and commits. A third of the recordings begin with a loss, and a third with a kill, so "
            "that they hold a recovery. `tests/power/model.py` states the model and its sources. It does not show "
            "what happens on a drive that reports a sync too early, or on a file system that loses what was synced; "
            "and PostgreSQL and object stores in the cloud answer for their own disks.",
            (
                "python -m tests.power.run --disks 20000",
                "python -m tests.power.run --seed N --trace",
            ),
        ),
        of_power,
        ("-m", "tests.power.run", "--disks", "{disks}", "--start", "{start}"),
        "--json=",
    ),
    Job(
        Proof(
            "power-mutants",
            "Mutants of the sync order",
            "The test of the power loss: each patch in `tests/power/mutants` leaves out one sync in a copy of the "
            "server. Within a bounded number of disks one must show it, from every one of several fresh starts. The "
            "same starts must pass on the server as it is.",
        ),
        of_mutants,
        ("-m", "tests.power.run", "--mutants"),
        "--json=",
    ),
    _tests(
        Proof(
            "races",
            "Races",
            "Tens of tasks on one branch; every verb against every rival at every store call; two processes on one "
            "SQLite file; two servers and several workers over one store.",
        ),
        "tests/engine/test_*races.py",
        "tests/engine/test_advance.py",
        "tests/conformance/test_kv.py",
        "tests/server/test_postgres_servers.py",
        "tests/server/test_workers.py",
        only=("-k", "race or racing or advance or servers or workers"),
    ),
    _tests(
        Proof(
            "workspaces",
            "Workspaces from many processes",
            "Eight processes commit workspaces onto one branch of a real server, SQLite and a local disk under it, as "
            "fast as it goes: each commit that was answered is in history once, nothing else is, and every object "
            "reads as it was written.",
            ("LAKEBED_WORKSPACES=1000 python -m pytest tests/server/test_workspaces_together.py",),
        ),
        "tests/server/test_workspaces_together.py",
        environment={"LAKEBED_WORKSPACES": "{workspaces}"},
    ),
    _tests(
        Proof(
            "lost-answers",
            "Lost answers",
            "Each verb with an answer lost before the call took effect, after it, or landing late: it settles what "
            "happened by reading back, and nothing is done twice.",
        ),
        "tests/engine/test_lost_answers.py",
    ),
    _tests(
        Proof(
            "oracles",
            "Generated cases",
            "Folds, diffs, merges, layers, pages, and the file formats on generated inputs, against plain "
            "dictionaries: tiny ranges, equal identities, empty files, odd paths.",
        ),
        paths=generated,
        only=_FRESH,
    ),
    _tests(
        Proof(
            "machine",
            "The whole engine against a model",
            "Any sequence of the engine's verbs, with restarts and clean-up at random moments, gives what a model "
            "of dictionaries gives.",
        ),
        "tests/engine/test_machine.py",
        only=_FRESH,
    ),
    _tests(
        Proof(
            "faults",
            "Faulty stores",
            "Stores that are full, read-only, gone, slow, locked or answer 503, through a real server: typed "
            "errors that say what failed, retries inside first, nothing half-done, and a branch that works again "
            "when the fault has gone.",
        ),
        "tests/server/test_faults*.py",
    ),
    _tests(
        Proof(
            "damage",
            "Damaged files",
            "Flipped bits, truncation and swapped files of every format: a typed error that names the file, never "
            "wrong data.",
        ),
        "tests/format/test_*.py",
        "tests/engine/test_corrupt.py",
        "tests/server/test_damaged*.py",
    ),
    _tests(
        Proof(
            "hostile-files",
            "Hostile files",
            "Every parser of what comes from outside (ranges, patches, metaranges, metaranges that carry a patch, "
            "commits, ref snapshots, markers, layers, pushed layers, logs of Delta tables, XML, aws-chunked, forms) "
            "gets valid inputs with changes; the checksums and ids are made to fit again, so that the decoder is "
            "reached. Each case gives a value or the one typed error, within 2 s of processor time, in a process that "
            "may take 512 MiB of addresses beyond its start and grow by 192 MiB. Each parser with one mapping of an "
            "error taken away is found out. The files and requests of the security review get the right answer through "
            "a real server, `lakebed fsck` and `lakebed rebuild`.",
            ("python -m tests.fuzz.run ranges --start N --cases 1",),
        ),
        "tests/fuzz/test_fuzz.py",
        "tests/format/test_hostile_files.py",
        "tests/engine/test_layer_files.py",
        "tests/server/test_hostile_files.py",
        "tests/server/test_bounded_parsers.py",
        "tests/cli/test_hostile_bucket.py",
        environment={"LAKEBED_FUZZ_CASES": "{inputs}", "LAKEBED_FUZZ_START": "{start}"},
    ),
    _tests(
        Proof(
            "conformance",
            "Store conformance",
            "What the engine asks of a store, asked of every driver: one suite for the KV stores, one for the "
            "object stores, on real servers and emulators.",
        ),
        "tests/conformance/test_*.py",
    ),
    _tests(
        Proof(
            "overload",
            "Overload",
            "A real server, whose settings say what the machine can do (4 requests at a time, 150 connections), "
            "gets twenty times as many: clients that ask without a pause, and connections that are silent, half a head "
            "or half a body. The medians of answered puts, stats and logs stay within three times those of one client "
            "alone; memory stays under what the settings add up to; health is always answered and a user of the SDK "
            "goes on; after a restart every acknowledged put is there and no refused one. Heads of 16 and 48 MB, "
            "200,000 headers, and 140 silent connections under a limit of 128 open files stop nothing.",
            ("LAKEBED_OVERLOAD=60 python -m pytest tests/server/test_overload.py",),
        ),
        "tests/server/test_connection_bounds.py",
        "tests/server/test_admission.py",
        "tests/server/test_overload.py",
        environment={"LAKEBED_OVERLOAD": "60"},
    ),
    Job(
        Proof(
            "api",
            "The whole API",
            "schemathesis sends what `openapi.yaml` allows, and what it forbids, to a real server: every "
            "response is a documented one, and none is a 500.",
            ("python tools/run_schemathesis.py --max-examples 200 --seed N",),
        ),
        of_schemathesis,
        ("tools/run_schemathesis.py", "--max-examples", "{examples}"),
        "--report-json-path=",
        silent=("--", "--report", "json"),
    ),
)
