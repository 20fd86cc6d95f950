"""Sizes and wait times of an engine that are not settings of the server."""

from __future__ import annotations

from dataclasses import dataclass

from lakebed_format.tree.split import MAX_BYTES

from lakebed_engine.tree.manifest import LIMITS, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Sizes and wait times of an engine.

    The defaults suit every lake. Tests use lower values to reach a limit with few rows and without a wait.
    """

    commit_wait: float = 10.0
    """Seconds that a commit waits for earlier commits of its branch. Then it continues without them."""

    commits_together: int = 16
    """Commits that one compare-and-swap adds to a branch."""

    guarded_paths: int = 100
    """Paths of a commit up to which its compare-and-swap checks that none of them was staged since the fold."""

    compared_paths: int = 64
    """Paths of a workspace up to which its commit looks up each of them. With more it compares the trees."""

    kept_rows: int = 20_000
    """Rows of a workspace up to which its commit keeps them in memory between its passes over them."""

    compact_from: int = 8
    """Layers of a branch from which the engine compacts them."""

    max_layers: int = 32
    """Layers of a branch. The engine refuses another one until a compaction or a commit has made room."""

    layer_bytes: int = MAX_BYTES
    """Bytes of rows, not compressed, of one file of a layer."""

    reset_rows: int = 10_000
    """Rows that a reset of a prefix gathers before it writes them."""

    staged_page: int = 1_000
    """Rows that a listing reads from a staging token at a time."""

    sealed_page: int = 20_000
    """Rows that a fold or a compaction reads from a sealed staging token at a time."""

    task_beat: float = 5.0
    """Seconds between two heartbeats of a task."""

    task_silence: float = 30.0
    """Seconds without a heartbeat after which another server takes over a task."""

    tasks_at_once: int = 64
    """Tasks that one server works on at the same time. It refuses further ones."""

    least_part: int = 5 << 20
    """Bytes of each part of a multipart upload but the last one, as on S3."""

    shown_heads: int = 100
    """Commits without a branch that the report of a rebuild names. It counts the others."""

    trees: Limits = LIMITS
    """How trees are cut into files."""
