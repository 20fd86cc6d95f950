"""pyarrow without pandas, with the allocator of the system, and without threads of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed_format.arrow import read_rows

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


def _file(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def test_rows_have_the_columns_of_the_schema() -> None:
    data = _file(pa.table({"more": [0, 0], "b": ["x", None], "a": pa.array([1, 2], pa.int32())}))
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False), ("b", pa.string()), ("missing", pa.int16())])
    rows = read_rows(data, schema)
    assert rows.schema == schema
    assert rows.to_pylist() == [{"a": 1, "b": "x", "missing": None}, {"a": 2, "b": None, "missing": None}]


@pytest.mark.parametrize("name", ["b", "missing"])
def test_rows_without_a_required_value_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"rows have no '{name}'"):
        read_rows(_file(pa.table({"b": ["x", None]})), pa.schema([pa.field(name, pa.string(), nullable=False)]))


@pytest.mark.parametrize(
    "decode",
    [
        "from lakebed_format.journal import decode_journal, encode_journal as encode; "
        "data = encode(1, [{'id': 'a', 'type': 't', 'time': 5}]); read = lambda: decode_journal(data)",
        "from lakebed_server.access_history.rows import Row, Wanted, chosen, encode; "
        "data = encode([Row(5, *[''] * 12, 0, 0, 200, 1)]); read = lambda: chosen(data, Wanted(0, 1))",
    ],
    ids=["journal", "access history"],
)
def test_reading_starts_no_thread(decode: str) -> None:
    counted = "import psutil; count = psutil.Process().num_threads; "
    script = f"{counted}{decode}; before = count(); rows = read(); print(len(rows), count() - before)"
    assert _printed(script) == "1 0"


@pytest.mark.soak
def test_a_process_may_exit_right_after_reading() -> None:
    """With `pyarrow.parquet.read_table` in place of `read_rows`, 22 of 300 such processes aborted."""
    script = """
import os, sys
from lakebed_format.journal import decode_journal, encode_journal
data = encode_journal(1, [{"id": str(number), "type": "t", "time": 5} for number in range(50)])
codes = set()
for _ in range(60):
    child = os.fork()
    if child == 0:
        for _ in range(3):
            decode_journal(bytes(bytearray(data)))
        sys.exit(0)
    codes.add(os.waitpid(child, 0)[1])
print(codes)
"""
    assert _printed(script) == "{0}"
