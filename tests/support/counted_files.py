"""A local file system that notes which files are opened."""

from __future__ import annotations

from typing import Any

from fsspec.implementations.local import LocalFileSystem


class CountedFiles(LocalFileSystem):  # type: ignore[misc]
    """A local file system. `opened`: the paths that were opened since the last `clear` of it, in order."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def _open(self, path: str, mode: str = "rb", block_size: int | None = None, **more: Any) -> Any:
        self.opened.append(path)
        return super()._open(path, mode, block_size, **more)
