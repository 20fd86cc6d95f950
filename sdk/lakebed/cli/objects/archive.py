"""`lakebed archive`: a folder as one tar or zip file."""

from __future__ import annotations

import sys
from typing import Literal

import click

from lakebed import Location
from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.targets import FOLDER

Format = Literal["tar", "tar.gz", "zip"]

_ENDINGS: dict[str, Format] = {".zip": "zip", ".tar.gz": "tar.gz", ".tgz": "tar.gz"}


@click.command(cls=Verb)
@click.argument("target", type=FOLDER, metavar="REPO/REF[/PREFIX]")
@click.option("-o", "--output", "file", metavar="FILE", help="Write to this file [standard output].")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["tar", "tar.gz", "zip"]),
    help="Format of the archive [from the extension of FILE, or tar].",
)
@pass_app
def archive(app: App, target: Location, file: str | None, format_: Format | None) -> None:
    """Write the objects below a prefix as one archive, without uncommitted changes.

    Names are relative to the folder of PREFIX, and never lead out of the directory in which you unpack the archive.
    FILE appears only when it is complete.

    \b
    Example:
      lakebed archive sales/v1/orders/ -o orders.zip
      lakebed archive sales/v1/orders/ | tar x -C orders
    """
    if file is None and sys.stdout.isatty():
        raise click.UsageError("Cannot write an archive to a terminal: name a file with -o, or pipe the output.")
    by_name: Format = next((kind for ending, kind in _ENDINGS.items() if (file or "").endswith(ending)), "tar")
    with app.lake() as lake:
        ref = lake.repository(target.repository).ref(target.ref)
        size = ref.archive(target.path, sys.stdout.buffer if file is None else file, format=format_ or by_name)
    if file is None:
        sys.stdout.buffer.flush()
    else:
        text = f"Wrote {target} to {output.shown(file)}, {output.size_text(size)}."
        output.say(app, text, {"archive": file, "source": str(target), "size": size})
