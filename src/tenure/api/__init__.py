"""The HTTP API: thin routes over the engine, one scope for all reads, one table for all errors."""

from typing import TYPE_CHECKING, Any

from tenure.api.settings import ApiSettings

if TYPE_CHECKING:
    from tenure.api.app import create_api

__all__ = ["ApiSettings", "create_api"]


def __getattr__(name: str) -> Any:
    # Loaded when it is used: it needs FastAPI (the extra `service`), and the command line, which
    # prints the shapes of this API, has to work without.
    if name == "create_api":
        from tenure.api.app import create_api

        return create_api
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
