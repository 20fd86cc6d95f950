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
    files = found(["tests/engine/**/test_*.py", "tests/format/test_*.py"])
    return [one for one in files if "from hypothesis" in (ROOT / one).read_text("utf-8") and "machine" not in one]


PROOFS: Sequence[Job] = (
    Job(
        Proof(
            "schedules",
            "Simulated schedules",
            "The simulation runs the real engine on in-memory stores. Each store call is a scheduling point of a "
            "seeded scheduler (random, sticky random, PCT). The scheduler injects crashes, lost, late and refused "
            "responses, and pauses longer than the clean-up's grace period. A checker compares every effect on the "
            "store and every response with the history of each branch: no acknowledged change is lost, no refused "
            "change is visible, commits contain what the branch showed, merges are three-way, a workspace is in the "
            "history once if nothing blocked it and otherwise never, scans and ingests register what exists, no "
            "referenced object is deleted, and no orphan rows remain. Each run uses fresh seeds. A seed determines "
            "one schedule and replays it exactly.",
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
            "This proof tests the simulation. Each patch in `tests/simulation/mutants` breaks the protocol in one "
            "place of a copy of the engine. The simulation must detect it within a bounded number of seeds, from each "
            "of several fresh starting seeds. The same seeds must pass on the unchanged engine.",
        ),
        of_mutants,
        ("-m", "tests.simulation.run", "--mutants", "--sets", "{sets}"),
        "--json=",
    ),
    _tests(
        Proof(
            "apart",
            "Pauses and sweeps",
            "Separate schedules under the same scheduler cover cases that are rare in the schedules above: callers "
            "that pause longer than the clean-up's grace period while the cleaner runs continuously, and sweeps of "
            "orphans during work. They have separate mutants in `tests/simulation/mutants_apart`. The schedules must "
            "detect each mutant, and the same seed must pass without it.",
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
            "A real server under writers and committers receives SIGKILL at random moments and restarts on the same "
            "data. Afterwards every acknowledged upload, delete and commit exists, and nothing else. The test runs on "
            "SQLite and on PostgreSQL.",
            ("LAKEBED_KILLS=200 python -m pytest tests/crash/test_sigkill.py",),
        ),
        "tests/crash/test_sigkill.py",
        environment={"LAKEBED_KILLS": "{kills}"},
    ),
    Job(
        Proof(
            "histories",
            "Histories of real servers",
            "Three real servers share one PostgreSQL and one S3 server. Eight clients send requests, and a seed "
            "determines the faults: the test pauses, kills and restarts servers; drops, refuses, stalls, delays and "
            "half-closes connections to the database, or loses their responses; stalls the bucket; and crashes the "
            "database. For each object, tag, branch and head, a checker searches for an order of all operations that "
            "explains every response, including the lost ones. Every acknowledged commit and merge must be in the "
            "history of its branch once, and contain what the branch showed. The checker must also detect servers "
            "with a deliberate fault: a stale cache, a commit that is acknowledged before its batch, and a database "
            "that responds before it has written. In the table, `done` counts acknowledged operations, `refused` "
            "operations whose condition was false, `failed` operations that changed nothing, and `unknown` operations "
            "whose response was lost.",
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
            "A process that runs one operation kills itself directly before or after its k-th store call, for every k "
            "until the operation ends. Each time, the operation has happened completely or not at all. Running it "
            "again gives the result of a single run.",
        ),
        "tests/crash/test_kill_points.py",
    ),
    Job(
        Proof(
            "power",
            "Power loss",
            "The test records a server with SQLite and a local disk from its first start: every write, every change "
            "of a name, every sync of a file or a directory, and the time of each response. It simulates a power "
            "failure after every prefix of the record. Synced data is on the disk; any part of the other data is "
            "lost, reordered, or torn at sectors of 512 bytes. On each such disk, the test starts the server's parts, "
            "compares all acknowledged data byte for byte, runs `fsck --data --deep`, and lets the server write and "
            "commit. A third of the recordings begin with a power failure, and a third with a kill, so that they "
            "contain a recovery. `tests/power/model.py` describes the model and its sources. The test does not cover "
            "drives that report a sync too early, or file systems that lose synced data. PostgreSQL and cloud object "
            "stores are responsible for their own disks.",
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
            "This proof tests the power loss proof. Each patch in `tests/power/mutants` removes one sync from a copy "
            "of the server. The proof must detect it within a bounded number of disks, from each of several fresh "
            "starts. The same starts must pass on the unchanged server.",
        ),
        of_mutants,
        ("-m", "tests.power.run", "--mutants"),
        "--json=",
    ),
    _tests(
        Proof(
            "races",
            "Races",
            "The tests run tens of tasks on one branch, every verb against every other verb at every store call, two "
            "processes on one SQLite file, and two servers and several workers on one store.",
        ),
        "tests/engine/**/test_*races.py",
        "tests/engine/commit/test_advance.py",
        "tests/conformance/kv/test_kv.py",
        "tests/server/faults/test_postgres_servers.py",
        "tests/server/process/test_workers.py",
        only=("-k", "race or racing or advance or servers or workers"),
    ),
    _tests(
        Proof(
            "workspaces",
            "Workspaces from many processes",
            "Eight processes commit workspaces to one branch of a real server, with SQLite and a local disk, without "
            "a pause. Each acknowledged commit is in the history once, the history contains nothing else, and every "
            "object has the written content.",
            ("LAKEBED_WORKSPACES=1000 python -m pytest tests/server/operations/test_workspaces_together.py",),
        ),
        "tests/server/operations/test_workspaces_together.py",
        environment={"LAKEBED_WORKSPACES": "{workspaces}"},
    ),
    _tests(
        Proof(
            "lost-answers",
            "Lost answers",
            "The tests lose the response of each verb before the call takes effect, after it, or while the effect is "
            "still pending. The verb finds out what happened by reading back, and does nothing twice.",
        ),
        "tests/engine/commit/test_lost_answers.py",
    ),
    _tests(
        Proof(
            "oracles",
            "Generated cases",
            "The tests compare folds, diffs, merges, layers, pages and the file formats with plain dictionaries, on "
            "generated inputs: tiny ranges, equal identities, empty files, unusual paths.",
        ),
        paths=generated,
        only=_FRESH,
    ),
    _tests(
        Proof(
            "machine",
            "The whole engine against a model",
            "Any sequence of the engine's verbs, with restarts and clean-up at random moments, gives the same result "
            "as a model of dictionaries.",
        ),
        "tests/engine/state_machine/test_machine.py",
        only=_FRESH,
    ),
    _tests(
        Proof(
            "faults",
            "Faulty stores",
            "The tests run a real server on stores that are full, read-only, missing, slow, locked or respond with "
            "503. The server first retries internally. Then it returns typed errors that name the failure, and leaves "
            "nothing half-done. The branch works again when the fault is over.",
        ),
        "tests/server/faults/test_faults*.py",
    ),
    _tests(
        Proof(
            "damage",
            "Damaged files",
            "The tests flip bits in files of every format, truncate them and swap them. A reader raises a typed error "
            "that names the file, and never returns wrong data.",
        ),
        "tests/format/test_*.py",
        "tests/engine/maintenance/test_corrupt.py",
        "tests/server/faults/test_damaged*.py",
    ),
    _tests(
        Proof(
            "hostile-files",
            "Hostile files",
            "Each parser of external data (ranges, patches, metaranges, metaranges that carry a patch, commits, ref "
            "snapshots, markers, layers, pushed layers, logs of Delta tables, XML, aws-chunked, forms) gets mutated "
            "valid inputs. The test corrects the checksums and ids, so that the input reaches the decoder. Each case "
            "returns a value or raises the one typed error, within 2 s of processor time, in a process that may use "
            "512 MiB of address space beyond its start and grow by 192 MiB. The test must also detect each parser "
            "from which one error mapping was removed. A real server, `lakebed fsck` and `lakebed rebuild` give the "
            "right result for the files and requests of the security review.",
            ("python -m tests.fuzz.run ranges --start N --cases 1",),
        ),
        "tests/fuzz/test_fuzz.py",
        "tests/format/test_hostile_files.py",
        "tests/engine/layers/test_layer_files.py",
        "tests/server/faults/test_hostile_files.py",
        "tests/server/rest/test_bounded_parsers.py",
        "tests/cli/files/test_hostile_bucket.py",
        environment={"LAKEBED_FUZZ_CASES": "{inputs}", "LAKEBED_FUZZ_START": "{start}"},
    ),
    _tests(
        Proof(
            "conformance",
            "Store conformance",
            "The suites test every driver for what the engine requires of a store. One suite is for the KV stores and "
            "one for the object stores, on real servers and emulators.",
        ),
        "tests/conformance/**/test_*.py",
    ),
    _tests(
        Proof(
            "overload",
            "Overload",
            "A real server has settings for a small machine (4 requests at a time, 150 connections) and receives "
            "twenty times as much: clients that send requests without a pause, and connections that send nothing, "
            "half a head or half a body. The median times of answered puts, stats and logs stay within three times "
            "those of a single client. Memory stays below the sum of the limits. The server always answers health "
            "checks, and an SDK user can continue. After a restart, every acknowledged put exists and no refused one "
            "does. The server also survives heads of 16 and 48 MB, 200,000 headers, and 140 silent connections under "
            "a limit of 128 open files.",
            ("LAKEBED_OVERLOAD=60 python -m pytest tests/server/http/test_overload.py",),
        ),
        "tests/server/http/test_connection_bounds.py",
        "tests/server/http/test_admission.py",
        "tests/server/http/test_overload.py",
        environment={"LAKEBED_OVERLOAD": "60"},
    ),
    Job(
        Proof(
            "api",
            "The whole API",
            "schemathesis sends valid and invalid requests according to `openapi.yaml` to a real server. Every "
            "response is documented, and none is a 500.",
            ("python tools/run_schemathesis.py --max-examples 200 --seed N",),
        ),
        of_schemathesis,
        ("tools/run_schemathesis.py", "--max-examples", "{examples}"),
        "--report-json-path=",
        silent=("--", "--report", "json"),
    ),
)
