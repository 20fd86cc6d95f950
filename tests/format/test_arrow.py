"""pyarrow without pandas, and with the allocator of the system."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

FIRST = "from lakebed_format.arrow import keep_pandas_out; keep_pandas_out(); "
USE = "import sys, numpy, pyarrow, pyarrow.dataset; pyarrow.chunked_array([numpy.zeros(3)]).to_numpy(); "


def _printed(code: str, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**inherited, **environment})
    return done.stdout.strip()


def test_pyarrow_does_not_import_pandas() -> None:
    seen = "print('pandas' in sys.modules)"
    assert _printed(USE + seen) == "True", "pyarrow does not import pandas any more: remove keep_pandas_out"
    assert _printed(FIRST + USE + seen) == "False"


def test_others_can_import_pandas() -> None:
    assert _printed(FIRST + USE + "import pandas; print(pandas.Series([1, 2]).sum())") == "3"
    assert _printed("import pandas; " + FIRST + USE + "print(pyarrow.array(pandas.Series([1])).to_pandas()[0])") == "1"


def test_a_server_uses_the_allocator_of_the_system() -> None:
    shown = "import pyarrow; pyarrow.array([1]); print(pyarrow.default_memory_pool().backend_name)"
    first = "from lakebed_format.arrow import use_system_allocator; use_system_allocator(); "
    assert _printed(shown) != "system", "it is the default of pyarrow now: remove use_system_allocator"
    assert _printed(first + shown) == "system"
    assert _printed(first + FIRST + shown) == "system"


def test_the_allocator_that_an_operator_names_is_kept() -> None:
    shown = "import pyarrow; print(pyarrow.default_memory_pool().backend_name)"
    first = "from lakebed_format.arrow import use_system_allocator; use_system_allocator(); "
    assert _printed(first + shown, ARROW_DEFAULT_MEMORY_POOL="mimalloc") == "mimalloc"
