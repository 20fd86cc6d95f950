#!/usr/bin/env python
"""Run docs/tour.ipynb against the server that the environment names, and keep its outputs.

    lakebed serve ... ; export LAKEBED_ENDPOINT=... ; python tools/docs/notebook.py

`execute` is what the tests run; they compare nothing that changes from run to run.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "tour.ipynb"


def execute(folder: Path) -> Any:
    """The notebook, executed in a kernel of its own whose directory is `folder`. Raises CellExecutionError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the notebook's own packages
        import nbformat
        from nbclient import NotebookClient

        notebook: Any = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
        where = {"metadata": {"path": str(folder)}}
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where, record_timing=False)
        kernel: Any = client.create_kernel_manager()
        kernel.kernel_spec.argv[0] = sys.executable
        client.execute()
    return notebook


def main() -> None:
    """The command."""
    import nbformat

    with tempfile.TemporaryDirectory() as folder:
        notebook = execute(Path(folder))
    nbformat.write(notebook, NOTEBOOK)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
