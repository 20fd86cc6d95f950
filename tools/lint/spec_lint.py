"""Refuse wording of `openapi.yaml` that a generator would drop, change or break: `python tools/lint/spec_lint.py FILE`.

The rules are in `tools.openapi.rules`; openapi-spec-validator checks whether the document is OpenAPI. This tool
does not check the generated output, `tools.generate` does.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # so that `tools` is found when run as a file

from tools.openapi import spec
from tools.openapi.rules import RULES, reason


@dataclass(frozen=True)
class Finding:
    """One place where a document breaks a rule."""

    rule: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what} [{self.rule}: {reason(self.rule)}]"


def lint(document: spec.Document) -> list[Finding]:
    """Every finding in a document that is valid OpenAPI."""
    plain = spec.normalise(document)
    return [Finding(name, where, what) for name, check in RULES.items() for where, what in check(plain)]


def invalid(document: spec.Document) -> list[str]:
    """Why a document is not valid OpenAPI 3.1."""
    errors = OpenAPIV31SpecValidator(document).iter_errors()
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}" for error in errors]


def misread(text: str) -> list[str]:
    """Lines that strict readers of YAML refuse: inside of braces, a continuation has to be indented further.

    PyYAML accepts them. The reader of `openapi-typescript`, which makes the types of the web page, does not.
    """
    found = []
    start = depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if depth > 0 and indent <= start:
            found.append(f"line {number}: indent it further than the line with the opening brace")
        plain = re.sub(r"'[^']*'|`[^`]*`", "", line)
        if depth <= 0:
            start, depth = indent, 0
        depth += plain.count("{") - plain.count("}") if depth > 0 or re.search(r"(: |- )\{", plain) else 0
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the findings; the exit status."""
    parser = argparse.ArgumentParser(description="Check the wording of an OpenAPI document.")
    parser.add_argument("file", type=Path)
    file = parser.parse_args(arguments).file
    document = spec.load(file)
    # Rules follow references, so they are run only on a document in which references lead somewhere.
    found = misread(file.read_text()) or invalid(document) or [str(finding) for finding in lint(document)]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
