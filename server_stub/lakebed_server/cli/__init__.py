"""The server's verbs of the `lakebed` command."""

from lakebed_server.cli.checks import config_problems, server_report
from lakebed_server.cli.main import commands, settings_report

__all__ = ["commands", "config_problems", "server_report", "settings_report"]
