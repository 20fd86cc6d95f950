"""Settings of hooks."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakebed_server.settings.kinds import DURATION, FLAG, SIZE, TEXT, duration, integer, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEnvironmentSettings:
    """The environment of the server, for hooks."""

    prefixes: str = setting(
        "LAKEFSACTION_,LAKEBEDACTION_",
        TEXT,
        "names of variables that action files may use, by their beginnings, separated by commas; empty: none",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """Requests to other servers."""

    allow: str = setting(
        "",
        TEXT,
        "hosts that hooks may call, also on this machine and in private networks: names, `*.example.com`, `host:port` "
        "and addresses, separated by commas; empty: every public address",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonHookSettings:
    """Python checks."""

    allow: str = setting(
        "",
        TEXT,
        "functions that hooks may run, of packages on this server: `package:function` or names of entry points, "
        "separated by commas; empty: none",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSettings:
    """Hooks: checks before a change, and calls after it."""

    enabled: bool = setting(True, FLAG, "run hooks; false: action files have no effect")
    actions: str = setting(
        "",
        TEXT,
        "action files of this server, for all repositories: paths of files, separated by commas; empty: none",
    )
    url: str = setting(
        "",
        TEXT,
        "address of this server for people, such as https://lake.example.com: payloads then have links to the commit, "
        "the branch and the run; empty: no links",
    )
    env: HookEnvironmentSettings = field(default_factory=HookEnvironmentSettings)
    webhook: WebhookSettings = field(default_factory=WebhookSettings)
    python: PythonHookSettings = field(default_factory=PythonHookSettings)
    rounds: int = setting(
        5, integer(1, 100), "how often the checks of one change run again, because others changed the branch; then 429"
    )
    keep: float = setting(90 * 24 * 3600.0, DURATION, "how long runs and their logs are kept")
    log_bytes: int = setting(256 << 10, SIZE, "most bytes of the log of one hook")
    concurrent: int = setting(64, integer(1, 10_000), "most hooks of one server process at the same time")
    concurrent_per_repository: int = setting(8, integer(1, 10_000), "most of them of one repository")
    operation_timeout: float = setting(
        600.0, duration(1, 24 * 3600), "how long all hooks before one change may take together"
    )
    memory: int = setting(1 << 30, SIZE, "most address space of a process that runs Python checks and contracts")
