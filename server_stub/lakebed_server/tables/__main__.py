"""The command of the process that reads tables: `python -m lakebed_server.tables MEMORY SECONDS`."""

from __future__ import annotations

from lakebed_format.arrow import keep_pandas_out


def main() -> None:
    """Run the worker. Its imports would import pandas."""
    keep_pandas_out()
    from lakebed_server.tables import worker

    worker.main()


if __name__ == "__main__":
    main()
