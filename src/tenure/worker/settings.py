"""Settings of tick and background: WORKER_* in the environment, in milliseconds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from tenure.core.rules.shard import BUCKETS, Shard
from tenure.core.timing.pace import Pace

DAY_MS = 86_400_000


class WorkerSettings(BaseSettings):
    """Read from the environment when a worker is created."""

    model_config = SettingsConfigDict(
        env_prefix="WORKER_", extra="ignore", use_attribute_docstrings=True
    )

    tick_runners: Annotated[tuple[str, ...], NoDecode] = ()
    """Runners of a tick, in this order, such as `outbox,invoiceReminders`; each schedule is a
    runner of its own name; empty: all.
    """
    tick_overall_max_ms: int = Field(default=480_000, ge=1, le=DAY_MS)
    """Time budget of a tick."""
    tick_grace_ms: int = Field(default=2_000, ge=0, le=DAY_MS)
    """Extra time for running jobs when the time budget of a tick is spent."""
    tick_runner_max_ms: int = Field(default=60_000, ge=1, le=DAY_MS)
    """Time budget of each runner in a tick."""
    tick_runner_max_items: int = Field(default=200, ge=1, le=1_000_000)
    """Item budget of each runner in a tick."""
    busy_loop_delay_ms: int = Field(default=250, ge=0, le=DAY_MS)
    """Pause after a tick that did something."""
    idle_backoff_min_ms: int = Field(default=1_000, ge=1, le=DAY_MS)
    """First pause after an idle tick; it doubles with each further one."""
    idle_backoff_max_ms: int = Field(default=30_000, ge=1, le=DAY_MS)
    """Longest pause after idle ticks."""
    idle_backoff_jitter_ms: int = Field(default=500, ge=0, le=DAY_MS)
    """Random addition to the pauses after idle ticks."""
    tick_loop_error_backoff_ms: int = Field(default=30_000, ge=1, le=DAY_MS)
    """Pause after a failed tick, and the longest pause while the database is unavailable."""
    tick_loop_max_jitter_ms: int = Field(default=2_000, ge=0, le=DAY_MS)
    """Random addition to the pause after a failed tick."""
    tick_shard_index: int | None = Field(default=None, ge=0)
    """Shard of tenants to serve; requires WORKER_TICK_SHARD_COUNT."""
    tick_shard_count: int | None = Field(default=None, ge=1, le=BUCKETS)
    """Number of shards. A tenant belongs to shard crc32(tenant) mod 256 mod count."""
    shutdown_timeout_ms: int = Field(default=30_000, ge=0, le=DAY_MS)
    """How long running jobs may finish after SIGTERM."""
    isolation: Literal["process", "alone"] = "process"
    """Where to run jobs that were running when a worker died: each in a separate process, or alone
    in the worker.
    """
    api_service_token: SecretStr | None = Field(default=None, min_length=16)
    """Value of the header `x-service-token` for `POST /internal/tick`; without it the route does
    not exist.
    """

    @field_validator("tick_runners", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """Parse a comma-separated list; empty means every registered runner."""
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @model_validator(mode="after")
    def _ordered(self) -> WorkerSettings:
        if self.idle_backoff_min_ms > self.idle_backoff_max_ms:
            raise ValueError(
                "WORKER_IDLE_BACKOFF_MIN_MS must not exceed WORKER_IDLE_BACKOFF_MAX_MS"
            )
        return self

    @model_validator(mode="after")
    def _whole_shard(self) -> WorkerSettings:
        index, count = self.tick_shard_index, self.tick_shard_count
        if (index is None) is not (count is None):
            raise ValueError(
                "set both WORKER_TICK_SHARD_INDEX and WORKER_TICK_SHARD_COUNT, or neither"
            )
        if index is not None and count is not None and index >= count:
            raise ValueError(
                f"WORKER_TICK_SHARD_INDEX must be from 0 to {count - 1}, not {index}, because "
                f"WORKER_TICK_SHARD_COUNT is {count}"
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
        """The pauses of the loop, in seconds."""
        return Pace(
            busy=self.busy_loop_delay_ms / 1000,
            idle_min=self.idle_backoff_min_ms / 1000,
            idle_max=self.idle_backoff_max_ms / 1000,
            idle_jitter=self.idle_backoff_jitter_ms / 1000,
            error=self.tick_loop_error_backoff_ms / 1000,
            error_jitter=self.tick_loop_max_jitter_ms / 1000,
        )
