"""Settings of metrics and logs: TENURE_* in the environment."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


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
    docgen_kinds: Annotated[tuple[str, ...], NoDecode] = ()

    @field_validator("log_format", "log_level", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        """`INFO` is how others write it."""
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("docgen_kinds", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """A comma-separated list; a `*` stands for anything."""
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value
