"""Settings of metrics and logs: TENURE_* in the environment."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class LogFormat(StrEnum):
    """How a log line looks. `plain` is what people read at a terminal, and needs no extra."""

    PLAIN = "plain"
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """From which weight on a line is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class WatchSettings(BaseSettings):
    """Read when logs or metrics are set up."""

    model_config = SettingsConfigDict(env_prefix="TENURE_", extra="ignore")

    log_format: LogFormat = LogFormat.PLAIN
    log_level: LogLevel = LogLevel.INFO
    log_payloads: bool = False
    metrics_token: SecretStr | None = Field(default=None, min_length=16)

    @field_validator("log_format", "log_level", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        """`INFO` is how others write it."""
        return value.strip().lower() if isinstance(value, str) else value
