"""pyarrow without pandas."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

FIRST = "from lakebed_format.arrow import keep_pandas_out; keep_pandas_out(); "
USE = "import sys, numpy, pyarrow, pyarrow.dataset; pyarrow.chunked_array([numpy.zeros(3)]).to_numpy(); "


def _printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_pyarrow_does_not_import_pandas() -> None:
    seen = "print('pandas' in sys.modules)"
    assert _printed(USE + seen) == "True", "pyarrow does not import pandas any more: remove keep_pandas_out"
    assert _printed(FIRST + USE + seen) == "False"


def test_others_can_import_pandas() -> None:
    assert _printed(FIRST + USE + "import pandas; print(pandas.Series([1, 2]).sum())") == "3"
    assert _printed("import pandas; " + FIRST + USE + "print(pyarrow.array(pandas.Series([1])).to_pandas()[0])") == "1"
