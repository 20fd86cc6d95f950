"""Sample data for a new repository: a few small files, committed to a branch that is then protected.

All of their content is made up, by arithmetic: it is the same on every server.

Tutorials of the lakeFS API read files with these names and columns.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import AsyncIterator
from functools import cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakebed_engine.operations.branch import protection
from lakebed_engine.operations.commit import commit
from lakebed_engine.operations.context import Context
from lakebed_engine.operations.objects import stage
from lakebed_engine.vocabulary.records import Rule
from lakebed_engine.vocabulary.requests import CommitRequest, UploadRequest

ROWS: Final = 100_000
COUNTRIES: Final = (
    *("Canada", "Russia", "United States of America", "China", "Sweden", "Norway", "Brazil", "Finland", "Kazakhstan"),
    *("Argentina", "Australia", "India", "Chile", "Mexico", "Denmark", "Germany", "France", "Poland", "Japan", "Peru"),
    *(
        "Kenya",
        "Turkey",
        "Italy",
        "Estonia",
        "Ethiopia",
        "New Zealand",
        "United Kingdom",
        "Spain",
        "Bolivia",
        "Iceland",
    ),
)
_FIRST: Final = (
    "Amber",
    "Birch",
    "Clear",
    "Dusk",
    "Echo",
    "Fern",
    "Grey",
    "Heron",
    "Inner",
    "Juniper",
    "Kestrel",
    "Long",
)
_SECOND: Final = ("Basin", "Bay", "Lagoon", "Lake", "Loch", "Mere", "Pond", "Pool", "Reservoir", "Tarn", "Water")
_WIDTH: Final = 480
_BAR: Final = 12

_README: Final = f"""# Sample data

A repository to try things in: make a branch, change something, read the difference, merge it back.

- `lakes.parquet`: {ROWS:,} lakes with a number, a name, a country and a depth in metres
- `data/lakes.source.md`: where they come from
- `images/`: pictures of the same table

**All of it is made up.** No lake here has the name, the place or the depth of a lake of this world.
"""
_SOURCE: Final = """# Where lakes.parquet comes from

Lakebed makes this table by arithmetic when it creates a repository with sample data. It is made up: the countries
exist, the lakes do not. Do not use it for anything but trying out software.

| column | type | content |
|---|---|---|
| `Hylak_id` | int64 | a number from 1 on |
| `Lake_name` | string | a name of two words and a number; empty for two of three lakes |
| `Country` | string | a country |
| `Depth_m` | double | a depth in metres, from 0.5 to 200 |
"""


@cache
def sample_files() -> dict[str, tuple[str, bytes]]:
    """The content type and the content of each path. Takes about 50 ms the first time."""
    country, depth = _numbers()
    by_country = np.sort(np.bincount(country, minlength=len(COUNTRIES)))[::-1]
    by_depth = np.histogram(depth, bins=len(COUNTRIES), range=(0.0, 60.0))[0]
    plain = "text/markdown"
    return {
        "README.md": (plain, _README.encode()),
        "data/lakes.source.md": (plain, _SOURCE.encode()),
        "images/lakes-by-country.png": ("image/png", _bars(by_country, (38, 110, 180))),
        "images/lakes-by-depth.png": ("image/png", _bars(by_depth, (20, 140, 110))),
        "images/waves.png": ("image/png", _waves()),
        "lakes.parquet": ("application/octet-stream", _lakes(country, depth)),
    }


def _mixed(seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A number from 0 to 1 for each row, evenly spread (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        value = np.arange(1, ROWS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        value ^= value >> np.uint64(31)
    return (value >> np.uint64(11)).astype(np.float64) / float(1 << 53)


def _numbers() -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """The index of the country and the depth of each lake. Few countries have most lakes, and few lakes are deep."""
    country = (_mixed(1) ** 3 * len(COUNTRIES)).astype(np.int64)
    depth = np.round(0.5 + 199.5 * _mixed(2) ** 6, 1)
    return country, depth


def _lakes(
    country: np.ndarray[tuple[int], np.dtype[np.int64]], depth: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> bytes:
    pairs = pa.array([f"{first} {second}" for first in _FIRST for second in _SECOND])
    number = pa.array(np.arange(1, ROWS + 1, dtype=np.int64))
    chosen = (_mixed(3) * len(pairs)).astype(np.int64)
    full = pc.binary_join_element_wise(pairs.take(pa.array(chosen)), number.cast(pa.string()), " ")
    name = pc.if_else(pa.array(_mixed(4) < 1 / 3), full, "")
    table = pa.table(
        {
            "Hylak_id": number,
            "Lake_name": name,
            "Country": pa.array(COUNTRIES).take(pa.array(country)),
            "Depth_m": pa.array(depth),
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def _bars(values: np.ndarray[tuple[int], np.dtype[np.int64]], colour: tuple[int, int, int]) -> bytes:
    """A picture of horizontal bars."""
    pixels = np.full((len(values) * _BAR, _WIDTH, 3), 255, np.uint8)
    for row, value in enumerate(values):
        pixels[row * _BAR : (row + 1) * _BAR - 2, : int(value / max(values) * (_WIDTH - 1)) + 1] = colour
    return _png(pixels)


def _waves() -> bytes:
    y, x = np.mgrid[0:240, 0:_WIDTH]
    blue = 150 + 60 * np.sin(x / 23 + np.sin(y / 9)) + 30 * np.cos(y / 17)
    pixels = np.stack([blue / 4, blue / 1.6, blue], axis=-1)
    return _png(np.clip(pixels, 0, 255).astype(np.uint8))


def _png(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    """A PNG file of rows of RGB pixels, without filters."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = np.zeros((height, 1 + width * 3), np.uint8)
    lines[:, 1:] = pixels.reshape(height, width * 3)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines.tobytes()))
        + chunk(b"IEND", b"")
    )


async def fill(ctx: Context, repo: str, branch: str, committer: str) -> None:
    """Write the samples to a branch, commit them and protect the branch."""
    for path, (kind, data) in (await ctx.runtime.cpu(sample_files)).items():
        request = UploadRequest(path=path, content_type=kind, force=True)
        await stage.upload(ctx, repo, branch, request, _once(data))
    await commit.commit(ctx, repo, branch, CommitRequest(message="Add sample data", committer=committer, force=True))
    await protection.add_rule(ctx, repo, Rule(branch))


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
