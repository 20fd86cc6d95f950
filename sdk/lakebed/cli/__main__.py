"""`python -m lakebed.cli` is the `lakebed` command."""

from lakebed.cli.main import main

main()
