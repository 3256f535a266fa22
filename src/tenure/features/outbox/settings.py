"""Settings of the outbox: OUTBOX_* in the environment, in milliseconds; read by `Outbox(app)`."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from tenure.features.outbox.backoff import Backoff
from tenure.jobs.handler_options import QueueSlots

DAY_MS = 86_400_000
OUTBOX_QUEUE = "outbox"
DISPATCH_QUEUE = "outbox.dispatch"


class OutboxSettings(BaseSettings):
    """How much at a time, for how long, how often."""

    model_config = SettingsConfigDict(env_prefix="OUTBOX_", extra="ignore", populate_by_name=True)

    batch_size: int = Field(default=50, ge=1, le=10_000)
    concurrency: int = Field(default=10, ge=1, le=10_000)
    lease_duration_ms: int = Field(default=60_000, ge=200, le=DAY_MS)
    lease_heartbeat_ms: int = Field(default=15_000, ge=50, le=DAY_MS)
    max_attempts: int = Field(default=3, ge=1, le=1_000)
    retry_base_ms: int = Field(default=5_000, ge=0, le=DAY_MS)
    retry_max_ms: int = Field(default=120_000, ge=0, le=DAY_MS)
    retry_jitter_ms: int = Field(default=500, ge=0, le=DAY_MS)

    @model_validator(mode="after")
    def _ordered(self) -> OutboxSettings:
        if self.retry_base_ms > self.retry_max_ms:
            raise ValueError("OUTBOX_RETRY_BASE_MS is larger than OUTBOX_RETRY_MAX_MS")
        return self

    @property
    def retry(self) -> Backoff:
        """What subscribers get that say nothing."""
        return Backoff(
            base=self.retry_base_ms / 1000,
            cap=self.retry_max_ms / 1000,
            spread=self.retry_jitter_ms / 1000,
            attempts=self.max_attempts,
        )

    @property
    def slots(self) -> Mapping[str, QueueSlots]:
        """OUTBOX_CONCURRENCY and OUTBOX_BATCH_SIZE, for dispatching and for delivering."""
        return {
            OUTBOX_QUEUE: QueueSlots(self.concurrency, self.batch_size),
            DISPATCH_QUEUE: QueueSlots(self.concurrency, self.batch_size),
        }
