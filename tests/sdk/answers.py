"""Answers of a server, for `MockTransport`."""

from __future__ import annotations

from typing import Any

COMMIT = {"id": "c" * 64, "parents": [], "committer": "me", "message": "m", "creation_date": 1, "meta_range_id": ""}


def page(rows: list[dict[str, Any]], following: str = "") -> dict[str, Any]:
    return {
        "pagination": {
            "has_more": bool(following),
            "next_offset": following,
            "results": len(rows),
            "max_per_page": 1000,
        },
        "results": rows,
    }
