"""The tags of an object that was written below a workspace's prefix: the parts of its path, for rules of the bucket.

S3 takes 10 tags of an object, up to 256 characters of letters, digits, spaces and `+-=._:/@` in each value, and no
brackets in a key.

    orders/2026/a.parquet   path.0=orders  path.1=2026  path.2=a.parquet
"""

from __future__ import annotations

MOST_TAGS, LONGEST_TAG = 10, 256


def path_tags(path: str) -> dict[str, str]:
    """Keys and values. What no tag can hold is left out: a part of other characters, or behind the tenth."""
    parts = list(enumerate(path.strip("/").split("/")))[:MOST_TAGS]
    return {f"path.{at}": part for at, part in parts if part and len(part) <= LONGEST_TAG and _fits(part)}


def _fits(part: str) -> bool:
    return all(char.isalnum() or char in " _.:/=+-@" for char in part)
