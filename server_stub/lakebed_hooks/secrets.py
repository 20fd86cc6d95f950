"""Secrets of the server's environment in the properties of hooks, and how logs hide them.

`Bearer {{ ENV.LAKEBEDACTION_TOKEN }}` in a header becomes the value of that variable. Only variables whose names begin
with a prefix that the settings allow can be read: the environment also has secrets of the server itself. A variable
that is missing or empty is an error, because a request without its secret does not do what its author expects.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from lakebed_hooks.vocabulary import HookError

PREFIXES: Final = ("LAKEFSACTION_", "LAKEBEDACTION_")
"""Prefixes of the variables that hooks may read, unless the settings give others."""
MASK: Final = "********"

_TEMPLATE = re.compile(r"\{\{\s{0,20}ENV\.([A-Za-z_][A-Za-z0-9_]{0,255})\s{0,20}\}\}")
_RUN = re.compile(r"[A-Za-z0-9+/_-]{2,}")


class SecretError(HookError):
    """A text uses a variable that hooks may not read, or that is not set."""


class Expanded(NamedTuple):
    """A text with its secrets filled in, and these secrets, which `mask` hides in logs."""

    text: str
    secrets: frozenset[str]

    def __repr__(self) -> str:
        return f"Expanded({MASK})"


def names(text: str) -> list[str]:
    """Return the variables that a text uses. Raises SecretError where `{{` begins anything else."""
    if "{{" in _TEMPLATE.sub("", text):
        raise SecretError("'{{' does not begin a variable: write {{ ENV.NAME }}")
    return _TEMPLATE.findall(text)


def expand(text: str, environment: Mapping[str, str], prefixes: Iterable[str] = PREFIXES) -> Expanded:
    """Replace `{{ ENV.NAME }}` by the values of variables. Raises SecretError."""
    allowed = tuple(prefix for prefix in prefixes if prefix)
    values = {}
    for name in names(text):
        if not name.startswith(allowed):
            shown = " or ".join(allowed) or "nothing, because the settings allow no prefix"
            raise SecretError(f"hooks may not read the variable {name}: they read names that begin with {shown}")
        if not environment.get(name):
            raise SecretError(f"the variable {name} is not set on the server: set it, and start the server again")
        values[name] = environment[name]
    return Expanded(_TEMPLATE.sub(lambda found: values[found[1]], text), frozenset(values.values()))


def mask(text: str, secrets: Iterable[str]) -> str:
    """Replace every secret by asterisks: as plain text, escaped (URL, JSON, HTML), and in base64 as in Basic
    authentication.

    In base64, it hides the whole run of characters. It repeats until nothing changes, because a replacement may join
    two parts to a secret again. A secret that consists of asterisks stays.
    """
    values = sorted({value for value in secrets if value.strip("*")}, key=len, reverse=True)
    if not values:
        return text
    pattern = _pattern(tuple(values))
    raw = [value.encode("utf-8", "surrogatepass") for value in values]
    shortest = min(len(value) for value in raw)

    def hide_base64(run: re.Match[str]) -> str:
        if len(run[0]) * 3 // 4 < shortest:  # most runs are words of the text, too short for a secret
            return run[0]
        return MASK if any(value in plain for plain in _decoded(run[0]) for value in raw) else run[0]

    before = None
    while text != before:
        before = text
        text = _RUN.sub(hide_base64, pattern.sub(MASK, text))
    return text


@lru_cache(maxsize=64)
def _pattern(values: tuple[str, ...]) -> re.Pattern[str]:
    """Return a regular expression for the values. Cached, because building it takes longer than masking most texts."""
    begin = "".join(dict.fromkeys(re.escape(char) for char in ["%", "\\", "&", "+", *(value[0] for value in values)]))
    return re.compile(f"(?=[{begin}])(?:{'|'.join(_spellings(value) for value in values)})")


def _spellings(value: str) -> str:
    """Return a regular expression for a value in which each character may be escaped, with at most 12 characters for
    each.
    """
    return "".join(f"(?:{'|'.join(dict.fromkeys(_spelling(char)))})" for char in value)


def _spelling(char: str) -> Iterator[str]:
    code = ord(char)
    raw = char.encode("utf-8", "surrogatepass")
    yield "".join(f"%(?i:{byte:02x})" for byte in raw)
    units = char.encode("utf-16-be", "surrogatepass")
    yield "".join(rf"\\u(?i:{units[at : at + 2].hex()})" for at in range(0, len(units), 2))
    yield rf"&#0{{0,2}}{code};"
    yield rf"&#[xX]0{{0,2}}(?i:{code:x});"
    named = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}.get(char)
    if named:
        yield named
    short = {'"': r"\"", "\\": r"\\", "/": r"\/", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\b": r"\b", "\f": r"\f"}
    if char in short:
        yield re.escape(short[char])
    yield re.escape(char)
    if char == " ":
        yield r"\+"


def _decoded(run: str) -> Iterator[bytes]:
    """Decode a run of base64 characters from each of the four positions where a group may begin."""
    standard = run.replace("-", "+").replace("_", "/")
    for start in range(4):
        part = standard[start:]
        part = part[:-1] if len(part) % 4 == 1 else part
        yield base64.b64decode(part + "=" * (-len(part) % 4))
