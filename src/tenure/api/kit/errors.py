"""Errors of requests, beside those of the engine. `problems.py` has their HTTP statuses.

ApiError
├── BrokenBody            the body cannot be read as JSON
├── TooDeep               the body's JSON is nested too deeply
├── BodyTooLarge          the body is over the limit
├── UnsupportedMedia      the body is not JSON
├── InvalidCursor         the cursor is not one of this list
├── KeyReused             the Idempotency-Key came with another body
├── KeyInUse              a request with this Idempotency-Key is under way
├── TooManyRequests       the caller is over its limit
├── TooManyStreams        this process serves as many event streams as it may
├── WorkerRefused         the worker of this process runs or is stopped already, or there is none
├── OperationNotFound     no such operation
├── LimitNotFound         no operator has limited this kind
├── WorkerNotFound        no such worker process
└── NotReady              the service cannot do its work now
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tenure.core.errors import TenureError


class ApiError(TenureError):
    """The request cannot be served as it is."""

    code = "api_error"
    headers: Mapping[str, str] = MappingProxyType({})


class BrokenBody(ApiError):
    """The body is not JSON."""

    code = "broken_json"


class TooDeep(ApiError):
    """The JSON is nested too deeply."""

    code = "nested_too_deeply"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body's arrays and objects are nested more than {limit} deep")


class BodyTooLarge(ApiError):
    """The body is too large."""

    code = "body_too_large"
    headers = MappingProxyType({"connection": "close"})

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is larger than the limit of {limit:,} bytes")


class UnsupportedMedia(ApiError):
    """The body has an unsupported format."""

    code = "unsupported_media_type"
    headers = MappingProxyType({"accept": "application/json"})

    def __init__(self, given: str | None) -> None:
        said = "without a content-type" if given is None else f"as {given[:80]!r}"
        more = ""
        if (given or "").startswith("multipart/"):
            more = "; uploads are not supported"
        super().__init__(f"the body came {said}: send application/json{more}")


class InvalidCursor(ApiError):
    """The cursor is not one of this list."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__(
            "the cursor in `after` was changed, or belongs to a list with another filter; "
            "start again without it"
        )


class KeyReused(ApiError):
    """The Idempotency-Key came before with another body."""

    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__("this Idempotency-Key came before with another body; use a new key")


class KeyInUse(ApiError):
    """A request with the same Idempotency-Key is under way."""

    code = "idempotency_key_in_use"
    headers = MappingProxyType({"retry-after": "1"})

    def __init__(self) -> None:
        super().__init__("another request with this Idempotency-Key is under way; ask again soon")


class TooManyRequests(ApiError):
    """The caller has exceeded its rate limit."""

    code = "too_many_requests"

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__(f"too many requests; the next may come in {headers['retry-after']} s")
        self.headers = headers


class TooManyStreams(ApiError):
    """This process serves as many event streams as it may."""

    code = "too_many_streams"
    headers = MappingProxyType({"retry-after": "5"})

    def __init__(self, most: int) -> None:
        super().__init__(f"{most:,} event streams are open here already; ask again later")


class WorkerRefused(ApiError):
    """The worker of this process runs or is stopped already, or there is none."""

    code = "worker_state"


class OperationNotFound(ApiError):
    """There is no such operation."""

    code = "operation_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no operation {name[:80]!r}; they are kept for a day")


class LimitNotFound(ApiError):
    """No operator has set such a limit."""

    code = "limit_not_found"

    def __init__(self, kind: str) -> None:
        super().__init__(f"no operator has set such a limit of the kind {kind[:200]!r}")


class WorkerNotFound(ApiError):
    """There is no such worker process."""

    code = "worker_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no worker {name[:200]!r}; GET /api/workers lists them")


class NotReady(ApiError):
    """The service cannot do its work now."""

    code = "not_ready"
    headers = MappingProxyType({"retry-after": "1"})

    def __init__(self, checks: Mapping[str, str]) -> None:
        wrong = ", ".join(f"{name}: {state}" for name, state in checks.items() if state != "ok")
        super().__init__(f"not ready: {wrong}")
        self.checks = checks
