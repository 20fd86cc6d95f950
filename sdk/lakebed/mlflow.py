"""`lakebed://` as a source of MLflow data sets: `mlflow.data.from_pandas(frame, source="lakebed://wines/main/a.parquet")`.

MLflow finds it through the entry point group `mlflow.dataset_source`.
"""

from __future__ import annotations

from typing import Any, Self

from mlflow.data.dataset_source import DatasetSource

from lakebed import Location, connect, parse_uri
from lakebed._integration.values import SCHEMES


class LakebedDatasetSource(DatasetSource):  # type: ignore[misc]  # MLflow is not installed where types are checked
    """An object or a folder at one commit. A run that logs it says exactly which data it used, also after the branch
    has moved.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri

    @property
    def location(self) -> Location:
        """Repository, commit id and path."""
        return parse_uri(self.uri)

    def load(self, dst_path: str | None = None) -> str:
        """Download the object or the folder into a directory, by default a temporary one. Returns its local path."""
        import tempfile
        from pathlib import Path

        place, top = self.location, Path(dst_path or tempfile.mkdtemp())
        ref = connect().repository(place.repository).ref(place.ref)
        if ref.exists(place.path):
            target = top / place.path.rsplit("/", 1)[-1]
            ref.download(place.path, target)
            return str(target)
        ref.download_tree(place.path, top)
        return str(top)

    def to_dict(self) -> dict[str, Any]:
        """What MLflow stores."""
        return {"uri": self.uri}

    @classmethod
    def from_dict(cls, source_dict: dict[Any, Any]) -> Self:
        """The source that MLflow has stored."""
        return cls(source_dict["uri"])

    @staticmethod
    def _get_source_type() -> str:
        return "lakebed"

    @staticmethod
    def _can_resolve(raw_source: Any) -> bool:
        return isinstance(raw_source, str) and raw_source.startswith(SCHEMES)

    @classmethod
    def _resolve(cls, raw_source: str) -> Self:
        """A branch, tag or expression becomes the commit that it points to now. Raises NotFoundError."""
        place = parse_uri(raw_source)
        commit = connect().repository(place.repository).commit(place.ref)
        return cls(f"lakebed://{place.repository}/{commit.id}/{place.path}")
