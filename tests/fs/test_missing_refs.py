"""pandas reports a misspelt repository or branch, not only that a file does not exist."""

from __future__ import annotations

from typing import Any

import lakebed
import pandas as pd
import pytest


@pytest.mark.parametrize("read", [pd.read_parquet, pd.read_csv])
def test_pandas_names_the_part_that_does_not_exist(fs: Any, top: str, read: Any) -> None:
    repository, _, ref = top.partition("/")
    with pytest.raises(lakebed.NotFoundError, match=r"repository not found: 'misspelt'; see lake.repositories\(\)"):
        read(f"lakebed://misspelt/{ref}/a.parquet")
    with pytest.raises(
        lakebed.NotFoundError,
        match=rf"commit not found: 'mian' is not a branch, tag or commit of repository '{repository}'",
    ):
        read(f"lakebed://{repository}/mian/a.parquet")
    with pytest.raises(FileNotFoundError):
        read(f"lakebed://{top}/a.parquet")
