"""Settings of tick and background: WORKER_* in the environment, in milliseconds."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from tenure.core.pace import Pace

DAY_MS = 86_400_000


class WorkerSettings(BaseSettings):
    """Read when a worker is made."""

    model_config = SettingsConfigDict(env_prefix="WORKER_", extra="ignore")

    tick_runners: Annotated[tuple[str, ...], NoDecode] = ()
    tick_overall_max_ms: int = Field(default=480_000, ge=1, le=DAY_MS)
    tick_runner_max_ms: int = Field(default=60_000, ge=1, le=DAY_MS)
    tick_runner_max_items: int = Field(default=200, ge=1, le=1_000_000)
    busy_loop_delay_ms: int = Field(default=250, ge=0, le=DAY_MS)
    idle_backoff_min_ms: int = Field(default=1_000, ge=1, le=DAY_MS)
    idle_backoff_max_ms: int = Field(default=30_000, ge=1, le=DAY_MS)
    idle_backoff_jitter_ms: int = Field(default=500, ge=0, le=DAY_MS)
    tick_loop_error_backoff_ms: int = Field(default=30_000, ge=1, le=DAY_MS)
    tick_loop_max_jitter_ms: int = Field(default=2_000, ge=0, le=DAY_MS)
    shutdown_timeout_ms: int = Field(default=30_000, ge=0, le=DAY_MS)

    @field_validator("tick_runners", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """A comma-separated list; empty means every registered runner."""
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @model_validator(mode="after")
    def _ordered(self) -> WorkerSettings:
        if self.idle_backoff_min_ms > self.idle_backoff_max_ms:
            raise ValueError("WORKER_IDLE_BACKOFF_MIN_MS is larger than WORKER_IDLE_BACKOFF_MAX_MS")
        return self

    @property
    def pace(self) -> Pace:
        """The bounds of the loop, in seconds."""
        return Pace(
            busy=self.busy_loop_delay_ms / 1000,
            idle_min=self.idle_backoff_min_ms / 1000,
            idle_max=self.idle_backoff_max_ms / 1000,
            idle_jitter=self.idle_backoff_jitter_ms / 1000,
            error=self.tick_loop_error_backoff_ms / 1000,
            error_jitter=self.tick_loop_max_jitter_ms / 1000,
        )
