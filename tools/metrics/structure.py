"""Measures the sizes of modules, functions and folders, the imports and the words of the hand-written code.

    python -m tools.metrics.structure            a table
    python -m tools.metrics.structure --over     also the modules, functions and folders over the limits

The measures are those of the review of the structure. A module has no sync twin: `sdk/lakebed/_sync` and `generated/`
are not counted.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import grimp

from tools.lint.word_lint import check, count_words

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("sdk", "server_stub")
TWIN = "sdk/lakebed/_sync/"
MODULE_LINES = 250
FUNCTION_LINES = 40
FOLDER_MODULES = 15
SMALL = 60
"""Lines under which a module counts as small."""

_RETRIES = re.compile(r"for \w+ in range\(\w*ATTEMPTS\w*\)|for \w+ in range\(attempts\)")


class Size(NamedTuple):
    """A module, function or folder and its lines or modules."""

    size: int
    name: str


@dataclass
class Measures:
    """What was counted in all modules."""

    modules: list[Size] = field(default_factory=list)
    functions: list[Size] = field(default_factory=list)
    folders: list[Size] = field(default_factory=list)
    retries: int = 0
    commit_chains: int = 0
    ignores: int = 0
    dialect: int = 0
    words: int = 0


def files() -> list[Path]:
    """The hand-written modules."""
    found = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    return sorted(path for path in found if not _name(path).startswith(TWIN))


def measure(paths: Sequence[Path]) -> Measures:
    """Count lines, functions, folders, retry loops, chains of commits and words."""
    made = Measures()
    folders: Counter[str] = Counter()
    for path in paths:
        name, text = _name(path), path.read_text("utf-8")
        made.modules.append(Size(text.count("\n"), name))
        folders[str(Path(name).parent)] += path.name != "__init__.py"
        tree = ast.parse(text)
        made.functions += [Size(lines, f"{name}:{function}") for function, lines in _functions(tree)]
        made.commit_chains += sum(isinstance(one, ast.ClassDef) and one.name == "GroupCommit" for one in ast.walk(tree))
        if name.startswith("server_stub/lakebed_engine/"):
            made.retries += len(_RETRIES.findall(text))
        made.ignores += text.count("type: ignore")
        made.dialect += len(check(name, text))
        made.words += count_words(name, text)
    made.folders = [Size(count, name) for name, count in folders.items()]
    return made


def cycle(packages: Sequence[str]) -> list[str]:
    """Modules that import each other in a circle, also for types only or inside functions. Empty if there are none."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def packages() -> list[str]:
    """The import packages."""
    return sorted(path.parent.name for top in TOPS for path in (ROOT / top).glob("*/__init__.py"))


def table(found: Measures) -> Iterator[str]:
    """One row for each measure."""
    lines, functions = _sizes(found.modules), _sizes(found.functions)
    small = sum(size < SMALL for size in lines)
    yield "| measure | value |"
    yield "|---|--:|"
    yield f"| modules / lines | {len(lines)} / {sum(lines):,} |"
    yield f"| lines of a module: median / p90 / max | {_three(lines)} |"
    yield f"| modules over {MODULE_LINES} lines | {sum(size > MODULE_LINES for size in lines)} |"
    yield f"| modules under {SMALL} lines | {small} ({100 * small // len(lines)} %) |"
    yield f"| lines of a function: median / p90 / max | {_three(functions)} |"
    yield f"| functions over {FUNCTION_LINES} lines | {sum(size > FUNCTION_LINES for size in functions)} |"
    yield f"| folders over {FOLDER_MODULES} modules / largest | {_over(found.folders)} |"
    circle = cycle(packages())
    yield f"| import cycles | {' -> '.join(circle) if circle else 0} |"
    yield f"| retry loops of the engine / commit chains | {found.retries} / {found.commit_chains} |"
    yield f"| `type: ignore` in 1,000 lines | {1000 * found.ignores / sum(lines):.1f} |"
    yield f"| words of the dialect in 1,000 words | {1000 * found.dialect / found.words:.2f} |"


def over(found: Measures) -> Iterator[str]:
    """The names of what is over a limit, largest first."""
    limits = ((found.modules, MODULE_LINES), (found.functions, FUNCTION_LINES), (found.folders, FOLDER_MODULES))
    for sizes, limit in limits:
        yield from (f"{one.size} {one.name}" for one in sorted(sizes, reverse=True) if one.size > limit)


def _functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield one.name, (one.end_lineno or one.lineno) - one.lineno + 1


def _sizes(found: Sequence[Size]) -> list[int]:
    return sorted(one.size for one in found)


def _three(sizes: Sequence[int]) -> str:
    return f"{statistics.median(sizes):.0f} / {sizes[len(sizes) * 9 // 10]} / {sizes[-1]}"


def _over(folders: Sequence[Size]) -> str:
    largest = max(folders)
    return f"{sum(one.size > FOLDER_MODULES for one in folders)} / {largest.size}"


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--over", action="store_true", help="name what is over a limit")
    chosen = parser.parse_args()
    found = measure(files())
    print("\n".join(table(found)))
    if chosen.over:
        print("\n".join(over(found)))


if __name__ == "__main__":
    main()
