"""Shell completion: verbs and options by click, and the user's own repositories, branches, tags and paths.

Names come from one listing request of at most two seconds. They are kept for 20 seconds in the cache directory of the
user. Any failure means that there is nothing to offer: a shell that completes prints no errors.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete, add_completion_class

from lakebed._bulk.hash_cache import cache_home
from lakebed.cli.app import App, Noun, pass_app
from lakebed.cli.here import here

if TYPE_CHECKING:
    from lakebed import Lake

VARIABLE = "_LAKEBED_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
SECONDS = 2.0
KEPT = 20.0
_OFFERED = 200
_CACHED_FILES = 200
_BEGIN, _END = "# >>> lakebed completion >>>", "# <<< lakebed completion <<<"

_BASH = """\
_lakebed_completion() {
    local IFS=$'\\n' line words
    words="${COMP_WORDS[*]}"
    COMPREPLY=()
    while IFS= read -r line; do
        case "${line%%,*}" in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            place) compopt -o filenames; [[ $line == */ ]] && compopt -o nospace; COMPREPLY+=("${line#*,}") ;;
            plain) COMPREPLY+=("${line#*,}") ;;
        esac
    done < <(env COMP_WORDS="$words" COMP_CWORD="$COMP_CWORD" _LAKEBED_COMPLETE=bash_complete "$1" 2>/dev/null)
    return 0
}
complete -o nosort -F _lakebed_completion lakebed
"""

_ZSH = """\
#compdef lakebed
_lakebed_completion() {
    local -a response plain described whole open
    local type key help
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
_LAKEBED_COMPLETE=zsh_complete lakebed 2>/dev/null)}")
    for type key help in ${response}; do
        case $type in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            place) if [[ $key == */ ]]; then open+=("$key"); else whole+=("$key"); fi ;;
            plain) if [[ $help == _ ]]; then plain+=("$key"); else described+=("$key:$help"); fi ;;
        esac
    done
    (( $#open )) && compadd -S '' -- $open
    (( $#whole )) && compadd -- $whole
    (( $#plain )) && compadd -- $plain
    (( $#described )) && _describe -V unsorted described
    return 0
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _lakebed_completion "$@"
else
    compdef _lakebed_completion lakebed
fi
"""

_FISH = """\
function _lakebed_completion
    set -l response (env _LAKEBED_COMPLETE=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) \
lakebed 2>/dev/null)
    for line in $response
        set -l parts (string split -m 1 "," -- $line)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain place
                echo $parts[2]
        end
    end
end
complete --no-files --command lakebed --arguments "(_lakebed_completion)"
"""

_SOURCES = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def register() -> None:
    """Let click print these scripts in place of its own."""
    for base, name in ((BashComplete, "bash"), (ZshComplete, "zsh"), (FishComplete, "fish")):
        template = _SOURCES[name].replace("%", "%%")
        add_completion_class(type(f"Lakebed{base.__name__}", (base,), {"source_template": template}), name)


# what is offered


def places(ctx: click.Context, incomplete: str, least: int, most: int) -> list[CompletionItem]:
    """What may follow in `REPO`, `REPO/REF` or `REPO/REF/PATH`. `most` is the number of slashes that it can have."""
    repository, slash, rest = incomplete.partition("/")
    ref, second, path = rest.partition("/")
    if not slash:
        names = _listed(ctx, f"repositories {repository}", lambda lake: _repositories(lake, repository))
        found = [f"{name}/" if most else name for name in names]
        if most and (there := here()) is not None:
            found += _refs(ctx, there.repository, repository)
    elif not second:
        found = [f"{repository}/{name}" for name in _refs(ctx, repository, ref)] if most else []
        found = [f"{one}/" for one in found] if least > 1 else found
    elif most > 1:
        key = f"paths {repository} {ref} {path}"
        names = _listed(ctx, key, lambda lake: _paths(lake, repository, ref, path))
        found = [f"{repository}/{ref}/{name}" for name in names]
    else:
        found = []
    return [CompletionItem(one, type="place") for one in found]


def refs_of(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Branches and tags of the repository that the command line names already, or of the working directory."""
    from lakebed import Location

    named = [value for value in ctx.params.values() if isinstance(value, Location)]
    there = here() if not named else None
    repository = named[0].repository if named else there.repository if there else ""
    return [CompletionItem(one, type="place") for one in (_refs(ctx, repository, incomplete) if repository else [])]


def _refs(ctx: click.Context, repository: str, prefix: str) -> list[str]:
    def ask(lake: Lake) -> list[str]:
        repo = lake.repository(repository)
        branches = [info.id for info in repo.branches(prefix, limit=_OFFERED)]
        return branches + [info.id for info in repo.tags(prefix, limit=_OFFERED)]

    return _listed(ctx, f"refs {repository} {prefix}", ask)


def _repositories(lake: Lake, prefix: str) -> list[str]:
    return [info.id for info in lake.repositories(prefix, limit=_OFFERED)]


def _paths(lake: Lake, repository: str, ref: str, prefix: str) -> list[str]:
    return [row.path for row in lake.repository(repository).ref(ref).list(prefix, "/", limit=_OFFERED)]


def _listed(ctx: click.Context, key: str, ask: Callable[[Lake], Iterable[str]]) -> list[str]:
    """Names from the cache, or from the server."""
    app = ctx.find_root().ensure_object(App)
    app.timeout, app.retries = min(app.timeout, SECONDS), 0
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with app.lake() as lake:
                settings = lake.settings
                file = _cache_file(f"{settings.endpoint} {settings.identity} {key}")
                if (names := _cached(file)) is None:
                    names = list(ask(lake))
                    _keep(file, names)
        return names
    except Exception:  # the user is typing: there is no place for an error
        return []


def _cache_file(key: str) -> Path:
    return cache_home() / "completion" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


def _cached(file: Path) -> list[str] | None:
    try:
        if not 0 <= time.time() - file.stat().st_mtime < KEPT:
            return None
        names = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return [one for one in names if isinstance(one, str)] if isinstance(names, list) else None


def _keep(file: Path, names: list[str]) -> None:
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        others = sorted(file.parent.glob("*.json"), key=lambda one: one.stat().st_mtime)
        for old in others[: max(0, len(others) - _CACHED_FILES)]:
            old.unlink(missing_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(names), "utf-8")
        os.replace(part, file)


# the commands


@click.group(cls=Noun)
def completion() -> None:
    """Set up completion of verbs, options and names in bash, zsh and fish."""


_shell = click.argument("shell", type=click.Choice(SHELLS), required=False, metavar="[bash|zsh|fish]")


@completion.command()
@_shell
@pass_app
def install(app: App, shell: str | None) -> None:
    """Set up completion for your shell [$SHELL]. It works in new shells. Run this again after an update.

    \b
    Example: lakebed completion install
    """
    from lakebed.cli import output

    name = shell or _own_shell()
    script = _script_file(name)
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_SOURCES[name], "utf-8")
    start = _start_file(name)
    if start is not None:
        _write_block(start, f'[ -f "{script}" ] && . "{script}"')
    where = f"{script}" + (f", which {start} reads" if start else "")
    line = f"Completion for {name} is in {where}. Start a new shell to use it."
    output.say(app, output.shown(line), {"shell": name, "script": str(script), "start_file": str(start or "")})


@completion.command()
@_shell
@pass_app
def uninstall(app: App, shell: str | None) -> None:
    """Remove the files and lines that `install` wrote.

    \b
    Example: lakebed completion uninstall
    """
    from lakebed.cli import output

    name = shell or _own_shell()
    _script_file(name).unlink(missing_ok=True)
    start = _start_file(name)
    if start is not None:
        _write_block(start, "")
    output.say(app, f"Completion for {name} is removed.", {"shell": name})


@completion.command()
@_shell
def show(shell: str | None) -> None:
    """Print the completion script, to install it by hand.

    \b
    Example: eval "$(lakebed completion show bash)"
    """
    click.echo(_SOURCES[shell or _own_shell()], nl=False)


def _own_shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise click.UsageError(f"$SHELL names none of {', '.join(SHELLS)}: name your shell.")
    return name


def _script_file(shell: str) -> Path:
    if shell == "fish":
        return _home("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "lakebed.fish"
    return _home("XDG_DATA_HOME", ".local/share") / "lakebed" / f"completion.{shell}"


def _start_file(shell: str) -> Path | None:
    """The file that an interactive shell reads first. Fish finds completions by itself."""
    if shell == "fish":
        return None
    folder = os.environ.get("ZDOTDIR", "") if shell == "zsh" else ""
    return Path(folder or Path.home()) / f".{shell}rc"


def _home(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable, "") or Path.home() / default)


def _write_block(file: Path, line: str) -> None:
    """Put a line between two marks into a file, or remove it. The rest of the file stays as it is."""
    text = file.read_text("utf-8") if file.exists() else ""
    before, begin, rest = text.partition(_BEGIN + "\n")
    if begin:
        _, _, after = rest.partition(_END + "\n")
        text = before + after
    if line:
        text += ("" if not text or text.endswith("\n") else "\n") + f"{_BEGIN}\n{line}\n{_END}\n"
    if text or file.exists():
        file.write_text(text, "utf-8")
