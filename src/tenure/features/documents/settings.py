"""Settings of documents: TENURE_DOCGEN_KINDS and PDF_RENDER_CONCURRENCY."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


class DocumentSettings(BaseSettings):
    """Which jobs make documents, and how many PDFs a worker renders at a time."""

    model_config = SettingsConfigDict(
        env_prefix="TENURE_", extra="ignore", use_attribute_docstrings=True, populate_by_name=True
    )

    docgen_kinds: Annotated[tuple[str, ...], NoDecode] = ()
    """Kinds that feed `docgen_duration_ms` and `docgen_failures_total`."""
    pdf_render_concurrency: int = Field(
        default=2, ge=1, le=10_000, validation_alias="PDF_RENDER_CONCURRENCY"
    )
    """Slots of the queue `pdf` in one worker process."""

    @field_validator("docgen_kinds", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """A comma-separated list; a `*` stands for anything."""
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value
