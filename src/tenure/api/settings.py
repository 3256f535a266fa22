"""Settings of the HTTP API: TENURE_API_* in the environment. Each is listed in docs/settings.md."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from tenure.core.page import MAX_PAGE
from tenure.settings import MEBIBYTE


class ApiSettings(BaseSettings):
    """Read when an API is created."""

    model_config = SettingsConfigDict(env_prefix="TENURE_API_", extra="ignore")

    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8000, ge=0, le=65_535)
    body_limit_bytes: int = Field(default=2 * MEBIBYTE, ge=1_024, le=64 * MEBIBYTE)
    depth_limit: int = Field(default=64, ge=1, le=500)
    page_limit: int = Field(default=MAX_PAGE, ge=1, le=MAX_PAGE)
    requests_per_minute: int = Field(default=0, ge=0, le=1_000_000)
    events_seconds: float = Field(default=0.5, ge=0.05, le=60)
    events_clients: int = Field(default=1_000, ge=1, le=100_000)
    heartbeat_seconds: float = Field(default=15.0, ge=0.1, le=300)
    stream_seconds: float = Field(default=900.0, ge=0.1, le=86_400)
