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
        "prefixes of the environment variables that action files may use, separated by commas; empty: none",
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
        "functions in packages on this server that hooks may run: `package:function` or names of entry points, "
        "separated by commas; empty: none",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSettings:
    """Hooks: checks before a change, and calls after it."""

    enabled: bool = setting(True, FLAG, "run hooks; false: action files have no effect")
    actions: str = setting(
        "",
        TEXT,
        "action files of this server, for all repositories: paths, separated by commas; empty: none",
    )
    url: str = setting(
        "",
        TEXT,
        "public address of this server, such as https://lake.example.com, for links in payloads to the commit, the "
        "branch and the run; empty: no links",
    )
    env: HookEnvironmentSettings = field(default_factory=HookEnvironmentSettings)
    webhook: WebhookSettings = field(default_factory=WebhookSettings)
    python: PythonHookSettings = field(default_factory=PythonHookSettings)
    rounds: int = setting(
        5,
        integer(1, 100),
        "how often the checks of one change run again because the branch changed; then the request fails with 429",
    )
    keep: float = setting(90 * 24 * 3600.0, DURATION, "how long the server keeps runs and their logs")
    log_bytes: int = setting(256 << 10, SIZE, "maximum size of the log of one hook")
    concurrent: int = setting(64, integer(1, 10_000), "maximum hooks of one server process at the same time")
    concurrent_per_repository: int = setting(8, integer(1, 10_000), "maximum of these for one repository")
    operation_timeout: float = setting(600.0, duration(1, 24 * 3600), "timeout of all hooks before one change together")
    memory: int = setting(1 << 30, SIZE, "maximum address space of a process that runs Python checks and contracts")
