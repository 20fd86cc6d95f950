"""Settings of logs, metrics and traces."""

from __future__ import annotations

from dataclasses import dataclass

from lakebed_server.settings.kinds import DURATION, FLAG, TEXT, choice, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggingSettings:
    """Logs."""

    format: str = setting("text", choice("text", "json"), "format of log lines")
    level: str = setting(
        "INFO",
        choice("DEBUG", "INFO", "WARN", "ERROR", "NONE"),
        "minimum level to log; DEBUG logs every request, INFO only writes, failures and slow requests",
    )
    slow_request: float = setting(
        1.0, DURATION, "duration above which a request is logged as slow, with level WARN; 0: no request"
    )
    output: str = setting("-", TEXT, "file to log to; - for standard output")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    """Metrics for Prometheus. They are off until one of the settings is given."""

    listen: str = setting(
        "",
        TEXT,
        "address and port of a listener only for `/metrics`, `/_health` and `/_ready`, such as 127.0.0.1:9464; "
        "empty: none",
    )
    token: str = setting(
        "",
        TEXT,
        "bearer token for `/metrics`, at least 16 characters; with it, the server's own port serves `/metrics` too",
        secret=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TracingSettings:
    """Traces for OpenTelemetry."""

    enabled: bool = setting(
        False,
        FLAG,
        "send traces with OTLP over HTTP, configured by the OTEL_* variables of OpenTelemetry; needs lakebed[otel]",
    )
    endpoint: str = setting(
        "",
        TEXT,
        "URL of the collector, such as http://localhost:4318; empty: OTEL_EXPORTER_OTLP_ENDPOINT, or that address",
    )
