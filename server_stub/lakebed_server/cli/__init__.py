"""The server's verbs of the `lakebed` command."""

from lakebed_server.cli.main import commands, settings_report

__all__ = ["commands", "settings_report"]
