"""Settings of metrics and logs: TENURE_* in the environment."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class LogFormat(StrEnum):
    """Format of log lines. `plain` is for people at a terminal and needs no extra."""

    PLAIN = "plain"
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """Lowest level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class WatchSettings(BaseSettings):
    """Read when logs or metrics are set up."""

    model_config = SettingsConfigDict(
        env_prefix="TENURE_", extra="ignore", use_attribute_docstrings=True
    )

    log_format: LogFormat = LogFormat.PLAIN
    """Format of log lines ([guide](guides/watch.md#logs))."""
    log_level: LogLevel = LogLevel.INFO
    """Lowest level that is logged."""
    log_payloads: bool = False
    """Include payloads in log lines about jobs."""
    metrics_token: SecretStr | None = Field(default=None, min_length=16)
    """Bearer token for a worker's `--metrics-port`; without it, metrics are served on loopback
    only.
    """

    @field_validator("log_format", "log_level", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        """Accept `INFO` as well as `info`."""
        return value.strip().lower() if isinstance(value, str) else value
