"""Make `generated/` from `openapi.yaml`: `python tools/generate.py [--out DIR] [--check]`.

Runs openapi-python-client (the client package `lakebed_api`), and datamodel-code-generator and
`tools.openapi.operation_table` (the server package `lakebed_wire`). Everything is made in a temporary folder first, so
that neither the settings of this repository nor an interrupted run can leave a mark. Whether the document is well
worded is for `tools.lint.spec_lint`.
"""

import argparse
import compileall
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that `tools` is found when run as a file

from tools.openapi import operation_table, spec
from tools.openapi.lazy_client import make_lazy

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "openapi.yaml"
OUT = ROOT / "generated"
HEADER = "# generated from openapi.yaml by `make generate` - do not edit"
CLIENT, WIRE, LOCK = "lakebed_api", "lakebed_wire", "lock.json"
WIRE_INIT = '"""What the server shares with openapi.yaml: `models` for bodies, `operations` for everything else."""\n'
FORMAT = ("format", "--isolated", "--no-cache", "--line-length", "120", "--target-version", "py311")
GENERATORS = ("openapi-python-client", "datamodel-code-generator", "ruff")

# --isolated: the output must not depend on the settings of whatever repository it is made in.
OPC_CONFIG = f"""\
post_hooks:
  - "ruff check . --isolated --no-cache --fix-only --extend-select=I --target-version py311"
  - "ruff {" ".join(FORMAT)} ."
"""
OPC_FLAGS = ("--meta", "none", "--overwrite", "--fail-on-warning")
DMCG_FLAGS = (
    *("--input-file-type", "openapi", "--openapi-scopes", "schemas"),
    *("--output-model-type", "msgspec.Struct", "--target-python-version", "3.11"),
    *("--use-annotated", "--keyword-only", "--output-datetime-class", "datetime"),
    *("--use-schema-description", "--disable-timestamp", "--formatters", "builtin", "--custom-file-header", HEADER),
)
# Some constructs pass generation and compilation and fail only here, when msgspec reads the annotations.
DECODER_TEST = """\
import msgspec, lakebed_api.models, lakebed_wire.models as m, lakebed_wire.operations as o
for op in o.OPERATIONS:
    msgspec.json.Decoder(op.params)
    if op.body is not None:
        msgspec.json.Decoder(op.body)
for value in vars(m).values():
    if isinstance(value, type) and issubclass(value, msgspec.Struct) and value is not msgspec.Struct:
        msgspec.json.Decoder(value)
"""


class GenerationError(Exception):
    """A generator failed, or its output is not what the document asks for."""


def run(tool: str, *arguments: str, cwd: Path) -> None:
    """Run a program of this virtual environment; what it prints is shown only when it fails."""
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [str(programs / tool), *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise GenerationError(f"{tool} failed:\n{done.stdout}{done.stderr}")


def add_headers(folder: Path) -> None:
    """Mark every file as generated; openapi-python-client writes no mark of its own."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not text.startswith(HEADER):
            path.write_text(f"{HEADER}\n{text}", encoding="utf-8")


def make_client(document: spec.Document, work: Path, out: Path) -> None:
    """Make `lakebed_api`, without the operations that move object bytes."""
    source, config = work / "client.json", work / "client.yaml"
    source.write_text(spec.as_json(spec.without_binary(document)), encoding="utf-8")
    config.write_text(OPC_CONFIG, encoding="utf-8")
    paths = ("--path", str(source), "--output-path", str(out / CLIENT), "--config", str(config))
    run("openapi-python-client", "generate", *paths, *OPC_FLAGS, cwd=work)
    make_lazy(out / CLIENT)
    run("ruff", *FORMAT, ".", cwd=out / CLIENT)
    (out / CLIENT / "py.typed").touch()


def make_wire(document: spec.Document, digest: str, work: Path, out: Path) -> None:
    """Make `lakebed_wire`: the models of bodies and the operation table."""
    source, folder = work / "wire.json", out / WIRE
    source.write_text(spec.as_json(spec.without_field_descriptions(document)), encoding="utf-8")
    folder.mkdir()
    run("datamodel-codegen", "--input", str(source), "--output", str(folder / "models.py"), *DMCG_FLAGS, cwd=work)
    (folder / "operations.py").write_text(operation_table.render(document, digest), encoding="utf-8")
    (folder / "__init__.py").write_text(WIRE_INIT, encoding="utf-8")
    (folder / "py.typed").touch()
    run("ruff", *FORMAT, ".", cwd=folder)


def make(out: Path) -> None:
    """Make everything into an empty folder."""
    content = SPEC.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    document = spec.normalise(spec.load(SPEC))
    with tempfile.TemporaryDirectory() as name:
        make_client(document, Path(name), out)
        make_wire(document, digest, Path(name), out)
    add_headers(out)
    lock = {"openapi.yaml": f"sha256:{digest}", "generators": {name: version(name) for name in GENERATORS}}
    (out / LOCK).write_text(json.dumps(lock, indent=2) + "\n", encoding="utf-8")


def verify(out: Path) -> None:
    """Refuse output that lost an operation, does not compile or cannot decode."""
    expected = Counter(
        str(entry.operation["tags"][0]) for entry in spec.entries(spec.load(SPEC)) if not entry.is_binary
    )
    modules = [path for path in (out / CLIENT / "api").glob("*/*.py") if path.name != "__init__.py"]
    made = Counter(path.parent.name for path in modules)
    if made != expected:
        raise GenerationError(f"operations per tag in the client: {dict(made)}, in openapi.yaml: {dict(expected)}")
    if not compileall.compile_dir(out, quiet=1):
        raise GenerationError("the output does not compile")
    done = subprocess.run(
        [sys.executable, "-c", DECODER_TEST],
        env={**os.environ, "PYTHONPATH": str(out)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise GenerationError(f"the output cannot be used:\n{done.stderr}")


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder that are ours to compare, by relative path."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def differences(fresh: Path, kept: Path) -> list[str]:
    """How a kept folder differs from a fresh one, one line a file."""
    new, old = tree(fresh), tree(kept)
    words = {(True, False): "missing", (False, True): "not generated any more", (True, True): "differs"}
    return [
        f"{name}: {words[name in new, name in old]}"
        for name in sorted(new.keys() | old.keys())
        if new.get(name) != old.get(name)
    ]


def install(fresh: Path, out: Path) -> None:
    """Put fresh output in the place of the old."""
    out.mkdir(parents=True, exist_ok=True)
    for package in (CLIENT, WIRE):
        shutil.rmtree(out / package, ignore_errors=True)
        shutil.copytree(fresh / package, out / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(fresh / LOCK, out / LOCK)


def main(arguments: list[str] | None = None) -> int:
    """Generate, or with --check compare; the exit status."""
    parser = argparse.ArgumentParser(description="Make generated/ from openapi.yaml.")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder to write, or to compare with")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the folder is out of date")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        fresh = Path(name)
        try:
            make(fresh)
            verify(fresh)
        except GenerationError as error:
            print(error, file=sys.stderr)
            return 1
        if not options.check:
            install(fresh, options.out)
            return 0
        found = differences(fresh, options.out)
    for line in found:
        print(line, file=sys.stderr)
    if found:
        print("run `make generate`, and never edit generated/ by hand", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
