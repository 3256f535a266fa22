"""Settings of tick and background: WORKER_* in the environment, in milliseconds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from tenure.core.rules.shard import BUCKETS, Shard
from tenure.core.timing.pace import Pace

DAY_MS = 86_400_000


class WorkerSettings(BaseSettings):
    """Read when a worker is made."""

    model_config = SettingsConfigDict(env_prefix="WORKER_", extra="ignore")

    tick_runners: Annotated[tuple[str, ...], NoDecode] = ()
    tick_overall_max_ms: int = Field(default=480_000, ge=1, le=DAY_MS)
    tick_grace_ms: int = Field(default=2_000, ge=0, le=DAY_MS)
    tick_runner_max_ms: int = Field(default=60_000, ge=1, le=DAY_MS)
    tick_runner_max_items: int = Field(default=200, ge=1, le=1_000_000)
    busy_loop_delay_ms: int = Field(default=250, ge=0, le=DAY_MS)
    idle_backoff_min_ms: int = Field(default=1_000, ge=1, le=DAY_MS)
    idle_backoff_max_ms: int = Field(default=30_000, ge=1, le=DAY_MS)
    idle_backoff_jitter_ms: int = Field(default=500, ge=0, le=DAY_MS)
    tick_loop_error_backoff_ms: int = Field(default=30_000, ge=1, le=DAY_MS)
    tick_loop_max_jitter_ms: int = Field(default=2_000, ge=0, le=DAY_MS)
    tick_shard_index: int | None = Field(default=None, ge=0)
    tick_shard_count: int | None = Field(default=None, ge=1, le=BUCKETS)
    shutdown_timeout_ms: int = Field(default=30_000, ge=0, le=DAY_MS)
    isolation: Literal["process", "alone"] = "process"
    api_service_token: SecretStr | None = Field(default=None, min_length=16)

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

    @model_validator(mode="after")
    def _whole_shard(self) -> WorkerSettings:
        index, count = self.tick_shard_index, self.tick_shard_count
        if (index is None) is not (count is None):
            raise ValueError("WORKER_TICK_SHARD_INDEX and WORKER_TICK_SHARD_COUNT go together")
        if index is not None and count is not None and index >= count:
            raise ValueError(
                f"WORKER_TICK_SHARD_INDEX is {index}, but WORKER_TICK_SHARD_COUNT is {count}: "
                f"the shards are 0 to {count - 1}"
            )
        return self

    @property
    def shard(self) -> Shard | None:
        """The share of tenants whose jobs are taken; None for all."""
        if self.tick_shard_index is None or self.tick_shard_count is None:
            return None
        return Shard(self.tick_shard_index, self.tick_shard_count)

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
