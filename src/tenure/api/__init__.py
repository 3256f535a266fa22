"""The HTTP API: thin routes over the engine, one scope for all reads, one table for all errors."""

from tenure.api.app import create_api
from tenure.api.settings import ApiSettings

__all__ = ["ApiSettings", "create_api"]
