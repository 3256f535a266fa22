"""Settings of the engine: TENURE_* in the environment. docs/settings.md lists them."""

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
    """Read from the environment and checked when an app is created."""

    model_config = SettingsConfigDict(
        env_prefix="TENURE_", extra="ignore", use_attribute_docstrings=True, populate_by_name=True
    )

    database_url: str = DEFAULT_URL
    """Database URL; an empty value is an error."""
    app_name: str = Field(default="", max_length=100)
    """Name of this program, if several programs share a database. Programs with different names
    never change each other's schedules.
    """
    app_version: str = Field(default="", max_length=100)
    """Release of this program; shown with the schedules and handlers that it declares."""
    auto_migrate: bool | None = None
    """Create or update the schema at first use; unset: on SQLite only."""
    lease_seconds: float = Field(default=60.0, ge=0.2, le=86_400)
    """Lease length in seconds. The jobs of a dead worker run again after this time."""
    renew_seconds: float = Field(default=20.0, ge=0.05, le=28_800)
    """Longest time between two renewals of a lease; never more than a third of the lease."""
    poll_seconds: float = Field(default=1.0, ge=0.01, le=3_600)
    """Poll interval of an idle worker."""
    wake_channel: str = Field(default=DEFAULT_CHANNEL, pattern="^([a-z_][a-z0-9_]{0,57})?$")
    """PostgreSQL NOTIFY channel for wake-ups; `_wait` and `_done` are appended for callers that
    wait for jobs. Empty: no wake-ups between processes.
    """
    listen_url: str | None = Field(
        default=None, validation_alias=AliasChoices("TENURE_LISTEN_URL", "LISTEN_DSN")
    )
    """PostgreSQL URL for LISTEN, if it differs from the database URL. LISTEN needs a session of its
    own, which PgBouncer's transaction pooling does not give. `LISTEN_DSN` is an alias.
    """
    rabbitmq_url: SecretStr | None = None
    """RabbitMQ server that carries wake-ups, with any database (extra `rabbitmq`)."""
    rabbitmq_exchange: str = Field(default="bpc", min_length=1, max_length=127)
    """RabbitMQ exchange: a durable topic exchange, created if missing."""
    rabbitmq_routing_key: str = Field(default="jobs.trigger", min_length=1, max_length=255)
    """RabbitMQ routing key."""
    rabbitmq_enabled: bool | None = Field(
        default=None, validation_alias=AliasChoices("TENURE_RABBITMQ_ENABLED", "BPC_QUEUE_ENABLED")
    )
    """Switch for RabbitMQ. false: off, even with a URL; true: on, and a missing URL is an error;
    unset: on if there is a URL. `BPC_QUEUE_ENABLED` is an alias.
    """
    health_require_rabbitmq: bool = Field(
        default=False,
        validation_alias=AliasChoices("TENURE_HEALTH_REQUIRE_RABBITMQ", "BPC_HEALTH_REQUIRE_QUEUE"),
    )
    """Report the service as unhealthy while RabbitMQ is unreachable (`app.store.wakeups.healthy`);
    needs RabbitMQ to be on. `BPC_HEALTH_REQUIRE_QUEUE` is an alias.
    """
    max_attempts: int = Field(default=DEFAULT_MAX_ATTEMPTS, ge=1, le=1_000)
    """Runs of a job, unless its handler sets its own number."""
    priority: int = Field(default=DEFAULT_PRIORITY, ge=0, le=1_000)
    """Default priority; 0 runs first."""
    timeout_seconds: float = Field(default=900.0, gt=0, le=604_800)
    """Time limit of a run, unless the handler sets its own."""
    payload_limit_bytes: int = Field(default=MEBIBYTE, ge=1_024, le=64 * MEBIBYTE)
    """Largest payload or result, as JSON."""
    concurrency: int = Field(default=10, ge=1, le=10_000)
    """Slots of each queue in one worker process."""
    keep_seconds: float | None = Field(default=604_800.0, ge=1, le=TEN_YEARS)
    """How long to keep jobs that succeeded, were canceled, skipped or not found."""
    keep_dead_letters_seconds: float | None = Field(default=None, ge=1, le=TEN_YEARS)
    """How long to keep failed and dead jobs."""
    prune_chunk: int = Field(default=500, ge=1, le=10_000)
    """Jobs deleted per transaction by pruning; fewer if that takes longer than 0.1 s."""
    queue_slots: Annotated[dict[str, int], NoDecode] = {}
    """Slots of single queues; overrides TENURE_CONCURRENCY."""
    features: Annotated[tuple[str, ...] | None, NoDecode] = None
    """Installed [features](guides/features.md) to use; unset: all."""

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
        """Parse `pdf=2,mail=10`."""
        if not isinstance(value, str):
            return value
        return parse_slots(value)

    @field_validator("keep_seconds", "keep_dead_letters_seconds", mode="before")
    @classmethod
    def _parse_forever(cls, value: object) -> object:
        return None if isinstance(value, str) and value.strip().lower() == FOREVER else value

    @model_validator(mode="after")
    def _check_broker(self) -> Settings:
        on = self.rabbitmq_enabled
        if (on or (self.health_require_rabbitmq and on is None)) and self.rabbitmq_url is None:
            raise ValueError(
                "TENURE_RABBITMQ_ENABLED and TENURE_HEALTH_REQUIRE_RABBITMQ (BPC_QUEUE_ENABLED and "
                "BPC_HEALTH_REQUIRE_QUEUE) need TENURE_RABBITMQ_URL, "
                "such as amqp://user:password@host:5672/vhost"
            )
        if self.health_require_rabbitmq and on is False:
            raise ValueError(
                "TENURE_HEALTH_REQUIRE_RABBITMQ (BPC_HEALTH_REQUIRE_QUEUE) is true, but "
                "TENURE_RABBITMQ_ENABLED (BPC_QUEUE_ENABLED) is false"
            )
        return self

    @property
    def broker(self) -> BrokerOptions | None:
        """RabbitMQ; None if it has no URL or is switched off."""
        if self.rabbitmq_url is None or self.rabbitmq_enabled is False:
            return None
        return BrokerOptions(
            url=self.rabbitmq_url.get_secret_value(),
            exchange=self.rabbitmq_exchange,
            routing_key=self.rabbitmq_routing_key,
        )

    def wake(self, signals: Signals) -> WakeOptions:
        """Options for wake-ups, which report their failures to `signals`."""
        return WakeOptions(
            channel=self.wake_channel,
            listen_url=self.listen_url,
            broker=self.broker,
            signals=signals,
        )

    @property
    def renew_every(self) -> float:
        """Seconds between two renewals: at most a third of the lease, so that one may fail."""
        return min(self.renew_seconds, self.lease_seconds / 3)


def parse_slots(text: str) -> dict[str, int]:
    """Parse `pdf=2,mail=10`: jobs of each queue that one worker runs at a time."""
    slots: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, separator, count = part.partition("=")
        if not separator or not name.strip() or not count.strip().isdigit() or int(count) < 1:
            raise ValueError(f"expected QUEUE=SLOTS with at least 1 slot, not {part!r}")
        slots[name.strip()] = int(count)
    return slots
