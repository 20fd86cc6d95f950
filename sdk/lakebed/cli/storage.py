"""What lies in the store of a repository, and how other tools find it: ranges, lists for Hive, dumps of refs.

Over the SDK's `Ref` and `Repository`. The verbs hang in `fs` and `repo`.
"""

from __future__ import annotations

import click

from lakebed import Location, RangeInfo, RefsDump
from lakebed.cli import output
from lakebed.cli.app import App, Verb, metadata_option, pass_app
from lakebed.cli.targets import BRANCH, OBJECT, REF, REPOSITORY


@click.command(cls=Verb)
@click.argument("target", type=REF, metavar="REPO/REF")
@pass_app
def ranges(app: App, target: Location) -> None:
    """List the Parquet files that the committed entries of a ref are in. Patches stand behind the ranges.

    \b
    Example: lakebed fs ranges sales/main
    """
    with app.lake() as lake:
        output.rows(app, iter(lake.repository(target.repository).ref(target.ref).ranges()), _range_line)


def _range_line(row: RangeInfo) -> str:
    what = f"patch {row.level}" if row.level else "range"
    return f"{what:<8}  {row.count:>9}  {row.physical_address}"


@click.command(cls=Verb)
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@click.option("--location", default="", metavar="PATH", help="Only this folder and those below.")
@pass_app
def symlinks(app: App, target: Location, location: str) -> None:
    """Write, for each folder of a branch, a file that lists where its data lie, for Hive and its like.

    \b
    Example: lakebed fs symlinks sales/main --location orders/
    """
    with app.lake() as lake:
        root = lake.repository(target.repository).branch(target.ref).write_symlinks(location)
    output.say(app, f"The lists lie below {output.shown(root)}.", {"location": root})


@click.command(cls=Verb)
@click.argument("target", type=OBJECT, metavar="REPO/BRANCH/PATH")
@metadata_option("object")
@pass_app
def describe(app: App, target: Location, metadata: dict[str, str]) -> None:
    """Replace the metadata of an object. Without --meta it has none afterwards.

    \b
    Example: lakebed fs describe sales/main/orders.csv --meta owner=me
    """
    with app.lake() as lake:
        lake.repository(target.repository).branch(target.ref).replace_metadata(target.path, metadata)
    output.say(app, f"{target} has {len(metadata)} keys of metadata now.", {"path": target.path, "metadata": metadata})


@click.command(cls=Verb)
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@pass_app
def dump(app: App, repository: Location) -> None:
    """Write all commits, branches and tags to the repository's bucket; `repo restore` reads them from a copy of it.

    \b
    Example: lakebed repo dump sales
    """
    with app.lake() as lake:
        made = lake.repository(repository.repository).dump_refs()
    text = output.table([("commits", made.commits), ("tags", made.tags), ("branches", made.branches)])
    output.show(app, text, output.record(made))


@click.command(cls=Verb)
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.option("--commits", required=True, metavar="ID", help="What `repo dump` told of the commits.")
@click.option("--tags", required=True, metavar="ID", help="Of the tags.")
@click.option("--branches", required=True, metavar="ID", help="Of the branches.")
@pass_app
def restore(app: App, repository: Location, commits: str, tags: str, branches: str) -> None:
    """Read a dump into a bare repository over a copy of the bucket.

    \b
    Example: lakebed repo restore sales-copy --commits 1f… --tags 9c… --branches 7a…
    """
    with app.lake() as lake:
        lake.repository(repository.repository).restore_refs(RefsDump(commits, tags, branches))
    output.say(app, f"Commits, branches and tags of {repository.repository} are restored.", {"restored": True})
