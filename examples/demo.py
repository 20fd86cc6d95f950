"""The main job of Lakebed, from an empty folder to a merged and tagged data set, on real data.

    python examples/demo.py [--data-dir DIR]

Starts its own server, says what it does and shows the lines that do it, and stops the server at the end. The data are
1,461 days of weather in Seattle (NOAA), which the package vega_datasets ships.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lakebed

Branch = lakebed.Branch
Repository = lakebed.Repository

STEPS = 9
_done = 0


def say(text: object = "") -> None:
    """Print a result, indented."""
    print(textwrap.indent(str(text), "    "), flush=True)


# The steps. The demo prints the lines of each step, without its `say` lines, and then runs it.


def make_repository(lake: lakebed.Lake, name: str) -> Repository:
    """Create a repository

    A repository holds branches and commits, over a place that stores the data: here a folder of the server.
    """
    repo = lake.repository(name).create(f"local://{name}")
    say(f"{repo}, on branch {repo.info().default_branch!r}")
    return repo


def load(repo: Repository) -> Any:
    """Load the data through pandas, and commit twice

    A commit is a permanent version of everything on the branch. The second commit only adds a year.
    """
    from vega_datasets import local_data

    days = local_data.seattle_weather()
    days["year"] = days["date"].dt.year
    main = repo.branch("main")
    main.put("raw/seattle-weather.csv", Path(local_data.seattle_weather.filepath))
    main.write_parquet("daily/", days[days["year"] < 2015], partition_by=["year"])
    first = main.commit("load the weather of 2012 to 2014")
    main.write_parquet("daily/", days[days["year"] == 2015], partition_by=["year"])
    second = main.commit("add 2015", metadata={"source": "NOAA"})
    for commit in (first, second):
        say(f"{commit.short_id}  {commit.message}")
    say(main.list().to_pandas()[["size", "path"]].to_string(index=False))
    return days


def transform(repo: Repository) -> Branch:
    """Branch, and change the data there

    A branch costs nothing: no data is copied. Here temperatures become Fahrenheit; on main nothing changes.
    """
    dev = repo.branch("fahrenheit").create(source="main")
    table = dev.read_parquet("daily/")
    table[["temp_max", "temp_min"]] = table[["temp_max", "temp_min"]] * 9 / 5 + 32
    dev.write_parquet("daily/", table, partition_by=["year"], mode="overwrite")
    dev.commit("temperatures in Fahrenheit")
    say(f"hottest day on fahrenheit: {dev.read_parquet('daily/')['temp_max'].max():.1f}")
    say(f"hottest day on main:       {repo.branch('main').read_parquet('daily/')['temp_max'].max():.1f}")
    return dev


def look(repo: Repository, dev: Branch) -> None:
    """Show the difference

    What would a merge of fahrenheit bring to main? Answered from metadata: no data is read.
    """
    changes = repo.branch("main").diff(dev).to_pandas()
    say(changes[["type", "path", "size"]].to_string(index=False))


def collide(repo: Repository, dev: Branch) -> None:
    """Change the same file on both branches, and try to merge

    Two people write summary.parquet, each on their own branch. A merge stops and says which paths are in conflict.
    """
    for branch in (repo.branch("main"), dev):
        table = branch.read_parquet("daily/", columns=["weather", "temp_max"])
        summary = table.groupby("weather", as_index=False)["temp_max"].mean().round(1)
        branch.write_parquet("summary.parquet", summary)
        branch.commit("mean temperature for each kind of weather")
    try:
        dev.merge_into("main")
    except lakebed.MergeConflictError as conflict:
        paths = conflict.paths
        say(f"in conflict: {', '.join(paths)}")
        say(f"main is as it was: {len(list(repo.branch('main').uncommitted()))} uncommitted changes")


def resolve(repo: Repository, dev: Branch) -> None:
    """Resolve the conflict, and merge

    The data on main will be in Fahrenheit, so the branch's summary is the right one: the source wins.
    """
    dev.merge_into("main", "switch to Fahrenheit", strategy="source-wins")
    say(repo.branch("main").read_parquet("summary.parquet").to_string(index=False))


def tag(repo: Repository) -> None:
    """Tag the result

    A tag is a name for one commit that never moves: what to cite in a paper, or to train a model on.
    """
    v1 = repo.tag("v1").create("main")
    say(f"{v1} stands at {v1.info().commit_id[:12]}")


def go_back(repo: Repository) -> None:
    """Make a mistake, and read what was there before

    A colleague keeps only the sunny days, and commits. Nothing is lost: `v1` and `main~1` (one before the last commit)
    both show the earlier version.
    """
    main = repo.branch("main")
    table = main.read_parquet("daily/")
    main.write_parquet("daily/", table[table["weather"] == "sun"], partition_by=["year"], mode="overwrite")
    main.commit("keep only the sunny days")
    now = main.read_parquet("daily/")
    by_tag = repo.tag("v1").read_parquet("daily/")
    by_history = repo.ref("main~1").read_parquet("daily/")
    say(f"main now: {len(now):,} days; v1: {len(by_tag):,} days; main~1: {len(by_history):,} days")
    if not (by_tag.equals(by_history) and by_tag.equals(table)):
        raise RuntimeError("the versions read back differ from what was written")
    say("v1, main~1 and what was there before are equal, value by value")


def draw(repo: Repository) -> None:
    """See the history

    Every commit, newest first, as `git log --graph` draws it.
    """
    graph = repo.graph()
    say(graph)


# How the demo runs the steps: the server, the output, the end.


def step(function: Callable[..., Any], *arguments: Any) -> Any:
    """Print what a step does, show its lines, run it."""
    global _done  # noqa: PLW0603 - the number of the step is all the state there is
    _done += 1
    title, _, story = inspect.cleandoc(function.__doc__ or "").partition("\n")
    print(f"\n[{_done}/{STEPS}] {title}")
    if story.strip():
        print(textwrap.fill(" ".join(story.split()), 110))
    print()
    for line in _shown_lines(function):
        print(f"    >>> {line}" if not line.startswith(" ") else f"    ... {line}")
    print(flush=True)
    begun = time.perf_counter()
    result = function(*arguments)
    print(f"    ({time.perf_counter() - begun:.2f} s)", flush=True)
    return result


def _shown_lines(function: Callable[..., Any]) -> Iterator[str]:
    source = inspect.getsource(function)
    body = textwrap.dedent(source.split('"""', 2)[2])
    lines = [line for line in body.splitlines() if line.strip()]
    hidden = ("say(", "return ", "if not (", "raise RuntimeError", "for commit in")
    return (line for line in lines if not line.strip().startswith(hidden))


def credentials(data_dir: Path) -> tuple[str, str]:
    """Return the access key of this data directory. It is made one time, and stored in the directory for later use."""
    file = data_dir / "demo.env"
    if file.exists():
        values = dict(re.findall(r"export LAKEBED_(\w+)=(\S+)", file.read_text()))
        return values["ACCESS_KEY_ID"], values["SECRET_ACCESS_KEY"]
    key, secret = f"LBDEMO{secrets.token_hex(7).upper()}", secrets.token_hex(20)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as target:
        target.write("export LAKEBED_ENDPOINT=http://127.0.0.1:8000\n")
        target.write(f"export LAKEBED_ACCESS_KEY_ID={key}\nexport LAKEBED_SECRET_ACCESS_KEY={secret}\n")
    return key, secret


@contextmanager
def running_server(data_dir: Path, key: str, secret: str) -> Iterator[str]:
    """`lakebed serve` on a free port: gives its address, and stops it whatever happens."""
    log = data_dir / "demo-server.log"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LAKEBED_")}
    environment = {**inherited, "LAKEBED_ADMIN_ACCESS_KEY_ID": key, "LAKEBED_ADMIN_SECRET_ACCESS_KEY": secret}
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "lakebed.cli", "serve", "--port", "0", "--data-dir", str(data_dir)],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches this script, which then stops the server
        )
    try:
        yield _address(server, log)
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 30
    while server.poll() is None and time.monotonic() < deadline:
        if found := re.search(r"ready at (https?://\S+)", log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.02)
    raise RuntimeError(f"the server did not start; it said:\n{log.read_text(errors='replace')}")


def free_name(lake: lakebed.Lake) -> str:
    """`seattle-weather`, or with a number when the demo was run here before."""
    taken = {info.id for info in lake.repositories("seattle-weather")}
    names = ["seattle-weather", *(f"seattle-weather-{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def run(data_dir: Path) -> str:
    """The whole story. Gives the name of the repository."""
    key, secret = credentials(data_dir)
    begun = time.perf_counter()
    print(f"Starting a server over {data_dir} ...", flush=True)
    with running_server(data_dir, key, secret) as endpoint:
        print(f"... it listens at {endpoint} after {time.perf_counter() - begun:.1f} s. A script connects with:\n")
        print('    >>> lake = lakebed.connect(endpoint, access_key_id="...", secret_access_key="...")', flush=True)
        with lakebed.connect(endpoint, key, secret) as lake:
            name = free_name(lake)
            repo = step(make_repository, lake, name)
            step(load, repo)
            dev = step(transform, repo)
            step(look, repo, dev)
            step(collide, repo, dev)
            step(resolve, repo, dev)
            step(tag, repo)
            step(go_back, repo)
            step(draw, repo)
    print(f"\nDone in {time.perf_counter() - begun:.1f} s, and the server is stopped.")
    return name


def _farewell(data_dir: Path, name: str) -> str:
    command = Path(sys.executable).with_name("lakebed")
    shown = os.path.relpath(command) if command.exists() else f"{sys.executable} -m lakebed.cli"
    shown = shown if len(shown) < len(str(command)) else str(command)
    where = shlex.quote(str(data_dir))
    return f"""\
The lake stays in {data_dir}. To go on with it:

    {shown} serve --data-dir {where}       # in one terminal

Then open this page, and sign in with the access key in {where}/demo.env:

    http://127.0.0.1:8000/repositories/{name}/compare?base=v1&compare=main

Or in another terminal:

    . {where}/demo.env                     # the address and the access key
    {shown} log --graph {name}
    {shown} fs ls {name}/v1/daily/
    {shown} diff {name}/v1 main
    {shown} fs download {name}/v1/summary.parquet

To delete it, remove the folder. README.md has the same as a tour. docs/concepts.md explains the terms.
"""


def main() -> int:
    """Parse the command line, run, and say how to go on."""
    parser = argparse.ArgumentParser(description="The main job of Lakebed on real data, step by step.")
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("DATA_DIR") or None, help="keep the lake here")
    chosen: Path | None = parser.parse_args().data_dir
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        data_dir = Path(chosen or tempfile.mkdtemp(prefix="lakebed-demo-")).absolute()
        data_dir.mkdir(parents=True, exist_ok=True)
        name = run(data_dir)
    except KeyboardInterrupt:
        print("\nInterrupted; the server is stopped.", file=sys.stderr)
        return 130
    except (lakebed.LakebedError, OSError, RuntimeError) as error:
        print(f"\nThe demo failed: {error}", file=sys.stderr)
        return 1
    print(_farewell(data_dir, name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
