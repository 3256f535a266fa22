"""The engine's own settings: TENURE_* in the environment. Each is listed in docs/settings.md."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from tenure.core.job import DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY
from tenure.core.signals import Signals
from tenure.wakeups.due_jobs import DEFAULT_CHANNEL, BrokerOptions, WakeOptions

DEFAULT_URL = "sqlite:///tenure.db"
MEBIBYTE = 1024 * 1024
TEN_YEARS = 315_360_000
FOREVER = "forever"


class Settings(BaseSettings):
    """Read from the environment when an engine is made; every value is checked then."""

    model_config = SettingsConfigDict(env_prefix="TENURE_", extra="ignore", populate_by_name=True)

    database_url: str = DEFAULT_URL
    app_name: str = Field(default="", max_length=100)
    app_version: str = Field(default="", max_length=100)
    auto_migrate: bool | None = None
    lease_seconds: float = Field(default=60.0, ge=0.2, le=86_400)
    renew_seconds: float = Field(default=20.0, ge=0.05, le=28_800)
    poll_seconds: float = Field(default=1.0, ge=0.01, le=3_600)
    wake_channel: str = Field(default=DEFAULT_CHANNEL, pattern="^([a-z_][a-z0-9_]{0,57})?$")
    listen_url: str | None = Field(
        default=None, validation_alias=AliasChoices("TENURE_LISTEN_URL", "LISTEN_DSN")
    )
    rabbitmq_url: SecretStr | None = None
    rabbitmq_exchange: str = Field(default="bpc", min_length=1, max_length=127)
    rabbitmq_routing_key: str = Field(default="jobs.trigger", min_length=1, max_length=255)
    queue_enabled: bool | None = Field(default=None, validation_alias="BPC_QUEUE_ENABLED")
    health_require_queue: bool = Field(default=False, validation_alias="BPC_HEALTH_REQUIRE_QUEUE")
    max_attempts: int = Field(default=DEFAULT_MAX_ATTEMPTS, ge=1, le=1_000)
    priority: int = Field(default=DEFAULT_PRIORITY, ge=0, le=1_000)
    timeout_seconds: float = Field(default=900.0, gt=0, le=604_800)
    payload_limit_bytes: int = Field(default=MEBIBYTE, ge=1_024, le=64 * MEBIBYTE)
    concurrency: int = Field(default=10, ge=1, le=10_000)
    keep_seconds: float | None = Field(default=604_800.0, ge=1, le=TEN_YEARS)
    keep_dead_letters_seconds: float | None = Field(default=None, ge=1, le=TEN_YEARS)
    prune_chunk: int = Field(default=500, ge=1, le=10_000)
    queue_slots: Annotated[dict[str, int], NoDecode] = {}
    features: Annotated[tuple[str, ...] | None, NoDecode] = None

    @field_validator("features", mode="before")
    @classmethod
    def _parse_features(cls, value: object) -> object:
        """`outbox,schedules`: which of the installed features are used."""
        if not isinstance(value, str):
            return value
        return tuple(part.strip() for part in value.split(",") if part.strip())

    @field_validator("queue_slots", mode="before")
    @classmethod
    def _parse_slots(cls, value: object) -> object:
        """`pdf=2,mail=10`: how many jobs of a queue one worker runs at a time."""
        if not isinstance(value, str):
            return value
        return parse_slots(value)

    @field_validator("keep_seconds", "keep_dead_letters_seconds", mode="before")
    @classmethod
    def _parse_forever(cls, value: object) -> object:
        return None if isinstance(value, str) and value.strip().lower() == FOREVER else value

    @model_validator(mode="after")
    def _queue_has_a_place(self) -> Settings:
        wanted = self.queue_enabled or (self.health_require_queue and self.queue_enabled is None)
        if wanted and self.rabbitmq_url is None:
            raise ValueError(
                "BPC_QUEUE_ENABLED or BPC_HEALTH_REQUIRE_QUEUE is set, but TENURE_RABBITMQ_URL is "
                "not; write amqp://user:password@host:5672/vhost there"
            )
        if self.health_require_queue and self.queue_enabled is False:
            raise ValueError("BPC_HEALTH_REQUIRE_QUEUE needs BPC_QUEUE_ENABLED, which is false")
        return self

    @property
    def broker(self) -> BrokerOptions | None:
        """RabbitMQ, where it has an address and is not switched off."""
        if self.rabbitmq_url is None or self.queue_enabled is False:
            return None
        return BrokerOptions(
            url=self.rabbitmq_url.get_secret_value(),
            exchange=self.rabbitmq_exchange,
            routing_key=self.rabbitmq_routing_key,
        )

    def wake(self, signals: Signals) -> WakeOptions:
        """How wake-ups travel, and where their troubles are told."""
        return WakeOptions(
            channel=self.wake_channel,
            listen_url=self.listen_url,
            broker=self.broker,
            signals=signals,
        )

    @property
    def renew_every(self) -> float:
        """A renewal setting is an upper bound: never more than a third of the lease."""
        return min(self.renew_seconds, self.lease_seconds / 3)


def parse_slots(text: str) -> dict[str, int]:
    """`pdf=2,mail=10` as a mapping."""
    slots: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, separator, count = part.partition("=")
        if not separator or not name.strip() or not count.strip().isdigit() or int(count) < 1:
            raise ValueError(f"{part!r} is not QUEUE=SLOTS with at least one slot")
        slots[name.strip()] = int(count)
    return slots
