"""Every partition and every key that the engine writes in the KV store. Object keys: `lakebed_format.keys`.

    repositories              <name>                             record of a repository
    namespaces                <URI>                              uid of the repository that owns a namespace
    drops                     <token or layer>, repo:<uid>       what deferred deletes remove
    sweeps                    tokens                             lease of the sweep of staging tokens
    auto-merges               <uid>/<id>                         pull requests that the server merges when it can
    hook-deliveries           due/<second>/<id>, order/..., lease  calls of actions that wait; their dispatcher
    scrub                     lease, place, result/<uid>         the scrub
    ageing                    time                               the clock by which things expire
    stage/<token>             <path>, and one empty key          staged rows
    repo/<uid>                                                   all other rows of one repository:
      branch/<name>, tag/<name>, commit/<id>, metadata           refs, commits, the repository's own map
      workspace/<id>, due/<second>/<id>, marker/<id>             workspaces
      idempotency/<id>/<key>                                     idempotency keys of commits
      op/<id>                                                    settles lost answers of compare-and-swap
      touched/<commit>, span/<first|all>/<commit>                changed paths, log index
      upload/<branch>/<path> NUL <id>, part/<id>/<number>,
      ended/<id>, upload-due/<second>/<id>                       multipart uploads
      task/<id>, running/<id>, task-key/<SHA-256>                tasks
      pull/<id, digits inverted>, pull-event/<id>/<number>,
      pull-open/<branch>/<id>                                    pull requests; the open ones of a branch
      check/<commit>/<name>                                      states that outside jobs report for commits
      candidate/<id>                                             commits that hooks check, in no history yet
      hook-settings                                              actions that are not in the data
      hook-run/<id>, hook-log/<run>/<hook>                       runs of hooks, what they printed
      verdict/<SHA-256>                                          what a hook said about a tree
      failed-delivery/<id>                                       calls of actions that failed for good
      range-bytes                                                the last sum of `repository.statistics`
      sweep                                                      lease of the sweep
      journal/<event id>, journal-head                           events that are in no file yet, and the last file

A prefix ends in a slash. The sweep refuses to run over a row of a repository that is not in `REPOSITORY_KEYS`.
"""

from __future__ import annotations

import re
from typing import Final

REPOSITORIES: Final = "repositories"
NAMESPACES: Final = "namespaces"
DROPS: Final = "drops"
SWEEPS: Final = "sweeps"
SCRUB: Final = "scrub"
AUTO_MERGES: Final = "auto-merges"
HOOK_DELIVERIES: Final = "hook-deliveries"
EXPIRY_CLOCK: Final = "ageing"
STAGING_PARTITIONS: Final = "stage/"
REPOSITORY_PARTITIONS: Final = "repo/"

BRANCH_ROWS: Final = b"branch/"
WORKSPACE_ROWS: Final = b"workspace/"
TAG_ROWS: Final = b"tag/"
COMMIT_ROWS: Final = b"commit/"
METADATA: Final = b"metadata"
IDEMPOTENCY: Final = b"idempotency/"
OPERATIONS: Final = b"op/"
"""Each row holds the Unix second it was written."""
PENDING_MARKERS: Final = b"marker/"
"""Workspaces whose `.committed` object may still be missing."""
WORKSPACE_DUE: Final = b"due/"
CHANGED_PATHS: Final = b"touched/"
SPANS: Final = b"span/"
UPLOADS: Final = b"upload/"
PART_ROWS: Final = b"part/"
ENDED: Final = b"ended/"
UPLOAD_DUE: Final = b"upload-due/"
TASKS: Final = b"task/"
RUNNING: Final = b"running/"
TASK_KEYS: Final = b"task-key/"
PULLS: Final = b"pull/"
PULL_EVENTS: Final = b"pull-event/"
OPEN_PULLS: Final = b"pull-open/"
CHECKS: Final = b"check/"
CANDIDATES: Final = b"candidate/"
HOOK_SETTINGS: Final = b"hook-settings"
HOOK_RUNS: Final = b"hook-run/"
HOOK_LOGS: Final = b"hook-log/"
VERDICTS: Final = b"verdict/"
FAILED_DELIVERIES: Final = b"failed-delivery/"
RANGE_BYTES: Final = b"range-bytes"
"""The bytes of the objects in the ranges of one tree."""
SWEEP_LEASE: Final = b"sweep"
JOURNAL: Final = b"journal/"
"""Events that are in no file of the bucket yet. The ids begin with the time, so the oldest row is first."""
JOURNAL_HEAD: Final = b"journal-head"
"""The newest file of events, and the lease of the drain."""

REPOSITORY_KEYS: Final = (
    BRANCH_ROWS, WORKSPACE_ROWS, TAG_ROWS, COMMIT_ROWS, METADATA, IDEMPOTENCY, OPERATIONS, PENDING_MARKERS,
    WORKSPACE_DUE, CHANGED_PATHS, SPANS, UPLOADS, PART_ROWS, ENDED, UPLOAD_DUE, TASKS, RUNNING, TASK_KEYS,
    PULLS, PULL_EVENTS, OPEN_PULLS, CHECKS, CANDIDATES, HOOK_SETTINGS, HOOK_RUNS, HOOK_LOGS, VERDICTS,
    FAILED_DELIVERIES, RANGE_BYTES, SWEEP_LEASE, JOURNAL, JOURNAL_HEAD,
)  # fmt: skip
"""Every prefix and every single key of a repository's partition."""

DELIVERIES_DUE: Final = b"due/"
DELIVERY_ORDER: Final = b"order/"
DISPATCHER_LEASE: Final = b"lease"
TOKENS_LEASE: Final = b"tokens"
SCRUB_LEASE: Final = b"lease"
SCRUB_PLACE: Final = b"place"
SCRUB_RESULTS: Final = b"result/"
EXPIRY_CLOCK_TIME: Final = b"time"
DROPPED_REPOSITORIES: Final = b"repo:"

FIRST: Final = b""
"""The smallest key."""

STAGED_MARKER: Final = b""
"""The key of a row in every staging token that has rows. No path is empty. One check shows that nothing is staged."""

FIRST_ROW: Final = b"\0"
"""The smallest key of a staged row: the next after the marker."""

_PULL_DIGITS: Final = "0123456789abcdefghijklmnopqrstuv"
_INVERTED: Final = str.maketrans(_PULL_DIGITS, _PULL_DIGITS[::-1])

_WORKSPACE: Final = re.compile(r"([^+]*)\+([0-9a-f]{32})", re.ASCII)


def end_of(prefix: bytes) -> bytes:
    """The first key after all keys that begin with a prefix. Example: `branch/` gives `branch0`."""
    return prefix[:-1] + b"0"


def under(prefix: bytes) -> tuple[bytes, bytes]:
    """First and end of the keys that begin with a prefix, to scan between."""
    return prefix, end_of(prefix)


def beginning_with(text: str) -> tuple[bytes, bytes]:
    """First and end of the keys that begin with a text, to scan between. No UTF-8 text has the byte 255."""
    return text.encode(), text.encode() + b"\xff"


def kind_of(key: bytes) -> bytes | None:
    """The element of `REPOSITORY_KEYS` that a key belongs to. None when this version does not know it."""
    return next((one for one in REPOSITORY_KEYS if key == one or (_is_prefix(one) and key.startswith(one))), None)


def behind(kind: bytes) -> bytes:
    """The first key after all keys of an element of `REPOSITORY_KEYS`."""
    return end_of(kind) if _is_prefix(kind) else kind + b"\0"


def _is_prefix(kind: bytes) -> bool:
    return kind.endswith(b"/")


def text_key(text: str) -> bytes:
    """Text as a key for a lookup. Text with a lone surrogate, which no stored name has, finds nothing."""
    return text.encode(errors="surrogatepass")


def repository_partition(uid: str) -> str:
    """The partition of a repository, by its uid."""
    return REPOSITORY_PARTITIONS + uid


def staging(token: str) -> str:
    """The partition of the rows of a staging token."""
    return STAGING_PARTITIONS + token


def scan_token(workspace_uid: str) -> str:
    """The staging token of what scans of a workspace have registered. No other token has this form."""
    return f"scan-{workspace_uid}"


def inside_namespace(uri: str) -> tuple[bytes, bytes]:
    """First and end of the keys, in `NAMESPACES`, of the namespaces inside this one."""
    return under(uri.encode() + b"/")


def dropped_repository(uid: str) -> bytes:
    """In `DROPS`: a deleted repository whose rows must still be removed."""
    return DROPPED_REPOSITORIES + uid.encode()


def scrub_result(uid: str) -> bytes:
    """In `SCRUB`: what the last scrub of a repository found."""
    return SCRUB_RESULTS + uid.encode()


def branch_key(name: str) -> bytes:
    """The record of a branch."""
    return BRANCH_ROWS + text_key(name)


def tag_key(name: str) -> bytes:
    """The record of a tag."""
    return TAG_ROWS + text_key(name)


def commit_key(commit_id: str) -> bytes:
    """The record of a commit."""
    return COMMIT_ROWS + text_key(commit_id)


def commits_from(digits: str) -> tuple[bytes, bytes]:
    """First and end of the keys of the commits whose id begins with these hexadecimal digits."""
    return commit_key(digits), commit_key(digits) + b"g"


def workspace_key(workspace_uid: str) -> bytes:
    """The record of a workspace."""
    return WORKSPACE_ROWS + text_key(workspace_uid)


def workspace_id(name: str) -> str | None:
    """The id in the name of a workspace, `<branch>+<id>`. None for another name."""
    found = _WORKSPACE.fullmatch(name) if "+" in name else None
    return None if found is None else found[2]


def record_key(name: str) -> bytes:
    """The record of a branch or a workspace."""
    found = workspace_id(name)
    return branch_key(name) if found is None else workspace_key(found)


def due_key(prefix: bytes, at: int, name: str = "") -> bytes:
    """A row that is due at a Unix second. Without a name, the first key of that second."""
    return prefix + f"{at:012d}/{name}".encode() if name else prefix + f"{at:012d}".encode()


def pending_marker_key(workspace_uid: str) -> bytes:
    """A workspace whose `.committed` object may still be missing."""
    return PENDING_MARKERS + workspace_uid.encode()


def due_name(key: bytes) -> str:
    """The name in a key that `due_key` made."""
    return key.rpartition(b"/")[2].decode()


def idempotency_key(owner: str, key: str = "") -> bytes:
    """The row of an idempotency key of a workspace or branch. Without a key, the prefix of the owner's rows."""
    return IDEMPOTENCY + f"{owner}/{key}".encode()


def changed_paths_key(commit_id: str) -> bytes:
    """The changed paths of a commit."""
    return CHANGED_PATHS + text_key(commit_id)


def span_key(commit_id: str, first_parent: bool) -> bytes:
    """The part of the log index that begins at a commit. `first_parent`: for walks along first parents."""
    return SPANS + (b"first/" if first_parent else b"all/") + text_key(commit_id)


def upload_key(branch: str, path: str, upload_id: str) -> bytes:
    """An open multipart upload. Sorted as S3 lists uploads."""
    return UPLOADS + text_key(f"{branch}/{path}") + b"\0" + text_key(upload_id)


def parts_prefix(upload_id: str) -> bytes:
    """The prefix of the parts of an upload."""
    return PART_ROWS + f"{upload_id}/".encode()


def part_key(upload_id: str, number: int) -> bytes:
    """A part of an upload."""
    return parts_prefix(upload_id) + f"{number:05}".encode()


def ended_key(upload_id: str) -> bytes:
    """An upload that was completed or aborted."""
    return ENDED + text_key(upload_id)


def task_key(task_id: str) -> bytes:
    """A task."""
    return TASKS + task_id.encode()


def running_key(task_id: str) -> bytes:
    """Which process runs a task, and since when."""
    return RUNNING + task_id.encode()


def event_key(event_id: str) -> bytes:
    """An event that is in no file yet."""
    return JOURNAL + event_id.encode()


def task_idempotency_key(digest: str) -> bytes:
    """The task that an idempotency key, by its SHA-256 in hex, began."""
    return TASK_KEYS + digest.encode()


def pull_key(pull_id: str) -> bytes:
    """The record of a pull request, or of a prefix of its id. The digits are inverted: the newest id is first."""
    return PULLS + text_key(pull_id.translate(_INVERTED))


def pull_events(pull_id: str) -> bytes:
    """The prefix of the events of a pull request."""
    return PULL_EVENTS + f"{pull_id}/".encode()


def pull_event_key(pull_id: str, number: int) -> bytes:
    """An event of a pull request."""
    return pull_events(pull_id) + f"{number:06}".encode()


def open_pulls(branch: str) -> bytes:
    """The prefix of the open pull requests from or to a branch."""
    return OPEN_PULLS + text_key(branch) + b"/"


def open_pull_key(branch: str, pull_id: str) -> bytes:
    """The mark that an open pull request is from or to a branch."""
    return open_pulls(branch) + pull_id.encode()


def open_pull_id(key: bytes) -> str:
    """The id in a key that `open_pull_key` made."""
    return key.rpartition(b"/")[2].decode()


def checks_of(commit_id: str) -> bytes:
    """The prefix of the checks of a commit."""
    return CHECKS + f"{commit_id}/".encode()


def check_key(commit_id: str, name: str) -> bytes:
    """The newest state of a check of a commit."""
    return checks_of(commit_id) + text_key(name)


def candidate_key(commit_id: str) -> bytes:
    """A commit that hooks check before it is in any history."""
    return CANDIDATES + text_key(commit_id)


def hook_run_key(run_id: str) -> bytes:
    """A run of hooks."""
    return HOOK_RUNS + text_key(run_id)


def hook_logs_of(run_id: str) -> bytes:
    """The prefix of the logs of a run."""
    return HOOK_LOGS + text_key(run_id) + b"/"


def hook_log_key(run_id: str, hook_run_id: str) -> bytes:
    """What one hook of a run printed."""
    return hook_logs_of(run_id) + text_key(hook_run_id)


def verdict_key(digest: str) -> bytes:
    """What a hook said about a tree, by a SHA-256 in hex."""
    return VERDICTS + digest.encode()


def failed_delivery_key(delivery_id: str) -> bytes:
    """A call of an action that failed for good."""
    return FAILED_DELIVERIES + text_key(delivery_id)


def delivery_order(*order: str) -> tuple[bytes, bytes]:
    """First and end of the keys with the order of the calls of one action for one branch (`Delivery.order`)."""
    start = DELIVERY_ORDER + b"".join(text_key(part) + b"\0" for part in order)
    return start, start[:-1] + b"\1"


def delivery_order_key(order: tuple[str, ...], delivery_id: str) -> bytes:
    """The place of a call among those of its action and branch."""
    return delivery_order(*order)[0] + delivery_id.encode()


def auto_merge_key(repo_uid: str, pull_id: str) -> bytes:
    """In `AUTO_MERGES`: a pull request that the server merges when it can."""
    return f"{repo_uid}/{pull_id}".encode()
