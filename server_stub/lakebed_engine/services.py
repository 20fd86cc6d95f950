"""The services of the engine: its operations, grouped by their objects.

An operation is a function of `operations` whose first argument is the context, or the task runner. A service binds
that argument. So an operation has one signature and one docstring, and mypy checks the calls of a service against it.

Operations take names and plain values, and check them. They return records of `vocabulary`, and raise errors of
`vocabulary.errors` and no others. `repo` is always the name of a repository. A page has 1 to 1,000 items. Where a
branch is read, staged on, listed or compared, the name `<branch>+<id>` names a workspace.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from lakebed_engine.operations.branch import branches, protection, tags
from lakebed_engine.operations.commit import hard_reset as commit_hard_reset
from lakebed_engine.operations.commit import import_commits
from lakebed_engine.operations.context import Context
from lakebed_engine.operations.direct_writes import bulk_register, dedupe, physical_address, presign
from lakebed_engine.operations.direct_writes import register as direct_register
from lakebed_engine.operations.direct_writes import scan as workspace_scan
from lakebed_engine.operations.events import read as events_read
from lakebed_engine.operations.export import access_history, hive_symlinks, metadata_files
from lakebed_engine.operations.gc import purge as gc_purge
from lakebed_engine.operations.history import commit_statistics as history_statistics
from lakebed_engine.operations.history import diff as history_diff
from lakebed_engine.operations.history import log as history_log
from lakebed_engine.operations.history import merge_base as history_merge_base
from lakebed_engine.operations.history import writers as history_writers
from lakebed_engine.operations.hooks import action_files
from lakebed_engine.operations.hooks import deliveries as hook_deliveries
from lakebed_engine.operations.hooks import runs as hook_runs
from lakebed_engine.operations.ingest import import_task
from lakebed_engine.operations.ingest import ingest as ingest_pages
from lakebed_engine.operations.layers import compaction
from lakebed_engine.operations.layers import push as layer_push
from lakebed_engine.operations.layers import reset as layer_reset
from lakebed_engine.operations.multipart import abort as multipart_abort
from lakebed_engine.operations.multipart import complete as multipart_complete
from lakebed_engine.operations.multipart import listing, upload
from lakebed_engine.operations.objects import copy as object_copy
from lakebed_engine.operations.objects import read, read_many, stage
from lakebed_engine.operations.objects import search as object_search
from lakebed_engine.operations.pulls import checks as pull_checks
from lakebed_engine.operations.pulls import comments as pull_comments
from lakebed_engine.operations.pulls import comments as pull_timeline
from lakebed_engine.operations.pulls import lifecycle as pull_lifecycle
from lakebed_engine.operations.pulls import merge as pull_merge
from lakebed_engine.operations.pulls import personal as pull_personal
from lakebed_engine.operations.pulls import reviews as pull_reviews
from lakebed_engine.operations.pulls import state as pull_state
from lakebed_engine.operations.recovery import dump_restore
from lakebed_engine.operations.recovery.ref_snapshots import RefChanges
from lakebed_engine.operations.repository import create as repository_create
from lakebed_engine.operations.repository import delete as repository_delete
from lakebed_engine.operations.repository import hook_settings as repository_hook_settings
from lakebed_engine.operations.repository import lifecycle
from lakebed_engine.operations.repository import statistics as repository_statistics
from lakebed_engine.operations.tasks import async_commit, commit_once
from lakebed_engine.operations.tasks.runner import TaskRunner
from lakebed_engine.operations.workspace import lifecycle as workspaces
from lakebed_engine.operations.workspace import stash as workspace_stash
from lakebed_engine.vocabulary.hooks import HookPort

P = ParamSpec("P")
R = TypeVar("R")


class Service:
    """A group of operations over one engine."""

    def __init__(self, ctx: Context, runner: TaskRunner, ref_changes: RefChanges) -> None:
        self._ctx = ctx
        self._runner = runner
        self._ref_changes = ref_changes


def bound(operation: Callable[Concatenate[Context, P], R]) -> Callable[Concatenate[Service, P], R]:
    """A method that calls an operation with the context of its service."""

    @wraps(operation)
    def method(self: Service, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return operation(self._ctx, *args, **kwargs)

    return method


def bound_to_tasks(operation: Callable[Concatenate[TaskRunner, P], R]) -> Callable[Concatenate[Service, P], R]:
    """A method that calls an operation with the task runner of its service."""

    @wraps(operation)
    def method(self: Service, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return operation(self._runner, *args, **kwargs)

    return method


def changes_refs(
    method: Callable[Concatenate[Service, str, P], Awaitable[R]],
) -> Callable[Concatenate[Service, str, P], Coroutine[Any, Any, R]]:
    """Make a method report afterwards that it has changed the refs of a repository, its first argument."""

    @wraps(method)
    async def changing(self: Service, repo: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result = await method(self, repo, *args, **kwargs)
        await self._ref_changes.report(repo)
        return result

    return changing


class Repositories(Service):
    """Repositories and their metadata."""

    create = changes_refs(bound(repository_create.create_repository))
    get = bound(lifecycle.get_repository)
    list = bound(lifecycle.list_repositories)
    delete = bound(lifecycle.delete_repository)
    delete_empty = bound(repository_delete.delete_empty)
    purge = bound(gc_purge.purge_repository)
    get_metadata = bound(lifecycle.get_metadata)
    set_metadata = bound(lifecycle.set_metadata)
    delete_metadata = bound(lifecycle.delete_metadata)
    statistics = bound(repository_statistics.repository_statistics)
    data_place = bound(direct_register.place_of)
    metadata_file = bound(metadata_files.find)
    write_symlinks = bound(hive_symlinks.write_symlinks)


class Protection(Service):
    """The rules that protect branches from direct changes."""

    rules = bound(protection.get_rules)
    replace = changes_refs(bound(protection.set_rules))
    add = changes_refs(bound(protection.add_rule))
    delete = changes_refs(bound(protection.delete_rule))


class Branches(Service):
    """Branches, and their uncommitted changes as a whole."""

    create = changes_refs(bound(branches.create_branch))
    get = bound(branches.get_branch)
    list = bound(branches.list_branches)
    delete = changes_refs(bound(pull_lifecycle.delete_branch))
    reset = bound(branches.reset_branch)
    reset_object = bound(branches.reset_object)
    reset_prefix = bound(layer_reset.reset_prefix)
    hard_reset = changes_refs(bound(commit_hard_reset.hard_reset))
    push = bound(layer_push.push_rows)
    compact = bound(compaction.compact_branch)
    diff = bound(history_diff.diff_branch)


class Tags(Service):
    """Tags."""

    create = changes_refs(bound(tags.create_tag))
    get = bound(tags.get_tag)
    list = bound(tags.list_tags)
    delete = changes_refs(bound(tags.delete_tag))


class Commits(Service):
    """Commits, merges and history."""

    create = changes_refs(bound_to_tasks(commit_once.commit))
    publish = changes_refs(bound_to_tasks(commit_once.publish))
    publish_uploads = changes_refs(bound_to_tasks(commit_once.publish_uploads))
    create_from_metarange = changes_refs(bound(import_commits.commit_tree))
    record = bound(import_commits.record_commit)
    merge = changes_refs(bound_to_tasks(commit_once.merge))
    revert = changes_refs(bound_to_tasks(commit_once.revert))
    cherry_pick = changes_refs(bound_to_tasks(commit_once.cherry_pick))
    get = bound(history_log.get_commit)
    log = bound(history_log.log)
    statistics = bound(history_statistics.commit_statistics)
    merge_base = bound(history_merge_base.merge_base)
    diff = bound(history_diff.diff_refs)


class Pulls(Service):
    """Pull requests. A ref snapshot contains them, so every change of one is a change of the refs."""

    create = changes_refs(bound(pull_lifecycle.create_pull))
    get = bound(pull_lifecycle.get_pull)
    list = bound(pull_lifecycle.list_pulls)
    update = changes_refs(bound(pull_lifecycle.update_pull))
    merge = changes_refs(bound(pull_merge.merge_pull))
    state = bound(pull_state.pull_state)
    conflicts = bound(pull_state.pull_conflicts)
    events = bound(pull_timeline.list_events)
    add_review = changes_refs(bound(pull_reviews.add_review))
    reviews = bound(pull_reviews.list_reviews)
    approvals = bound(pull_reviews.list_approvals)
    dismiss_review = changes_refs(bound(pull_reviews.dismiss_review))
    withdraw_approval = changes_refs(bound(pull_reviews.withdraw_approval))
    add_comment = changes_refs(bound(pull_comments.add_comment))
    comments = bound(pull_comments.list_comments)
    edit_comment = changes_refs(bound(pull_comments.edit_comment))
    delete_comment = changes_refs(bound(pull_comments.delete_comment))
    report_check = bound(pull_checks.report_check)
    checks = bound(pull_checks.list_checks)
    own = bound(pull_personal.list_own)


class Objects(Service):
    """Objects: the content of refs, and staged changes."""

    stat = bound(read.stat)
    find = bound(read.find)
    find_many = bound(read_many.find_many)
    find_below = bound(read_many.find_below)
    find_committed = bound(read_many.find_committed)
    locate = bound(read.locate)
    list = bound(read.list_objects)
    search = bound(object_search.search)
    writers = bound(history_writers.list_writers)
    open = bound(read.open_entry)
    read_part = bound(read.read_part)
    sign_reads = bound(presign.sign_reads)
    addresses = bound(read.addresses)
    storage_class = bound(physical_address.storage_class)
    upload = bound(stage.upload)
    upload_many = bound(stage.upload_many)
    copy = bound(object_copy.copy_object)
    copy_as = bound(object_copy.copy_as)
    delete = bound(stage.delete_object)
    delete_many = bound(stage.delete_objects)
    set_metadata = bound(physical_address.set_metadata)


class Workspaces(Service):
    """Workspaces, and the objects that clients wrote below their prefixes."""

    create = bound(workspaces.create)
    get = bound(workspaces.get)
    list = bound(workspaces.list_page)
    renew = bound(workspaces.renew)
    delete = bound(workspaces.drop)
    register = bound(workspace_scan.register)
    register_written = bound(direct_register.register_written)
    register_file = bound(bulk_register.push_written)
    dedupe = bound(dedupe.share)
    scan = bound(workspace_scan.scan)
    ingest = bound(ingest_pages.ingest_page)
    ingest_diff = bound(ingest_pages.diff_page)
    commit = changes_refs(bound_to_tasks(commit_once.commit_workspace))
    revert = bound(workspaces.revert)
    stash = bound(workspace_stash.stash)
    pop = bound(workspace_stash.pop)


class SignedUploads(Service):
    """Uploads that clients of a workspace send directly to the object store, with presigned URLs."""

    sign = bound(presign.sign_uploads)
    begin = bound(presign.begin_upload)
    sign_parts = bound(presign.sign_parts)
    complete = bound(presign.complete_upload)
    abort = bound(presign.abort_upload)


class PhysicalAddresses(Service):
    """Addresses in the object store that clients get, write to, and then link to a path of a branch."""

    get = bound(physical_address.get_address)
    link = bound(physical_address.link)
    begin_upload = bound(physical_address.begin_upload)
    sign_part = bound(physical_address.sign_part)
    copy_part = bound(physical_address.copy_part)
    complete_upload = bound(physical_address.complete_upload)
    abort_upload = bound(physical_address.abort_upload)


class Multipart(Service):
    """Multipart uploads through the server."""

    create = bound(upload.create)
    get = bound(upload.get)
    put_part = bound(upload.put_part)
    copy_part = bound(upload.copy_part)
    list_parts = bound(upload.list_parts)
    list = bound(listing.list_uploads)
    complete = bound(multipart_complete.complete)
    abort = bound(multipart_abort.abort)


class Imports(Service):
    """Imports of objects outside of every namespace, as tasks."""

    start = bound_to_tasks(import_task.start)
    status = bound_to_tasks(import_task.status)
    cancel = bound_to_tasks(import_task.cancel)


class Dumps(Service):
    """Dumps of refs, and their restore."""

    dump = bound(dump_restore.dump)
    restore = bound(dump_restore.restore)
    begin_dump = bound_to_tasks(dump_restore.begin_dump)
    begin_restore = bound_to_tasks(dump_restore.begin_restore)
    status = bound_to_tasks(dump_restore.status)


class AccessHistory(Service):
    """The files of the access history."""

    of_repository = bound(access_history.of_repository)
    of_server = bound(access_history.of_server)
    claim = bound(access_history.claim)


class Hooks(Service):
    """Runs of hooks, their verdicts about trees, the calls that follow changes, and the settings of hooks."""

    settings = bound(repository_hook_settings.get_hook_settings)
    replace_settings = bound(repository_hook_settings.set_hook_settings)
    new_run_id = bound(hook_runs.new_run_id)
    save_run = bound(hook_runs.save_run)
    run = bound(hook_runs.get_run)
    runs = bound(hook_runs.list_runs)
    log = bound(hook_runs.read_log)
    verdict = bound(hook_runs.get_verdict)
    put_verdict = bound(hook_runs.put_verdict)
    files = bound(action_files.files_of)
    take_lease = bound(hook_deliveries.take_lease)
    release_lease = bound(hook_deliveries.release_lease)
    due = bound(hook_deliveries.due)
    is_next = bound(hook_deliveries.is_next)
    finish = bound(hook_deliveries.finish)
    postpone = bound(hook_deliveries.postpone)
    fail = bound(hook_deliveries.fail)
    deliveries = bound(hook_deliveries.list_deliveries)
    redeliver = bound(hook_deliveries.redeliver)

    def use(self, port: HookPort) -> None:
        """Run these hooks for each change from now on."""
        self._ctx.hooks.port = port


class Events(Service):
    """The event log."""

    page = bound(events_read.page)
    position = bound(events_read.position)
    settled = bound(events_read.settled)
    is_kept = bound(events_read.is_kept)
    drain = bound(events_read.drain_now)


class Tasks(Service):
    """Commits and merges as tasks, and the tasks of every kind."""

    begin_commit = bound_to_tasks(async_commit.begin_commit)
    begin_merge = bound_to_tasks(async_commit.begin_merge)
    get = bound_to_tasks(async_commit.get_task)
    cancel = bound_to_tasks(TaskRunner.cancel)
    resume = bound_to_tasks(TaskRunner.resume)


class Services:
    """All services of one engine, except maintenance."""

    def __init__(self, ctx: Context, runner: TaskRunner, ref_changes: RefChanges) -> None:
        shared = (ctx, runner, ref_changes)
        self.repositories = Repositories(*shared)
        self.protection = Protection(*shared)
        self.branches = Branches(*shared)
        self.tags = Tags(*shared)
        self.commits = Commits(*shared)
        self.pulls = Pulls(*shared)
        self.objects = Objects(*shared)
        self.workspaces = Workspaces(*shared)
        self.signed_uploads = SignedUploads(*shared)
        self.physical_addresses = PhysicalAddresses(*shared)
        self.multipart = Multipart(*shared)
        self.imports = Imports(*shared)
        self.dumps = Dumps(*shared)
        self.tasks = Tasks(*shared)
        self.access_history = AccessHistory(*shared)
        self.events = Events(*shared)
        self.hooks = Hooks(*shared)
