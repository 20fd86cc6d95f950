"""`lakebed repo`: the life of repositories."""

from __future__ import annotations

import sys

import click

from lakebed import Location, ProtectionRule, RepositoryInfo, RepositoryPurge, RepositoryStatistics
from lakebed.cli import output
from lakebed.cli.admin.storage import add_commit, dump, metadata_file, restore
from lakebed.cli.app import App, Noun, confirm, metadata_option, pass_app, yes_option
from lakebed.cli.targets import REPOSITORY


@click.group(cls=Noun)
def repo() -> None:
    """Create, list, show, protect and delete repositories."""


@repo.command()
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.argument("namespace", metavar="[STORAGE_NAMESPACE]", default="")
@click.option("--default-branch", default="main", show_default=True, metavar="NAME", help="Name of the default branch.")
@click.option("--exist-ok", is_flag=True, help="Do nothing if it already exists.")
@click.option("--bare", is_flag=True, help="Create no branch: the repository is for `repo restore`.")
@click.option("--read-only", is_flag=True, help="Make the repository read-only.")
@click.option("--sample-data", is_flag=True, help="Add some sample objects.")
@click.option(
    "--allow-non-empty", is_flag=True, help="Accept other objects in the prefix; Lakebed leaves them as they are."
)
@click.option("--store", default="", metavar="NAME", help="A named store of the server [the default store].")
@pass_app
def create(
    app: App,
    repository: Location,
    namespace: str,
    default_branch: str,
    exist_ok: bool,
    bare: bool,
    read_only: bool,
    sample_data: bool,
    allow_non_empty: bool,
    store: str,
) -> None:
    """Create a repository over a prefix of an object store.

    Without STORAGE_NAMESPACE the server chooses one. `local://NAME` is a folder in the data directory of the server.
    The prefix must be empty.

    \b
    Example: lakebed repo create sales
             lakebed repo create sales s3://bucket/sales
    """
    with app.lake() as lake:
        handle = lake.repository(repository.repository)
        kind = {"bare": bare, "read_only": read_only, "sample_data": sample_data}
        made = handle.create(
            namespace, default_branch, exist_ok=exist_ok, allow_non_empty=allow_non_empty, storage_id=store, **kind
        )
        info = made.info()
    where = "without a branch" if bare else f"on branch {info.default_branch}"
    said = f"Repository {info.id} over {output.shown(info.storage_namespace)} is ready, {where}."
    output.say(app, said, output.record(info))


@repo.command("list")
@click.option("--prefix", default="", help="Only names that begin with this.")
@click.option("--search", default="", help="Only names that contain this.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def list_(app: App, prefix: str, search: str, limit: int | None) -> None:
    """List repositories, sorted by name.

    \b
    Example: lakebed repo list --prefix team-a
    """
    with app.lake() as lake:
        found = output.rows(app, lake.repositories(prefix, search, limit), _line)
    if not found and not app.as_json:
        output.note(app, "No repositories. `lakebed repo create NAME` creates one.")


@repo.command()
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.option("--size", is_flag=True, help="Count the objects of the default branch, and their bytes.")
@pass_app
def show(app: App, repository: Location, size: bool) -> None:
    """Show a repository: its storage namespace and its metadata.

    \b
    Example: lakebed repo show sales --size
    """
    with app.lake() as lake:
        handle = lake.repository(repository.repository)
        info, metadata = handle.info(), handle.metadata()
        counted = handle.statistics() if size else None
    text = output.table(
        [
            ("repository", info.id),
            ("storage namespace", output.shown(info.storage_namespace)),
            *([("store", output.shown(info.storage_id))] if info.storage_id else []),
            ("default branch", info.default_branch),
            ("created", output.when(info.created)),
            ("read-only", "yes" if info.read_only else "no"),
            *_size_lines(counted),
            *((f"metadata {output.shown(key)}", output.shown(value)) for key, value in metadata.items()),
        ]
    )
    numbers = {} if counted is None else {"objects": counted.objects, "bytes": counted.bytes}
    output.show(app, text, {**output.record(info), "metadata": metadata, **numbers})


def _size_lines(counted: RepositoryStatistics | None) -> list[tuple[str, str]]:
    if counted is None:
        return []
    size = (
        "the server is still counting: run the command again"
        if counted.bytes is None
        else output.size_text(counted.bytes)
    )
    return [("objects", f"{counted.objects:,}"), ("size", size)]


@repo.command()
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@metadata_option("repository")
@click.option("--remove", multiple=True, metavar="KEY", help="Remove this key; may be repeated.")
@pass_app
def describe(app: App, repository: Location, metadata: dict[str, str], remove: tuple[str, ...]) -> None:
    """Set and remove keys of a repository's metadata. Other keys stay.

    \b
    Example: lakebed repo describe sales --meta owner=me --remove old
    """
    if not metadata and not remove:
        raise click.UsageError("Pass --meta KEY=VALUE or --remove KEY.")
    with app.lake() as lake:
        handle = lake.repository(repository.repository)
        if metadata:
            handle.set_metadata(metadata)
        if remove:
            handle.delete_metadata(remove)
        now = handle.metadata()
    text = output.table((output.shown(key), output.shown(value)) for key, value in now.items())
    output.show(app, text or "No metadata.", {"metadata": now})


@repo.command()
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.option("--force", is_flag=True, help="Delete it even if it is read-only.")
@click.option("--purge", is_flag=True, help="Delete the data as well: the name and the namespace become free.")
@click.option(
    "--confirm", "typed", metavar="NAME", help="With --purge: the name of the repository, to skip the question."
)
@yes_option
@pass_app
def delete(app: App, repository: Location, force: bool, purge: bool, typed: str | None, yes: bool) -> None:
    """Delete a repository with its history. The objects in its storage namespace stay, unless --purge is given.

    --purge asks you to type the name of the repository. --yes does not replace it.

    \b
    Example: lakebed repo delete scratch --yes
             lakebed repo delete scratch --purge --confirm scratch
    """
    name = repository.repository
    if purge:
        _confirm_purge(name, typed)
        with app.lake() as lake:
            report = lake.repository(name).purge(force=force)
        body = {
            "deleted": name,
            "storage_namespace": report.storage_namespace,
            "files": report.deleted,
            "bytes": report.deleted_bytes,
            "foreign": report.foreign,
        }
        output.say(app, _purged(report), body)
        return
    if typed is not None:
        raise click.UsageError("--confirm needs --purge. --yes confirms a deletion that keeps the data.")
    confirm(f"Delete repository {name}, with its branches, tags and history?", yes=yes)
    with app.lake() as lake:
        lake.repository(name).delete(force=force)
    output.say(app, f"Repository {name} is deleted; its objects stay in the object store.", {"deleted": name})


def _confirm_purge(name: str, typed: str | None) -> None:
    """Ask for the name before data is lost. Raises UsageError, and Exit if another name is typed."""
    question = f"Delete repository {name} with all its data? This cannot be undone."
    if typed is None and not sys.stdin.isatty():
        raise click.UsageError(f"{question} Not a terminal: pass --confirm {name}.")
    if typed is None:
        typed = click.prompt(f"{question} Type its name to confirm", default="", show_default=False, err=True)
        if typed != name:
            click.echo("Nothing was changed.", err=True)
            raise click.exceptions.Exit(1)
    if typed != name:
        raise click.UsageError(f"--confirm says {typed!r}, but the repository is {name!r}. Nothing was changed.")


def _purged(report: RepositoryPurge) -> str:
    size = output.size_text(report.deleted_bytes)
    text = f"Repository {report.repository} and its data are deleted: {report.deleted:,} files, {size}."
    if report.foreign:
        example = output.shown(report.foreign_example)
        text += f" {report.foreign:,} files that Lakebed did not make stay in the namespace, such as {example}."
    return text


@repo.command()
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option(
    "--approvals", type=click.IntRange(0, 20), default=0, metavar="N", help="Approvals that a pull request needs."
)
@click.option(
    "--check", "checks", multiple=True, metavar="NAME", help="A check that a pull request needs; may be repeated."
)
@click.option("--clear", is_flag=True, help="Remove all rules.")
@pass_app
def protect(
    app: App, repository: Location, patterns: tuple[str, ...], approvals: int, checks: tuple[str, ...], clear: bool
) -> None:
    """Protect branches from direct changes: they accept merges only. Without a pattern, show the rules.

    With --approvals or --check, only a pull request with these approvals and checks can change the branches.

    \b
    Example: lakebed repo protect sales main "release-*"
             lakebed repo protect sales main --approvals 1 --check freshness
    """
    if (approvals or checks) and not patterns:
        raise click.UsageError("--approvals and --check need a pattern.")
    if clear and patterns:
        raise click.UsageError("--clear takes no patterns.")
    with app.lake() as lake:
        handle = lake.repository(repository.repository)
        if patterns or clear:
            handle.set_protection([ProtectionRule(pattern, approvals, checks) for pattern in patterns])
        found = handle.protection()
    required = {rule.pattern: _required(rule) for rule in found.rules if _required(rule)}
    text = "\n".join(map(_rule_line, found.rules)) or "No branch is protected."
    output.show(app, text, {"patterns": list(found.patterns), **({"required": required} if required else {})})


def _required(rule: ProtectionRule) -> dict[str, object]:
    needs = {"approvals": rule.required_approvals, "checks": list(rule.required_checks)}
    return {name: value for name, value in needs.items() if value}


def _rule_line(rule: ProtectionRule) -> str:
    parts = [f"approvals: {rule.required_approvals}"] if rule.required_approvals else []
    parts += [f"check: {name}" for name in rule.required_checks]
    return output.shown(f"{rule.pattern}  ({', '.join(parts)})" if parts else rule.pattern)


def _line(info: RepositoryInfo) -> str:
    store = f"  in {output.shown(info.storage_id)}" if info.storage_id else ""
    return f"{info.id:<24}  {output.when(info.created)}  {output.shown(info.storage_namespace)}{store}"


for _command in (dump, restore, add_commit, metadata_file):
    repo.add_command(_command)
