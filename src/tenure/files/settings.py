"""Settings of files: TENURE_FILES_* in the environment. Each is listed in docs/settings.md."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

MICROS = 1_000_000


class FilesSettings(BaseSettings):
    """Where the bytes are, how long files are kept, how large uploads may be."""

    model_config = SettingsConfigDict(
        env_prefix="TENURE_FILES_", extra="ignore", use_attribute_docstrings=True
    )

    url: str | None = None
    """Where bytes are stored; unset: a folder beside the SQLite file, else `tenure-files`."""
    keep_seconds: float = Field(default=86_400.0, gt=0)
    """How long to keep a file that nothing refers to."""
    grace_seconds: float = Field(default=3_600.0, ge=0)
    """Time between marking a file for deletion, deleting it, and deleting its bytes."""
    pending_seconds: float = Field(default=3_600.0, gt=0)
    """Longest time between storing the bytes of a file and committing its row."""
    link_seconds: float = Field(default=3_600.0, gt=0)
    """How long a download link works, unless its request says otherwise."""
    link_secret: SecretStr | None = None
    """Secret that signs download links; unset: one in the database, shared by all processes."""
    max_bytes: int = Field(default=2_147_483_648, ge=1)
    """Largest file, in bytes."""

    @property
    def keep_micros(self) -> int:
        """How long a file is kept that nobody refers to."""
        return int(self.keep_seconds * MICROS)

    @property
    def grace_micros(self) -> int:
        """How long something that nobody needs is left alone before it is deleted."""
        return int(self.grace_seconds * MICROS)
