"""Settings of the HTTP API: TENURE_API_* in the environment. docs/settings.md lists them."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from tenure.core.page import MAX_PAGE
from tenure.settings import MEBIBYTE


class ApiSettings(BaseSettings):
    """Read when an API is created."""

    model_config = SettingsConfigDict(
        env_prefix="TENURE_API_", extra="ignore", use_attribute_docstrings=True
    )

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on."""
    port: int = Field(default=8000, ge=0, le=65_535)
    """Port to listen on; 0 picks a free port."""
    body_limit_bytes: int = Field(default=2 * MEBIBYTE, ge=1_024, le=64 * MEBIBYTE)
    """Largest request body; a larger one is answered 413 before it is read completely."""
    depth_limit: int = Field(default=64, ge=1, le=500)
    """Deepest nesting of JSON in a request body."""
    page_limit: int = Field(default=MAX_PAGE, ge=1, le=MAX_PAGE)
    """Largest `pageSize`."""
    requests_per_minute: int = Field(default=0, ge=0, le=1_000_000)
    """Requests per minute for each caller and process; 0: unlimited."""
    events_seconds: float = Field(default=0.5, ge=0.05, le=60)
    """How often event streams read changes. Within this time only the latest change of a job is
    sent.
    """
    events_clients: int = Field(default=1_000, ge=1, le=100_000)
    """Event streams that one process serves at a time."""
    heartbeat_seconds: float = Field(default=15.0, ge=0.1, le=300)
    """Time after which a silent event stream sends a comment."""
    stream_seconds: float = Field(default=900.0, ge=0.1, le=86_400)
    """Longest life of an event stream; the client then reconnects and authenticates again."""
