"""The one error of all decoders: any bytes are a value or a FormatError, never another exception.

A file of a bucket may hold anything. Its decoder is a function under `decoder`, which turns what Python, JSON and
Parquet raise over bad bytes into FormatError. Callers catch that error alone, and add the name of the file.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, ParamSpec, TypeVar

import pyarrow as pa

P = ParamSpec("P")
T = TypeVar("T")

_ID: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


class FormatError(ValueError):
    """The bytes are not a file of this kind, or of a version that this reader does not know."""


DAMAGE: Final = (
    ValueError,  # also UnicodeError, binascii.Error, json.JSONDecodeError and pyarrow.ArrowInvalid
    TypeError,
    AttributeError,
    LookupError,  # also KeyError and IndexError
    ArithmeticError,  # also OverflowError: 1e999 as a whole number
    RecursionError,  # JSON of any depth: Python's own limit bounds it
    OSError,  # Thrift errors of pyarrow
    pa.ArrowException,
)
"""What bad bytes make Python, JSON and pyarrow raise. Anything else is an error of the program, and stays one."""


def decoder(kind: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator for the decoder of a kind of file: whatever bad bytes raise in it is a FormatError."""

    def wrap(job: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(job)
        def decode(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return job(*args, **kwargs)
            except FormatError:
                raise
            except DAMAGE as error:
                raise FormatError(f"not a whole {kind}: {_reason(error)}") from error

        return decode

    return wrap


def _reason(error: BaseException) -> str:
    """Bounded: pyarrow and KeyError quote what they found."""
    return f"{type(error).__name__}: {error}"[:300]


def load_json(data: bytes, form: str, most: int) -> Mapping[str, Any]:
    """The object in a JSON file of at most `most` bytes whose `format` is `form`. Raises what `decoder` maps."""
    if len(data) > most:
        raise FormatError(f"it has {len(data):,} bytes, at most {most:,} are read")
    body = json.loads(data)
    if not isinstance(body, dict) or body.get("format") != form:
        refuse_newer(body.get("format") if isinstance(body, dict) else None, form)
        raise FormatError(f"its JSON does not say that its format is {form}")
    return body


def refuse_newer(said: object, form: str) -> None:
    """Raise FormatError for `commit/2` where `commit/1` is known: such a file is whole, and this reader is too old."""
    kind, _, known = form.partition("/")
    name, _, version = said.partition("/") if isinstance(said, str) and len(said) < 80 else ("", "", "")
    if name == kind and version.isascii() and version.isdigit() and int(version) > int(known):
        raise FormatError(f"{kind} format {version} is newer than this reader ({known}): upgrade Lakebed")


def text(body: Mapping[str, Any], name: str) -> str:
    """A member that is text which UTF-8 holds."""
    return as_text(body[name], name)


def as_text(value: object, name: str) -> str:
    """A value that is text which UTF-8 holds: half a surrogate pair is none."""
    if not isinstance(value, str):
        raise FormatError(f"its {name} is not text")
    value.encode()
    return value


def as_id(value: object, name: str) -> str:
    """A value that is an id of 64 hex digits: it becomes part of a key."""
    if not (isinstance(value, str) and _ID.fullmatch(value)):
        raise FormatError(f"its {name} is not an id of 64 hex digits")
    return value


def integer(body: Mapping[str, Any], name: str) -> int:
    """A member that is a whole number of 64 bits, as every store holds one."""
    value = body[name]
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise FormatError(f"its {name} is not a whole number of 64 bits")
    return value


def flag(body: Mapping[str, Any], name: str) -> bool:
    """A member that is true or false."""
    if not isinstance(body[name], bool):
        raise FormatError(f"its {name} is neither true nor false")
    return bool(body[name])


def texts(body: Mapping[str, Any], name: str) -> dict[str, str]:
    """A member that is an object of texts."""
    if not isinstance(body[name], dict):
        raise FormatError(f"its {name} is not an object")
    return {as_text(key, name): as_text(value, name) for key, value in body[name].items()}


def items(body: Mapping[str, Any], name: str) -> list[Any]:
    """A member that is a list."""
    if not isinstance(body[name], list):
        raise FormatError(f"its {name} is not a list")
    return list(body[name])
