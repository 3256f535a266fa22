"""Settings of the outbox: OUTBOX_* in the environment, in milliseconds; read by `Outbox(app)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from tenure.core.errors import InputError
from tenure.core.rules.retry import Random, is_permanent
from tenure.jobs.handler_options import QueueSlots

DAY_MS = 86_400_000
OUTBOX_QUEUE = "outbox"
DISPATCH_QUEUE = "outbox.dispatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """When a failed delivery is tried again: after base, 2·base, 4·base … seconds, at most `cap`,
    and up to `spread` more.

    >>> Backoff(base=5, cap=120, spread=0.5, attempts=3).delay(2, lambda: 0.5)
    10.25
    """

    base: float
    cap: float
    spread: float
    attempts: int

    def delay(self, attempt: int, random: Random) -> float:
        """After the failed attempt of this number, from 1."""
        growth = min(attempt - 1, 60)
        return min(self.cap, self.base * 2.0**growth) + self.spread * random()

    def permanent(self, error: BaseException) -> bool:
        """An error with `retryable = False`, or input that stays wrong."""
        return is_permanent(error, (InputError,))


class OutboxSettings(BaseSettings):
    """Read from the environment when an Outbox is created."""

    model_config = SettingsConfigDict(
        env_prefix="OUTBOX_", extra="ignore", use_attribute_docstrings=True, populate_by_name=True
    )

    batch_size: int = Field(default=50, ge=1, le=10_000)
    """Events that a worker claims at a time, in the queues `outbox.dispatch` and `outbox`."""
    concurrency: int = Field(default=10, ge=1, le=10_000)
    """Slots of the queues `outbox` and `outbox.dispatch` in one worker process."""
    lease_duration_ms: int = Field(default=60_000, ge=200, le=DAY_MS)
    """Lease length of a worker limited to the outbox (`WORKER_TICK_RUNNERS=outbox`); other workers
    use TENURE_LEASE_SECONDS.
    """
    lease_heartbeat_ms: int = Field(default=15_000, ge=50, le=DAY_MS)
    """Longest time between two renewals of such a lease; never more than a third of it."""
    max_attempts: int = Field(default=3, ge=1, le=1_000)
    """Runs of a delivery, unless its subscriber sets its own number."""
    retry_base_ms: int = Field(default=5_000, ge=0, le=DAY_MS)
    """Delay after the first failed run; it doubles with each further one."""
    retry_max_ms: int = Field(default=120_000, ge=0, le=DAY_MS)
    """Longest delay; not less than OUTBOX_RETRY_BASE_MS."""
    retry_jitter_ms: int = Field(default=500, ge=0, le=DAY_MS)
    """Random addition to the delays."""

    @model_validator(mode="after")
    def _ordered(self) -> OutboxSettings:
        if self.retry_base_ms > self.retry_max_ms:
            raise ValueError("OUTBOX_RETRY_BASE_MS must not exceed OUTBOX_RETRY_MAX_MS")
        return self

    @property
    def retry(self) -> Backoff:
        """The retry policy of subscribers without one of their own."""
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
